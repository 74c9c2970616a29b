package environment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"example.com/fakeapi/fake/access"
)

// AccessFormats returns the formats of a report of accesses.
func AccessFormats() []string { return []string{"text", "json", "yaml"} }

// AccessFormat returns the format of a report in a file, by its extension.
func AccessFormat(path string) string {
	switch filepath.Ext(path) {
	case ".json":
		return "json"
	case ".yaml", ".yml":
		return "yaml"
	}
	return "text"
}

// WriteAccess writes a report of accesses in one of AccessFormats.
func WriteAccess(w io.Writer, report access.Report, format string) error {
	switch format {
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	case "yaml":
		return report.WriteManifests(w, "", "")
	}
	_, err := io.WriteString(w, report.String())
	return err
}

// createFile creates a file in a folder that need not exist, and returns its path. If the file
// exists, the name gets a number: NAME-2.EXTENSION and so on. A file that cannot be written wholly
// is removed.
func createFile(path string, write func(io.Writer) error) (created string, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", withoutPath(err)
	}
	extension := filepath.Ext(path)
	name := strings.TrimSuffix(path, extension)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	for n := 2; errors.Is(err, fs.ErrExist); n++ {
		f, err = os.OpenFile(fmt.Sprintf("%s-%d%s", name, n, extension), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	}
	if err != nil {
		return "", withoutPath(err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return "", errors.Join(withoutPath(err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// appendLine appends a line to a file in one write, so that lines of several processes do not mix.
// The file is created if it does not exist.
func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return withoutPath(err)
	}
	_, err = f.WriteString(line + "\n")
	return withoutPath(errors.Join(err, f.Close()))
}

// withoutPath removes the operation and the path from an error of package os, whose message then
// has the path that the user named.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// safeFileName returns a name in characters that all file systems accept.
func safeFileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("-_.=", r) {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), 150)]
}

// parentProcess returns the name and the id of the parent process as NAME-ID, or process-ID on
// systems without /proc, or "" if the parent has ended.
func parentProcess() string {
	id := os.Getppid()
	if id <= 1 {
		return ""
	}
	name := "process"
	if link, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", id)); err == nil {
		name = filepath.Base(strings.TrimSuffix(link, " (deleted)"))
	}
	return fmt.Sprintf("%s-%d", name, id)
}
