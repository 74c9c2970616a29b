package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// reportForm is a format of reports of type R.
type reportForm[R any] struct {
	name  string
	write func(R, io.Writer) error
}

// reportFile is a report to write.
type reportFile[R any] struct {
	reportForm[R]
	path      string   // "" for stdout
	temporary *os.File // next to path until it is complete; nil for stdout
}

// reportFiles has the reports of --report, each in one of these formats.
type reportFiles[R any] struct {
	forms []reportForm[R]
	files []*reportFile[R]
}

// add parses FORMAT[=FILE].
func (f *reportFiles[R]) add(text string) error {
	name, path, named := strings.Cut(text, "=")
	i := slices.IndexFunc(f.forms, func(form reportForm[R]) bool { return form.name == name })
	switch {
	case i < 0:
		return fmt.Errorf("it is none of %s, with or without =FILE", f.names())
	case named && path == "":
		return errors.New("no FILE after the =")
	case !named && f.toStdout():
		return errors.New("two reports cannot go to stdout")
	case named && slices.ContainsFunc(f.files, func(other *reportFile[R]) bool { return other.path == path }):
		return errors.New("two reports cannot go to one file")
	}
	f.files = append(f.files, &reportFile[R]{reportForm: f.forms[i], path: path})
	return nil
}

// names returns the names of the formats.
func (f *reportFiles[R]) names() string {
	names := make([]string, len(f.forms))
	for i, form := range f.forms {
		names[i] = form.name
	}
	return strings.Join(names, ", ")
}

// toStdout reports whether a report is written to stdout.
func (f *reportFiles[R]) toStdout() bool {
	return slices.ContainsFunc(f.files, func(one *reportFile[R]) bool { return one.path == "" })
}

// open creates the files, so that a long run does not fail at its end.
func (f *reportFiles[R]) open() error {
	for _, one := range f.files {
		if one.path == "" {
			continue
		}
		var err error
		one.temporary, err = os.CreateTemp(filepath.Dir(one.path), ".fakeapi-report-*")
		if err != nil {
			return errors.Join(fmt.Errorf("--report %s=%s: %w", one.name, one.path, unwrapPathError(err)), f.discard())
		}
	}
	return nil
}

// write writes all reports. Files are replaced atomically.
func (f *reportFiles[R]) write(report R, stdout io.Writer) error {
	for _, one := range f.files {
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
			return fmt.Errorf("--report %s=%s: %w", one.name, one.path, unwrapPathError(err))
		}
		one.temporary = nil
	}
	return nil
}

// discard removes files that were opened and not written.
func (f *reportFiles[R]) discard() error {
	var all []error
	for _, one := range f.files {
		if one.temporary != nil {
			_ = one.temporary.Close() // it may be closed already
			all = append(all, unwrapPathError(os.Remove(one.temporary.Name())))
			one.temporary = nil
		}
	}
	return errors.Join(all...)
}
