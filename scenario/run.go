package scenario

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/synctest"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// Config is what scenarios are run with. The zero value runs those without a
// client under test.
type Config struct {
	// Seed decides what the server makes up: uids, and names from generateName.
	Seed uint64
	// Clients are the clients under test, under the names that steps use.
	Clients map[string]Client
	// Options are further options of the server. It is in memory and has the
	// seed whatever they say, unless they set another seed.
	Options []fakeapi.Option
}

// Run runs steps against a fresh server in a testing/synctest bubble: on virtual
// time, so that an hour takes milliseconds. A step that fails ends the test; the
// message names the step, what was expected and what was seen, and has the
// transcript so far. t must not be in a bubble already.
//
// A test binary that runs client-go in bubbles needs one line in its TestMain;
// see the package documentation.
func Run(t *testing.T, config Config, steps ...Step) *Transcript {
	t.Helper()
	return run(t, config, scriptOf(steps))
}

// RunDir runs each file of a file system that ends in .txtar as a subtest with
// the file's path as its name, each against a server of its own. It is an error
// if there is none. For a directory use os.DirFS, for files shipped in a package
// an embed.FS.
func RunDir(t *testing.T, fsys fs.FS, config Config) {
	t.Helper()
	names, err := scripts(fsys)
	if err != nil {
		t.Fatalf("scenario: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(name, extension), func(t *testing.T) {
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				t.Fatalf("scenario: %v", err)
			}
			s, err := parseScript(name, string(text))
			if err != nil {
				t.Fatalf("%v", err)
			}
			run(t, config, s)
		})
	}
}

// extension is how the names of scenarios end.
const extension = ".txtar"

// scripts finds the scenarios of a file system.
func scripts(fsys fs.FS) (names []string, err error) {
	err = fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && path.Ext(name) == extension {
			names = append(names, name)
		}
		return err
	})
	if err == nil && names == nil {
		err = errors.New("there is no file that ends in " + extension)
	}
	return names, err
}

func run(t *testing.T, config Config, s script) *Transcript {
	t.Helper()
	var log *Transcript
	var err error
	// What is wrong with a client that does not return must be said at once, and
	// to the test around the bubble: a bubble that cannot end is a panic.
	stuck := func(message string) { t.Errorf("%s", message) }
	synctest.Test(t, func(t *testing.T) { log, err = play(t, stuck, config, s) })
	if err != nil {
		t.Fatalf("%v", err)
	}
	return log
}

// play runs a script in the bubble of t. stuck is told of a client that does not
// return at the end; after that play waits for it.
func play(t *testing.T, stuck func(string), config Config, s script) (*Transcript, error) {
	t.Helper()
	options := append([]fakeapi.Option{fakeapi.WithSeed(config.Seed)}, config.Options...)
	seedClients(config.Seed)
	server := fakeapi.Start(t, append(options, fakeapi.InMemory())...)
	e, err := newEnv(config, server)
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err = e.play(ctx, s)
	e.stop(cancel, stuck)
	return e.log, err
}

// atTheEnd is the place of what goes wrong after the last step.
const atTheEnd = "at the end"

// play runs the steps up to the first that fails.
func (e *Env) play(ctx context.Context, s script) error {
	for _, p := range s {
		e.log.begin(p.step.String())
		err := p.step.Run(ctx, e)
		e.settle()
		if err == nil {
			err = e.log.looping()
		}
		e.tell()
		if err != nil {
			return e.failure(p, err)
		}
	}
	if err := e.failedClient(); err != nil {
		return e.failure(placed{at: atTheEnd}, err)
	}
	return nil
}

// failure is the message about a step that went wrong.
func (e *Env) failure(p placed, err error) error {
	var b strings.Builder
	b.WriteString(p.at + ": ")
	if p.step != nil {
		b.WriteString(p.step.String() + "\n    ")
	}
	b.WriteString(err.Error())
	if len(e.clients) > 0 && len(utilruntime.ErrorHandlers) > 1 {
		b.WriteString("\n    Are the error handlers of client-go throttled? They sleep for years in a bubble; " +
			"see the package documentation of scenario, TestMain.")
	}
	b.WriteString("\ntranscript so far:\n" + indent(e.log.String()))
	return &stepError{p.at, p.step, b.String(), err}
}

// stepError is the error of a run.
type stepError struct {
	at    string // the place of the step, or atTheEnd
	step  Step   // nil at the end
	text  string
	cause error
}

func (e *stepError) Error() string { return e.text }
func (e *stepError) Unwrap() error { return e.cause }

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ")
}
