// Package environment reads the environment variables with which the programs of this project are
// configured from outside: by people who run a test suite that has no code about them, and by
// fakeapi stress.
//
//	FAKEAPI_FAULTS             fault rules, separated by semicolons or line ends, or the path of a
//	                           file with such rules; they are added to those of flags and options
//	FAKEAPI_SEED               a number: the seed of uids and generated names, unless a flag or an
//	                           option has one
//	FAKEAPI_WATCH_CACHE_DELAY  a duration, such as 300ms: watches, and reads that need not be of the
//	                           most recent state, are that much behind the store
//	FAKEAPI_ARTIFACTS          a folder: each server writes its timeline to it as an HTML page when it
//	                           ends. In Go tests it is the folder of Server.SaveTimeline
//	FAKEAPI_ACCESS_REPORT      a file: each server writes its report of accesses to it when it ends,
//	                           as JSON (.json), as manifests (.yaml, .yml) or as text
//	FAKEAPI_CONTROL            HOST:PORT: the control API listens there; a path: a line with the URL
//	                           of the control API is appended to that file when the server is ready;
//	                           a URL, which is what fakeapi exec sets for its command: ignored
//
// A variable with an empty value is not set. Servers that run side by side, or one after another,
// never overwrite the files of each other: a page is named after the parent process (such as the
// tests of a package), the time of the start and the port, and reports after the first get a
// number.
package environment

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// Environment has the values of the environment variables. The zero value is that of a process
// without them.
type Environment struct {
	Faults          []faults.Rule
	Seed            *uint64       // nil without FAKEAPI_SEED
	WatchCacheDelay time.Duration // 0 without FAKEAPI_WATCH_CACHE_DELAY
	Artifacts       string        // the folder of timeline pages; "" for none
	AccessReport    string        // the file of the report; "" for none
	Control         string        // "" without FAKEAPI_CONTROL

	started time.Time
	parent  string // the name and id of the parent process
}

// Read reads the environment variables by a function such as os.Getenv. Relative paths start at the
// working directory. The error names the variable, and for a fault rule the line and the column.
func Read(getenv func(string) string) (Environment, error) { return ReadIn("", getenv) }

// ReadIn is Read for a process whose working directory is dir.
func ReadIn(dir string, getenv func(string) string) (Environment, error) {
	path := func(name string) string {
		if value := getenv(name); value != "" && dir != "" && !filepath.IsAbs(value) {
			return filepath.Join(dir, value)
		}
		return getenv(name)
	}
	e := Environment{
		Artifacts: path("FAKEAPI_ARTIFACTS"), AccessReport: path("FAKEAPI_ACCESS_REPORT"), Control: getenv("FAKEAPI_CONTROL"),
		started: time.Now(), parent: parentProcess(),
	}
	if e.Control != "" && !e.hasControlURL() && !e.hasControlAddress() {
		e.Control = path("FAKEAPI_CONTROL")
	}
	for _, variable := range []struct {
		name string
		read func(text string) error
	}{
		{"FAKEAPI_FAULTS", func(text string) (err error) {
			e.Faults, err = faults.ReadRules(text, dir)
			return err
		}},
		{"FAKEAPI_SEED", func(text string) error {
			seed, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				return fmt.Errorf("%q is not a number from 0 to 18446744073709551615", text)
			}
			e.Seed = &seed
			return nil
		}},
		{"FAKEAPI_WATCH_CACHE_DELAY", func(text string) (err error) {
			e.WatchCacheDelay, err = time.ParseDuration(text)
			if err == nil && e.WatchCacheDelay < 0 {
				err = fmt.Errorf("%q is negative", text)
			}
			return err
		}},
	} {
		if text := getenv(variable.name); text != "" {
			if err := variable.read(text); err != nil {
				return Environment{}, fmt.Errorf("%s: %w", variable.name, err)
			}
		}
	}
	return e, nil
}

