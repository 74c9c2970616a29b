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

// trafficMonitor observes the requests to the server of a LiveRun, and admits those of external
// clients.
type trafficMonitor struct {
	// clientNames are the names of the external clients in the order of the script. clients has the
	// longest name first, so that a user agent matches the most specific name.
	clientNames []string
	clients     []*externalClient
	// localAgents are the prefixes of the user agents of this process.
	localAgents []string

	mu             sync.Mutex                    // guards all below
	activity       uint64                        // counts requests, responses and writes
	open           map[*trackedRequest]time.Time // requests without a response, and their start
	recording      bool                          // unknown agents are recorded
	unknownAgents  []string                      // user agents that match no client
	onUnknownAgent func(agent string)            // called for each new unknown agent, if not nil
}

// externalClient is a client under test outside of this process.
type externalClient struct {
	name         string
	firstRequest chan struct{} // closed by its first request
	once         sync.Once
	admitted     chan struct{} // closed by the step that runs the client
	// log has its requests. It is set before admitted is closed.
	log *clientLog
}

// newTrafficMonitor returns a monitor for the clients of a script that are not in config.
func newTrafficMonitor(s script, config Config) *trafficMonitor {
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

// clientFor returns the client whose name is a prefix of a user agent, or nil.
func (w *trafficMonitor) clientFor(agent string) *externalClient {
	i := slices.IndexFunc(w.clients, func(g *externalClient) bool { return strings.HasPrefix(agent, g.name) })
	if i < 0 {
		return nil
	}
	return w.clients[i]
}

// handler observes the requests to next. It delays requests of an external client until a step has
// run the client, so that the steps before that have been executed.
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

// waitAdmitted waits until a step has run the client. It returns false if the request is canceled
// before.
func (g *externalClient) waitAdmitted(ctx context.Context) bool {
	g.once.Do(func() { close(g.firstRequest) })
	select {
	case <-g.admitted:
		return true
	case <-ctx.Done():
		return false
	}
}

// admitExternal waits for the first request of an external client and admits it.
func (e *Env) admitExternal(ctx context.Context, s runClient) error {
	name := s.name
	i := slices.IndexFunc(e.traffic.clients, func(g *externalClient) bool { return g.name == name })
	switch {
	case i < 0: // the step is inside of another one
		return fmt.Errorf("external client %q cannot be run inside of another step", name)
	case s.on != "" || e.current != e.servers[0]:
		return fmt.Errorf("external client %q can only be run on the first server", name)
	case e.clients[name] != nil:
		return fmt.Errorf("external client %q is already running", name)
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

// waitForClient waits for the first request of a client, and emits the name of the client and
// unknown user agents.
func (w *trafficMonitor) waitForClient(ctx context.Context, g *externalClient, log *Transcript) error {
	waits := fmt.Sprintf("a request of client %s: a user agent that begins with %q", g.name, g.name)
	select {
	case <-g.firstRequest:
		return nil
	default:
	}
	log.emitNotice("waiting for " + waits)
	w.notifyUnknownAgents(func(agent string) {
		log.emitNotice(fmt.Sprintf("unexpected request from %q", agent))
	})
	defer w.notifyUnknownAgents(nil)
	select {
	case <-g.firstRequest:
		return nil
	case <-ctx.Done():
		return errors.Join(ctx.Err(), mismatch{waits, "none; other user agents: " + listOrNone(w.listUnknownAgents())})
	}
}

// maxUnknownAgents limits the number of recorded user agents.
const maxUnknownAgents = 20

// recordUnknownAgent records a user agent that matches no client and calls onUnknownAgent.
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

// startRecording starts recording unknown user agents.
func (w *trafficMonitor) startRecording() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recording = true
}

// notifyUnknownAgents sets the function that is called for each new unknown user agent; nil removes
// it.
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
