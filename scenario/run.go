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
	// Ended, if there is one, is called at the end with the server, while it still
	// serves: to keep its Timeline, say. The error is nil if all went well.
	Ended func(server *fakeapi.Server, err error)
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
	stuck := func(err error) { t.Errorf("%v", err) }
	page := ""
	ended := config.Ended
	synctest.Test(t, func(t *testing.T) {
		config.Ended = func(server *fakeapi.Server, err error) {
			if err != nil {
				page = "\n" + server.SaveTimeline(t)
			}
			if ended != nil {
				ended(server, err)
			}
		}
		log, err = play(t, stuck, config, s)
	})
	if err != nil {
		t.Fatalf("%v%s", err, page)
	}
	return log
}

// play runs a script on a server of its own. stuck is told of a client that does
// not return at the end; after that play waits for it.
func play(t fakeapi.TB, stuck func(error), config Config, s script) (*Transcript, error) {
	t.Helper()
	log := &Transcript{seed: config.Seed}
	return log, playInto(log, t, stuck, config, s)
}

// playInto is play with a transcript that can be read also if it never returns.
func playInto(log *Transcript, t fakeapi.TB, stuck func(error), config Config, s script) error {
	t.Helper()
	options := append([]fakeapi.Option{fakeapi.WithSeed(config.Seed)}, config.Options...)
	seedClients(config.Seed)
	server := fakeapi.Start(t, append(options, fakeapi.WithInMemoryNetwork())...)
	if server == nil { // a t that has noted it, and goes on
		return nil
	}
	e := newEnv(config, server, log)
	e.settled, e.bubble = synctest.Wait, true
	return e.run(context.Background(), stuck, s)
}

// run connects to the server, runs the steps, and ends what they have begun.
func (e *Env) run(ctx context.Context, stuck func(error), s script) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := e.connect(); err != nil {
		return fmt.Errorf("scenario: %w", err)
	}
	err := e.play(ctx, s)
	e.stop(cancel, stuck)
	if e.config.Ended != nil {
		e.config.Ended(e.Server(), err)
	}
	return err
}

// atTheEnd is the place of what goes wrong after the last step.
const atTheEnd = "at the end"

// play runs the steps up to the first that fails.
func (e *Env) play(ctx context.Context, s script) error {
	for _, p := range s {
		e.log.begin(p.step.String())
		err := e.do(ctx, p.step)
		e.settle()
		if err == nil {
			err = e.log.looping()
		}
		e.tell()
		e.log.ended()
		if err != nil {
			return e.failure(p, err)
		}
	}
	if err := e.failedClient(); err != nil {
		return e.failure(placed{at: atTheEnd}, err)
	}
	return nil
}

// do runs one step. That it panics is an error like others.
func (e *Env) do(ctx context.Context, s Step) (err error) {
	defer func() {
		if what := recover(); what != nil {
			err = panicked(what)
		}
	}()
	return s.Run(ctx, e)
}
