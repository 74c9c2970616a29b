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

// Config is the configuration of scenarios. The zero value is for scenarios without a client under
// test.
type Config struct {
	// Seed determines the uids and the generated names of the server.
	Seed uint64
	// Clients are the clients under test by their names in steps.
	Clients map[string]Client
	// Options are additional options of the server. Seed applies unless they set another seed.
	// Except in a LiveRun, the server always has an in-memory network.
	Options []fakeapi.Option
	// AfterRun, if not nil, is called at the end, while the server still serves, for example to
	// save its Timeline. err is the error of the run.
	AfterRun func(server *fakeapi.Server, err error)
}

// Run runs steps against a new server in a testing/synctest bubble, in virtual time, so that an
// hour takes milliseconds. If a step fails, Run ends the test with a message that has the step, the
// expected and the actual value, and the transcript, and saves the server's timeline with
// SaveTimeline of [fakeapi.Server]. t must not be in a bubble already.
//
// A test binary that runs client-go in bubbles needs one line in TestMain, which is in the package
// documentation.
func Run(t *testing.T, config Config, steps ...Step) *Transcript {
	t.Helper()
	return runTest(t, config, newScript(steps))
}

// RunDir runs each .txtar file of a file system as a subtest named after its path, each on its own
// server. It is an error if there are none. fsys can be os.DirFS for a directory or an embed.FS.
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

// extension is the file name extension of scenarios.
const extension = ".txtar"

// scriptFiles returns the names of the scenarios in a file system.
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
	// A client that does not return is reported at once, and to the test outside of the bubble,
	// because a bubble that cannot end panics.
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

// playWithTB runs a script on a new server. If a client does not return at the end, it calls
// reportStuck and waits.
func playWithTB(t fakeapi.TB, reportStuck func(error), config Config, s script) (*Transcript, error) {
	t.Helper()
	log := &Transcript{seed: config.Seed}
	return log, playTo(log, t, reportStuck, config, s)
}

// playTo is playWithTB with a transcript that the caller can read even if it never returns.
func playTo(log *Transcript, t fakeapi.TB, reportStuck func(error), config Config, s script) error {
	t.Helper()
	seedMathRand(config.Seed)
	server := fakeapi.Start(t, append(s.serverOptions(config), fakeapi.WithInMemoryNetwork())...)
	if server == nil { // t has recorded the error and continues
		return nil
	}
	e := newEnv(config, server, log)
	e.waitIdleFunc, e.virtualTime = synctest.Wait, true
	return e.runScript(context.Background(), reportStuck, s)
}

// runScript connects to the server, runs the steps, and stops watches and clients.
func (e *Env) runScript(ctx context.Context, reportStuck func(error), s script) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e.ctx = ctx
	if err := e.connect(); err != nil {
		return fmt.Errorf("scenario: %w", err)
	}
	e.authorizationModes = s.authorizationModes()
	e.countChanges(ctx, s)
	err := e.runSteps(ctx, s)
	e.stopAll(cancel, reportStuck)
	if removeErr := e.tokens.remove(); removeErr != nil {
		err = errors.Join(err, removeErr)
	}
	if e.config.AfterRun != nil {
		e.config.AfterRun(e.Server(), err)
	}
	return err
}

// endPosition is the Position of a Failure after the last step.
const endPosition = "at the end"

// runSteps runs the steps until one fails.
func (e *Env) runSteps(ctx context.Context, s script) error {
	for _, p := range s {
		e.log.begin(p.step.String())
		e.addNote(p.step.String(), false)
		err := e.runStep(ctx, p.step)
		e.waitIdle()
		if err == nil {
			err = e.hitSteps.err
		}
		if err == nil {
			err = e.log.checkBusyLoops()
		}
		e.report()
		e.log.emitDetails()
		if err != nil {
			e.addNote(err.Error(), true)
			return e.failure(p, err)
		}
	}
	if err := e.checkClients(); err != nil {
		e.addNote(err.Error(), true)
		return e.failure(scriptStep{position: endPosition}, err)
	}
	return nil
}

// runStep runs one step and turns a panic into an error.
func (e *Env) runStep(ctx context.Context, s Step) (err error) {
	defer func() {
		if recovered := recover(); recovered != nil {
			err = panicError(recovered)
		}
	}()
	return s.Run(ctx, e)
}