// hasControlURL reports whether FAKEAPI_CONTROL is the URL of another server.
func (e Environment) hasControlURL() bool {
	return strings.HasPrefix(e.Control, "http://") || strings.HasPrefix(e.Control, "https://")
}

// hasControlAddress reports whether FAKEAPI_CONTROL is an address to listen at.
func (e Environment) hasControlAddress() bool {
	_, port, err := net.SplitHostPort(e.Control)
	if err != nil || strings.ContainsRune(e.Control, filepath.Separator) {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// Options returns the options of a server. Options after these take precedence.
func (e Environment) Options() []fakeapi.Option {
	var opts []fakeapi.Option
	if len(e.Faults) > 0 {
		opts = append(opts, fakeapi.WithFaults(e.Faults...))
	}
	if e.Seed != nil {
		opts = append(opts, fakeapi.WithSeed(*e.Seed))
	}
	if e.WatchCacheDelay > 0 {
		opts = append(opts, fakeapi.WithWatchCacheDelay(e.WatchCacheDelay))
	}
	switch {
	case e.Control == "" || e.hasControlURL():
	case e.hasControlAddress():
		opts = append(opts, fakeapi.WithControlAddress(e.Control))
	default:
		opts = append(opts, fakeapi.WithControlAddress("127.0.0.1:0"))
	}
	return opts
}

// Announce writes where the control API of a server is, as FAKEAPI_CONTROL says.
func (e Environment) Announce(s *fakeapi.Server) error {
	if e.Control == "" || e.hasControlURL() || e.hasControlAddress() {
		return nil
	}
	if err := appendLine(e.Control, s.ControlURL()); err != nil {
		return fmt.Errorf("FAKEAPI_CONTROL %s: %w", e.Control, err)
	}
	return nil
}

// Finish writes the timeline page and the report of accesses, if their variables are set. Call it
// before or after the server is closed.
func (e Environment) Finish(s *fakeapi.Server) error {
	_, err := e.FinishPage(s)
	return errors.Join(err, e.FinishAccessReport(s))
}

// FinishPage writes the timeline page if FAKEAPI_ARTIFACTS is set, and returns its path.
func (e Environment) FinishPage(s *fakeapi.Server) (path string, err error) {
	if e.Artifacts == "" {
		return "", nil
	}
	if path, err = e.WritePage(s, e.Artifacts); err != nil {
		return "", fmt.Errorf("FAKEAPI_ARTIFACTS %s: %w", e.Artifacts, err)
	}
	return path, nil
}

// FinishAccessReport writes the report of accesses, in the format of the file's extension, if
// FAKEAPI_ACCESS_REPORT is set.
func (e Environment) FinishAccessReport(s *fakeapi.Server) error {
	if e.AccessReport == "" {
		return nil
	}
	_, err := createFile(e.AccessReport, func(w io.Writer) error { return WriteAccess(w, s.Access(), AccessFormat(e.AccessReport)) })
	if err != nil {
		return fmt.Errorf("FAKEAPI_ACCESS_REPORT %s: %w", e.AccessReport, err)
	}
	return nil
}

// WritePage writes the timeline of a server as an HTML page into a folder, which is created if it
// does not exist, and returns the path of the page.
func (e Environment) WritePage(s *fakeapi.Server, folder string) (path string, err error) {
	return createFile(filepath.Join(folder, e.pageName(s)+".html"), func(w io.Writer) error {
		return s.Timeline().WriteHTML(w, e.pageTitle(s))
	})
}

// pageName returns a name that has the parent process, the time of the start and the port.
func (e Environment) pageName(s *fakeapi.Server) string {
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(strings.TrimPrefix(s.URL(), "https://"), "http://"))
	return safeFileName(strings.Join([]string{cmp.Or(e.parent, "fakeapi"), e.started.Format("20060102-150405"), cmp.Or(port, "0")}, "_"))
}

func (e Environment) pageTitle(s *fakeapi.Server) string {
	return strings.ReplaceAll(cmp.Or(e.parent, "fakeapi"), "-", " ") + ", " + s.URL()
}
