package fakeapi

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/internal/requestinfo"
)

// life is how far the front door is from its start and its end.
type life struct {
	draining atomic.Bool
	// started is when the start is over; nil for long ago.
	started atomic.Pointer[time.Time]
}

// starting reports whether the start is not over yet.
func (l *life) starting() bool {
	started := l.started.Load()
	return started != nil && time.Now().Before(*started)
}

// failing tells why a health check fails, "" if it passes.
func (l *life) failing(endpoint, check string) string {
	switch {
	case endpoint != "readyz":
	case check == "shutdown" && l.draining.Load():
		return "process is shutting down"
	case check == "informer-sync" && l.starting():
		return "the server is starting"
	}
	return ""
}

// Drain is the first part of a graceful shutdown: /readyz answers 500 from now on, so
// that load balancers send nobody any more, and all else is served as before. Restart
// ends it.
func (s *Server) Drain() { s.life.draining.Store(true) }

// Shutdown closes the front door as an API server that ends gracefully does: /readyz
// fails, connections are refused, watches end cleanly, and requests that are being served
// may finish. It returns when no connection is open any more; those that still are after
// five seconds are broken and named in the error. The store is kept, the controllers go on,
// and so do Load, Restore and other doors; Restart opens the door again. A
// Server that was shut down still has to be closed.
func (s *Server) Shutdown() error {
	s.Drain()
	err := s.listener.shut()
	s.api.EndWatches()
	s.http.SetKeepAlivesEnabled(false) // those that are idle close, the others after their answer
	s.flight.breakIdle()               // net/http leaves out those of HTTP/2
	if hanging := s.flight.wait(s.opts.closing); hanging != nil {
		s.flight.hangUp()
		err = errors.Join(err, hanging, s.flight.wait(s.opts.closing))
	}
	if err != nil {
		return fmt.Errorf("fakeapi: shutdown: %w", err)
	}
	return nil
}

// Restart opens the front door again, on the same address, with the store as it is.
// For the time startup it answers as a server that is not through with its start: 503
// ServiceUnavailable "the request has been made before all known HTTP paths have been
// installed, please try again" with Retry-After 5 for all but the health paths, and
// /readyz fails; 0 is for none. A door that is open stays so, and only
// starts over; a server that was closed stays closed, which is net.ErrClosed.
func (s *Server) Restart(startup time.Duration) error {
	started := time.Now().Add(startup)
	s.life.started.Store(&started)
	s.life.draining.Store(false)
	s.http.SetKeepAlivesEnabled(true)
	s.api.AllowWatches()
	if err := s.listener.open(); err != nil {
		return fmt.Errorf("fakeapi: restart: %w", err)
	}
	return nil
}

// awaitStart is the station that refuses a request which came before the server was
// through with its start.
func (s *Server) awaitStart(w http.ResponseWriter, r *http.Request, _ requestinfo.RequestInfo) (*http.Request, bool) {
	if !s.life.starting() || isHealth(r.URL.Path) {
		return r, true
	}
	handlers.WriteError(w, r, status.NotYetReady())
	return r, false
}

// hangUp breaks all connections that are open.
func (f *flight) hangUp() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for what := range f.open {
		if c, ok := what.(net.Conn); ok {
			hangUp(c)
		}
	}
}

// breakIdle breaks the connections on which nothing is going on.
func (f *flight) breakIdle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.rest {
		hangUp(c)
	}
}

// hangUp breaks a connection, below TLS: there Close would say goodbye, and wait for
// seconds until a client reads that.
func hangUp(c net.Conn) {
	if secured, ok := c.(*tls.Conn); ok {
		c = secured.NetConn()
	}
	_ = c.Close() // one that is closed already says so
}
