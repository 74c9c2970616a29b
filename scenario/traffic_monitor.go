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

// trafficMonitor is what a scenario in real time sees of its server's network: what moves
// there, and the requests of clients that are no functions of this process.
type trafficMonitor struct {
	// clientNames are those of the guests in the order of the script. guests has them with
	// the longest name first, so that a name that another one begins with finds its own.
	clientNames []string
	clients     []*externalClient
	// localAgents are what the user agents of this process begin with.
	localAgents []string

	mu             sync.Mutex                    // guards all below
	activity       uint64                        // counts what happens
	open           map[*trackedRequest]time.Time // requests without an answer, and when they came
	recording      bool                          // since then, strangers are noted
	unknownAgents  []string                      // user agents that are nobody's
	onUnknownAgent func(agent string)            // of each new one; nil for nobody
}

// externalClient is a client under test that comes over the network.
type externalClient struct {
	name         string
	firstRequest chan struct{} // closed by its first request
	once         sync.Once
	admitted     chan struct{} // closed when a step has let it in
	// log has its requests. It is set before in is closed.
	log *clientLog
}

// newWire is for the clients that a script runs and that are none of config's.
func newWire(s script, config Config) *trafficMonitor {
	w := &trafficMonitor{open: map[*trackedRequest]time.Time{}, localAgents: append(slices.Collect(maps.Keys(config.Clients)), stepUserAgent)}
	for _, p := range s {
		run, ok := p.step.(runClient)
		if _, local := config.Clients[run.name]; !ok || local || slices.Contains(w.clientNames, run.name) {
			continue
		}
		w.clientNames = append(w.clientNames, run.name)
		w.clients = append(w.clients, &externalClient{name: run.name, firstRequest: make(chan struct{}), admitted: make(chan struct{})})
	}
	slices.SortStableFunc(w.clients, func(a, b *externalClient) int { return cmp.Compare(len(b.name), len(a.name)) })
	return w
}

// clientFor finds the one whose requests have a user agent, nil if it is nobody's.
func (w *trafficMonitor) clientFor(agent string) *externalClient {
	i := slices.IndexFunc(w.clients, func(g *externalClient) bool { return strings.HasPrefix(agent, g.name) })
	if i < 0 {
		return nil
	}
	return w.clients[i]
}

// handler looks at every request on its way to next. One of a guest that no step has
// let in yet is held back until then: what stands before its step happens before it
// comes.
func (w *trafficMonitor) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		g := w.clientFor(r.UserAgent())
		if g == nil {
			w.recordUnknownAgent(r.UserAgent())
		} else if !g.waitAdmitted(r.Context()) {
			panic(http.ErrAbortHandler)
		}
		c := w.track(rw, r, g)
		defer c.finish()
		next.ServeHTTP(c, r)
		c.complete()
	})
}

// waitAdmitted waits until a guest is let in. It is false if the client leaves before.
func (g *externalClient) waitAdmitted(ctx context.Context) bool {
	g.once.Do(func() { close(g.firstRequest) })
	select {
	case <-g.admitted:
		return true
	case <-ctx.Done():
		return false
	}
}

// admitExternal waits for the first request of a guest, and lets it in.
func (e *Env) admitExternal(ctx context.Context, s runClient) error {
	name := s.name
	i := slices.IndexFunc(e.traffic.clients, func(g *externalClient) bool { return g.name == name })
	switch {
	case i < 0: // it is no step of the script, but stands in one
		return fmt.Errorf("client %q comes over the network, and can be run by a step of its own only", name)
	case s.on != "" || e.current != e.servers[0]:
		return fmt.Errorf("client %q comes over the network, where only the first server is", name)
	case e.clients[name] != nil:
		return fmt.Errorf("client %q was let in already", name)
	}
	g := e.traffic.clients[i]
	if err := e.traffic.waitForClient(ctx, g, e.log); err != nil {
		return err
	}
	e.clients[name] = &client{external: true, done: make(chan struct{})}
	g.log = e.log.clientLog(name)
	close(g.admitted)
	return nil
}

// waitForClient waits for the first request of a guest, and tells who follows for what.
func (w *trafficMonitor) waitForClient(ctx context.Context, g *externalClient, log *Transcript) error {
	waits := fmt.Sprintf("a request of client %s: a user agent that begins with %q", g.name, g.name)
	select {
	case <-g.firstRequest:
		return nil
	default:
	}
	log.emitNotice("waiting for " + waits)
	w.notifyUnknownAgents(func(agent string) {
		log.emitNotice(fmt.Sprintf("a request came from %q, which is not waited for", agent))
	})
	defer w.notifyUnknownAgents(nil)
	select {
	case <-g.firstRequest:
		return nil
	case <-ctx.Done():
		return errors.Join(ctx.Err(), mismatch{waits, "none; other user agents: " + listOrNone(w.listUnknownAgents())})
	}
}

// maxUnknownAgents bounds how many user agents that are nobody's are remembered.
const maxUnknownAgents = 20

// recordUnknownAgent notes a user agent that is no guest's, and tells who waits for one.
func (w *trafficMonitor) recordUnknownAgent(agent string) {
	if slices.ContainsFunc(w.localAgents, func(name string) bool { return strings.HasPrefix(agent, name) }) {
		return
	}
	w.mu.Lock()
	isNew := w.recording && len(w.unknownAgents) < maxUnknownAgents && !slices.Contains(w.unknownAgents, agent)
	if isNew {
		w.unknownAgents = append(w.unknownAgents, agent)
	}
	notify := w.onUnknownAgent
	w.mu.Unlock()
	if isNew && notify != nil {
		notify(agent)
	}
}

// startRecording has strangers noted from now on.
func (w *trafficMonitor) startRecording() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recording = true
}

// notifyUnknownAgents has f called for each user agent that comes and is no guest's; nil ends
// that.
func (w *trafficMonitor) notifyUnknownAgents(f func(agent string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onUnknownAgent = f
}

func (w *trafficMonitor) listUnknownAgents() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.unknownAgents)
}
