package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// wire is what a scenario in real time sees of its server's network: what moves
// there, and the requests of clients that are no functions of this process.
type wire struct {
	// names are those of the guests in the order of the script. guests has them with
	// the longest name first, so that a name that another one begins with finds its own.
	names  []string
	guests []*guest
	// locals are what the user agents of this process begin with.
	locals []string

	mu        sync.Mutex              // guards all below
	moved     uint64                  // counts what happens
	open      map[*crossing]time.Time // requests without an answer, and when they came
	playing   bool                    // since then, strangers are noted
	strangers []string                // user agents that are nobody's
	told      func(agent string)      // of each new one; nil for nobody
}

// guest is a client under test that comes over the network.
type guest struct {
	name string
	came chan struct{} // closed by its first request
	once sync.Once
	in   chan struct{} // closed when a step has let it in
	// lane has its requests. It is set before in is closed.
	lane *lane
}

// newWire is for the clients that a script runs and that are none of config's.
func newWire(s script, config Config) *wire {
	w := &wire{open: map[*crossing]time.Time{}, locals: append(slices.Collect(maps.Keys(config.Clients)), stepsAgent)}
	for _, p := range s {
		run, ok := p.step.(runClient)
		if _, local := config.Clients[run.name]; !ok || local || slices.Contains(w.names, run.name) {
			continue
		}
		w.names = append(w.names, run.name)
		w.guests = append(w.guests, &guest{name: run.name, came: make(chan struct{}), in: make(chan struct{})})
	}
	slices.SortStableFunc(w.guests, func(a, b *guest) int { return cmp.Compare(len(b.name), len(a.name)) })
	return w
}

// guest finds the one whose requests have a user agent, nil if it is nobody's.
func (w *wire) guest(agent string) *guest {
	i := slices.IndexFunc(w.guests, func(g *guest) bool { return strings.HasPrefix(agent, g.name) })
	if i < 0 {
		return nil
	}
	return w.guests[i]
}

// handler looks at every request on its way to next. One of a guest that no step has
// let in yet is held back until then: what stands before its step happens before it
// comes.
func (w *wire) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		g := w.guest(r.UserAgent())
		if g == nil {
			w.stranger(r.UserAgent())
		} else if !g.admitted(r.Context()) {
			panic(http.ErrAbortHandler)
		}
		c := w.cross(rw, r, g)
		defer c.end()
		next.ServeHTTP(c, r)
		c.complete()
	})
}

// admitted waits until a guest is let in. It is false if the client leaves before.
func (g *guest) admitted(ctx context.Context) bool {
	g.once.Do(func() { close(g.came) })
	select {
	case <-g.in:
		return true
	case <-ctx.Done():
		return false
	}
}

// welcome waits for the first request of a guest, and lets it in.
func (e *Env) welcome(ctx context.Context, s runClient) error {
	name := s.name
	i := slices.IndexFunc(e.wire.guests, func(g *guest) bool { return g.name == name })
	switch {
	case i < 0: // it is no step of the script, but stands in one
		return fmt.Errorf("client %q comes over the network, and can be run by a step of its own only", name)
	case s.on != "" || e.at != e.doors[0]:
		return fmt.Errorf("client %q comes over the network, where only the first server is", name)
	case e.clients[name] != nil:
		return fmt.Errorf("client %q was let in already", name)
	}
	g := e.wire.guests[i]
	if err := e.wire.await(ctx, g, e.log); err != nil {
		return err
	}
	e.clients[name] = &client{guest: true, done: make(chan struct{})}
	g.lane = e.log.lane(name)
	close(g.in)
	return nil
}

// await waits for the first request of a guest, and tells who follows for what.
func (w *wire) await(ctx context.Context, g *guest, log *Transcript) error {
	waits := fmt.Sprintf("a request of client %s: a user agent that begins with %q", g.name, g.name)
	select {
	case <-g.came:
		return nil
	default:
	}
	log.tell("waiting for " + waits)
	w.tellStrangers(func(agent string) {
		log.tell(fmt.Sprintf("a request came from %q, which is not waited for", agent))
	})
	defer w.tellStrangers(nil)
	select {
	case <-g.came:
		return nil
	case <-ctx.Done():
		return errors.Join(ctx.Err(), mismatch{waits, "none; other user agents: " + orNone(w.others())})
	}
}

// strangersKept bounds how many user agents that are nobody's are remembered.
const strangersKept = 20

// stranger notes a user agent that is no guest's, and tells who waits for one.
func (w *wire) stranger(agent string) {
	if slices.ContainsFunc(w.locals, func(name string) bool { return strings.HasPrefix(agent, name) }) {
		return
	}
	w.mu.Lock()
	fresh := w.playing && len(w.strangers) < strangersKept && !slices.Contains(w.strangers, agent)
	if fresh {
		w.strangers = append(w.strangers, agent)
	}
	told := w.told
	w.mu.Unlock()
	if fresh && told != nil {
		told(agent)
	}
}

// play has strangers noted from now on.
func (w *wire) play() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.playing = true
}

// tellStrangers has f called for each user agent that comes and is no guest's; nil ends
// that.
func (w *wire) tellStrangers(f func(agent string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = f
}

func (w *wire) others() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.strangers)
}
