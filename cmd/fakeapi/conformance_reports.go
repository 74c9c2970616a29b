package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/fakeapi/conformance"
)

// reportFile is a report to write.
type reportFile struct {
	format, path string // the path is "" for stdout
	write        func(conformance.Report, io.Writer) error
	temporary    *os.File // beside path until it is complete; nil for stdout, and afterwards
}

// reportFiles are those that --report names.
type reportFiles []*reportFile

// add reads FORMAT[=FILE].
func (f *reportFiles) add(text string) error {
	one := &reportFile{}
	named := false
	one.format, one.path, named = strings.Cut(text, "=")
	switch one.format {
	case "junit":
		one.write = conformance.Report.WriteJUnit
	case "json":
		one.write = conformance.Report.WriteJSON
	case "markdown":
		one.write = conformance.Report.WriteMarkdown
	case "html":
		one.write = conformance.Report.WriteHTML
	default:
		return errors.New("it is none of junit, json, markdown, html, with =FILE or without")
	}
	switch {
	case named && one.path == "":
		return errors.New("there is no FILE behind the =")
	case !named && f.toStdout():
		return errors.New("two reports cannot go to stdout")
	case named && slices.ContainsFunc(*f, func(other *reportFile) bool { return other.path == one.path }):
		return errors.New("two reports cannot go to one file")
	}
	*f = append(*f, one)
	return nil
}

// toStdout reports whether one goes there.
func (f reportFiles) toStdout() bool {
	return slices.ContainsFunc(f, func(one *reportFile) bool { return one.path == "" })
}

// open makes sure before a long run that the files can be written.
func (f reportFiles) open() error {
	for _, one := range f {
		if one.path == "" {
			continue
		}
		var err error
		one.temporary, err = os.CreateTemp(filepath.Dir(one.path), ".fakeapi-report-*")
		if err != nil {
			return errors.Join(fmt.Errorf("--report %s=%s: %w", one.format, one.path, plain(err)), f.discard())
		}
	}
	return nil
}

// write writes them all. A file is replaced in one step.
func (f reportFiles) write(report conformance.Report, stdout io.Writer) error {
	for _, one := range f {
		if one.path == "" {
			if err := one.write(report, stdout); err != nil {
				return err
			}
			continue
		}
		err := errors.Join(one.write(report, one.temporary), one.temporary.Chmod(0o644), one.temporary.Close())
		if err == nil {
			err = os.Rename(one.temporary.Name(), one.path)
		}
		if err != nil {
			return fmt.Errorf("--report %s=%s: %w", one.format, one.path, plain(err))
		}
		one.temporary = nil
	}
	return nil
}

// discard removes what was opened and not written.
func (f reportFiles) discard() error {
	var all []error
	for _, one := range f {
		if one.temporary != nil {
			_ = one.temporary.Close() // it may be closed already
			all = append(all, plain(os.Remove(one.temporary.Name())))
			one.temporary = nil
		}
	}
	return errors.Join(all...)
}
