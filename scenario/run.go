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

	fakeapi "example.com/fakeapi/fake"
)

// Config is what scenarios are run with. The zero value runs those without a
// client under test.
type Config struct {
	// Seed decides what the server makes up: uids, and names from generateName.
	Seed uint64
	// Clients are the clients under test, under the names that steps use.
	Clients map[string]Client
	// Options are further options of the server. Except on a Stage it is in memory
	// whatever they say; it has the seed, unless they set another one.
	Options []fakeapi.Option
	// AfterRun, if there is one, is called at the end with the server, while it still
	// serves: to keep its Timeline, say. The error is nil if all went well.
	AfterRun func(server *fakeapi.Server, err error)
}

// Run runs steps against a fresh server in a testing/synctest bubble: on virtual
// time, so that an hour takes milliseconds. A step that fails ends the test; the
// message names the step, what was expected and what was seen, and has the
// transcript so far; the page of the server's timeline is left where SaveTimeline of
// [fakeapi.Server] leaves it. t must not be in a bubble already.
//
// A test binary that runs client-go in bubbles needs one line in its TestMain;
// see the package documentation.
func Run(t *testing.T, config Config, steps ...Step) *Transcript {
	t.Helper()
	return runTest(t, config, newScript(steps))
}

// RunDir runs each file of a file system that ends in .txtar as a subtest with
// the file's path as its name, each against a server of its own. It is an error
// if there is none. For a directory use os.DirFS, for files shipped in a package
// an embed.FS.
func RunDir(t *testing.T, fsys fs.FS, config Config) {
	t.Helper()
	names, err := scriptFiles(fsys)
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
			runTest(t, config, s)
		})
	}
}

// extension is how the names of scenarios end.
const extension = ".txtar"

// scriptFiles finds the scenarios of a file system.
func scriptFiles(fsys fs.FS) (names []string, err error) {
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

func runTest(t *testing.T, config Config, s script) *Transcript {
	t.Helper()
	var log *Transcript
	var err error
	// What is wrong with a client that does not return must be said at once, and
	// to the test around the bubble: a bubble that cannot end is a panic.
	reportStuck := func(err error) { t.Errorf("%v", err) }
	page := ""
	ended := config.AfterRun
	synctest.Test(t, func(t *testing.T) {
		config.AfterRun = func(server *fakeapi.Server, err error) {
			if err != nil {
				page = "\n" + server.SaveTimeline(t)
			}
			if ended != nil {
				ended(server, err)
			}
		}
		log, err = playWithTB(t, reportStuck, config, s)
	})
	if err != nil {
		t.Fatalf("%v%s", err, page)
	}
	return log
}

// playWithTB runs a script on a server of its own. stuck is told of a client that does
// not return at the end; after that play waits for it.
func playWithTB(t fakeapi.TB, reportStuck func(error), config Config, s script) (*Transcript, error) {
	t.Helper()
	log := &Transcript{seed: config.Seed}
	return log, playTo(log, t, reportStuck, config, s)
}

// playTo is play with a transcript that can be read also if it never returns.
func playTo(log *Transcript, t fakeapi.TB, reportStuck func(error), config Config, s script) error {
	t.Helper()
	options := append([]fakeapi.Option{fakeapi.WithSeed(config.Seed)}, config.Options...)
	seedMathRand(config.Seed)
	server := fakeapi.Start(t, append(options, fakeapi.WithInMemoryNetwork())...)
	if server == nil { // a t that has noted it, and goes on
		return nil
	}
	e := newEnv(config, server, log)
	e.waitIdleFunc, e.virtualTime = synctest.Wait, true
	return e.runScript(context.Background(), reportStuck, s)
}

// runScript connects to the server, runs the steps, and ends what they have begun.
func (e *Env) runScript(ctx context.Context, reportStuck func(error), s script) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := e.connect(); err != nil {
		return fmt.Errorf("scenario: %w", err)
	}
	err := e.runSteps(ctx, s)
	e.stopAll(cancel, reportStuck)
	if e.config.AfterRun != nil {
		e.config.AfterRun(e.Server(), err)
	}
	return err
}

// endPosition is the place of what goes wrong after the last step.
const endPosition = "at the end"

// runSteps runs the steps up to the first that fails.
func (e *Env) runSteps(ctx context.Context, s script) error {
	for _, p := range s {
		e.log.begin(p.step.String())
		err := e.runStep(ctx, p.step)
		e.waitIdle()
		if err == nil {
			err = e.log.checkBusyLoops()
		}
		e.report()
		e.log.emitDetails()
		if err != nil {
			return e.failure(p, err)
		}
	}
	if err := e.checkClients(); err != nil {
		return e.failure(scriptStep{position: endPosition}, err)
	}
	return nil
}

// runStep runs one step. That it panics is an error like others.
func (e *Env) runStep(ctx context.Context, s Step) (err error) {
	defer func() {
		if what := recover(); what != nil {
			err = panicError(what)
		}
	}()
	return s.Run(ctx, e)
}
