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
	m := &trafficMonitor{open: map[*trackedRequest]time.Time{}, localAgents: append(slices.Collect(maps.Keys(config.Clients)), stepUserAgent)}
	for _, p := range s {
		run, ok := p.step.(runClient)
		if _, local := config.Clients[run.function()]; !ok || local || slices.Contains(m.clientNames, run.name) {
			continue
		}
		m.clientNames = append(m.clientNames, run.name)
		m.clients = append(m.clients, &externalClient{name: run.name, firstRequest: make(chan struct{}), admitted: make(chan struct{})})
	}
	slices.SortStableFunc(m.clients, func(a, b *externalClient) int { return cmp.Compare(len(b.name), len(a.name)) })
	return m
}

// clientFor returns the client whose name is a prefix of a user agent, or nil.
func (m *trafficMonitor) clientFor(agent string) *externalClient {
	i := slices.IndexFunc(m.clients, func(c *externalClient) bool { return strings.HasPrefix(agent, c.name) })
	if i < 0 {
		return nil
	}
	return m.clients[i]
}

// handler observes the requests to next. It delays requests of an external client until a step has
// run the client, so that the steps before that have been executed.
func (m *trafficMonitor) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		client := m.clientFor(r.UserAgent())
		if client == nil {
			m.recordUnknownAgent(r.UserAgent())
		} else if !client.waitAdmitted(r.Context()) {
			panic(http.ErrAbortHandler)
		}
		t := m.track(rw, r, client)
		defer t.finish()
		next.ServeHTTP(t, r)
		t.complete()
	})
}

// waitAdmitted waits until a step has run the client. It returns false if the request is canceled
// before.
func (c *externalClient) waitAdmitted(ctx context.Context) bool {
	c.once.Do(func() { close(c.firstRequest) })
	select {
	case <-c.admitted:
		return true
	case <-ctx.Done():
		return false
	}
}

// admitExternal waits for the first request of an external client and admits it.
func (e *Env) admitExternal(ctx context.Context, s runClient) error {
	name := s.name
	i := slices.IndexFunc(e.traffic.clients, func(external *externalClient) bool { return external.name == name })
	switch {
	case i < 0: // the step is inside of another one
		return fmt.Errorf("external client %q cannot be run inside of another step", name)
	case s.on != "" || e.current != e.servers[0]:
		return fmt.Errorf("external client %q can only be run on the first server", name)
	case s.of != "" || s.restartAfter != 0:
		return fmt.Errorf("external client %q is not started by steps", name)
	case s.user != "" || s.impersonate != "":
		return fmt.Errorf("external client %q has its own credentials, and cannot be run as another user", name)
	case e.clients[name] != nil:
		return fmt.Errorf("external client %q is already running", name)
	}
	external := e.traffic.clients[i]
	if err := e.traffic.waitForClient(ctx, external, e.log); err != nil {
		return err
	}
	e.clients[name] = &client{external: true, done: make(chan struct{})}
	external.log = e.log.clientLog(name)
	close(external.admitted)
	return nil
}

// waitForClient waits for the first request of a client, and emits the name of the client and
// unknown user agents.
func (m *trafficMonitor) waitForClient(ctx context.Context, c *externalClient, log *Transcript) error {
	awaited := fmt.Sprintf("a request of client %s: a user agent that begins with %q", c.name, c.name)
	select {
	case <-c.firstRequest:
		return nil
	default:
	}
	log.emitNotice("waiting for " + awaited)
	m.notifyUnknownAgents(func(agent string) {
		log.emitNotice(fmt.Sprintf("unexpected request from %q", agent))
	})
	defer m.notifyUnknownAgents(nil)
	select {
	case <-c.firstRequest:
		return nil
	case <-ctx.Done():
		return errors.Join(ctx.Err(), mismatch{awaited, "none; other user agents: " + listOrNone(m.listUnknownAgents())})
	}
}

// maxUnknownAgents limits the number of recorded user agents.
const maxUnknownAgents = 20

// recordUnknownAgent records a user agent that matches no client and calls onUnknownAgent.
func (m *trafficMonitor) recordUnknownAgent(agent string) {
	if slices.ContainsFunc(m.localAgents, func(name string) bool { return strings.HasPrefix(agent, name) }) {
		return
	}
	m.mu.Lock()
	isNew := m.recording && len(m.unknownAgents) < maxUnknownAgents && !slices.Contains(m.unknownAgents, agent)
	if isNew {
		m.unknownAgents = append(m.unknownAgents, agent)
	}
	notify := m.onUnknownAgent
	m.mu.Unlock()
	if isNew && notify != nil {
		notify(agent)
	}
}

// startRecording starts recording unknown user agents.
func (m *trafficMonitor) startRecording() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recording = true
}

// notifyUnknownAgents sets the function that is called for each new unknown user agent; nil removes
// it.
func (m *trafficMonitor) notifyUnknownAgents(f func(agent string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.onUnknownAgent = f
}

func (m *trafficMonitor) listUnknownAgents() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.unknownAgents)
}
