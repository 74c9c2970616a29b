package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	path string      // as the user named it; "" for stdout
	out  *outputFile // nil for stdout
}

// reportFiles has the reports of --report, each in one of these formats.
type reportFiles[R any] struct {
	forms []reportForm[R]
	files []*reportFile[R]
}

// add parses FORMAT[=FILE].
func (f *reportFiles[R]) add(text string) error {
	name, path, named := strings.Cut(text, "=")
	if number, ok := descriptorNumber(path); ok && number == 1 {
		path, named = "", false
	}
	i := slices.IndexFunc(f.forms, func(form reportForm[R]) bool { return form.name == name })
	switch {
	case i < 0:
		return fmt.Errorf("it is none of %s, with or without =FILE", f.names())
	case named && path == "":
		return errors.New("no FILE after the =")
	case !named && f.toStdout():
		return errors.New("two reports cannot go to stdout")
	case named && slices.ContainsFunc(f.files, func(other *reportFile[R]) bool { return other.path == path }):
		return errSameFile
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

// open opens the files, so that a long run does not fail at its end. Two reports in one file are an
// error.
func (f *reportFiles[R]) open(ctx context.Context) (err error) {
	for i, one := range f.files {
		if one.path == "" {
			continue
		}
		one.out, err = openOutput(ctx, one.path)
		if err == nil && slices.ContainsFunc(f.files[:i], func(other *reportFile[R]) bool { return other.out != nil && other.out.isSame(one.out) }) {
			err = errSameFile
		}
		if err != nil {
			f.close()
			return one.wrap(err)
		}
	}
	return nil
}

// errSameFile is the error of two reports with one file.
var errSameFile = errors.New("two reports cannot go to one file")

// write writes all reports. It returns the errors of those that could not be written.
func (f *reportFiles[R]) write(report R, stdout io.Writer) error {
	var all []error
	for _, one := range f.files {
		write := func(w io.Writer) error { return one.write(report, w) }
		if one.path == "" {
			all = append(all, write(stdout))
		} else {
			all = append(all, one.wrap(one.out.write(write)))
		}
	}
	return errors.Join(all...)
}

// close closes files that were opened and not written.
func (f *reportFiles[R]) close() {
	for _, one := range f.files {
		if one.out != nil {
			one.out.close()
		}
	}
}

// wrap puts the flag in front of an error.
func (f *reportFile[R]) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("--report %s=%s: %w", f.name, f.path, err)
}
