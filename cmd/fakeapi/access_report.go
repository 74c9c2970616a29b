package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"example.com/fakeapi/fake/access"
	"example.com/fakeapi/internal/cmd/environment"
)

// accessReport is the file of --access-report.
type accessReport struct {
	path string      // as the user named it
	out  *outputFile // nil without the flag
}

// openAccessReport opens the file of a report, so that a server does not fail at its end. With the
// path "" there is none.
func openAccessReport(ctx context.Context, path string) (*accessReport, error) {
	f := &accessReport{path: path}
	if path == "" {
		return f, nil
	}
	var err error
	f.out, err = openOutput(ctx, path)
	return f, f.wrap(err)
}

// write writes the report in the format of the file's extension.
func (f *accessReport) write(report access.Report) error {
	if f.out == nil {
		return nil
	}
	return f.wrap(f.out.write(func(w io.Writer) error { return environment.WriteAccess(w, report, environment.AccessFormat(f.path)) }))
}

// close closes a file that was not written.
func (f *accessReport) close() {
	if f.out != nil {
		f.out.close()
	}
}

// wrap puts the flag in front of an error.
func (f *accessReport) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("--access-report %s: %w", f.path, err)
}

// writeIndented writes a value as JSON.
func writeIndented(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
