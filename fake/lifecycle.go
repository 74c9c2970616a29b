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
)

// lifecycle tracks whether the server is starting or shutting down.
type lifecycle struct {
	draining atomic.Bool
	// started is when the start is complete, or nil for the first start.
	started atomic.Pointer[time.Time]
}

// isStarting reports whether the start is not complete.
func (l *lifecycle) isStarting() bool {
	started := l.started.Load()
	return started != nil && time.Now().Before(*started)
}

// healthError returns why a health check fails, or "" if it passes.
func (l *lifecycle) healthError(endpoint, check string) string {
	switch {
	case endpoint != "readyz":
	case check == "shutdown" && l.draining.Load():
		return "process is shutting down"
	case check == "informer-sync" && l.isStarting():
		return "the server is starting"
	}
	return ""
}

// Drain starts a graceful shutdown: from now on /readyz returns 500, so that load balancers send no
// new requests. All other requests are served. Restart ends it.
func (s *Server) Drain() {
	s.note("Drain")
	s.lifecycle.draining.Store(true)
}

// newConnGrace is how long Shutdown waits for the first request of a new connection.
const newConnGrace = 100 * time.Millisecond

// Shutdown shuts the server down gracefully: /readyz fails, connections are refused, watches end
// cleanly, and active requests may finish. It returns when all connections are closed. Connections
// without a request are closed, new ones after 100 ms. Those that are open after five seconds are
// closed and listed in the error. The store is kept, controllers and replicas continue, and Load
// and Restore can be called. Restart serves again. The Server must still be closed.
func (s *Server) Shutdown() error {
	s.note("Shutdown")
	s.lifecycle.draining.Store(true)
	err := s.listener.closeCurrent()
	s.api.EndWatches()
	s.control.endWaits()
	s.httpServer.SetKeepAlivesEnabled(false) // idle connections close, the others after their response
	s.conns.closeIdle()                      // net/http does not close those of HTTP/2
	defer time.AfterFunc(newConnGrace, s.conns.closeNew).Stop()
	if openErr := s.conns.wait(s.opts.closeTimeout); openErr != nil {
		s.conns.closeConns()
		err = errors.Join(err, openErr, s.conns.wait(s.opts.closeTimeout))
	}
	if err != nil {
		return fmt.Errorf("fakeapi: shutdown: %w", err)
	}
	return nil
}

// Restart serves again on the same address, with the current store. For the duration startup, all
// requests except those of health paths get 503 ServiceUnavailable "the request has been made
// before all known HTTP paths have been installed, please try again" with Retry-After 5, and
// /readyz fails. With 0 there is no such time. A server that was not shut down only repeats its
// start. A closed server returns net.ErrClosed.
func (s *Server) Restart(startup time.Duration) error {
	s.note("Restart with a start of %v", startup)
	started := time.Now().Add(startup)
	s.lifecycle.started.Store(&started)
	s.lifecycle.draining.Store(false)
	s.httpServer.SetKeepAlivesEnabled(true)
	s.api.AllowWatches()
	if err := s.listener.reopen(); err != nil {
		return fmt.Errorf("fakeapi: restart: %w", err)
	}
	return nil
}

// withStartupCheck responds with a 503 to all requests except health checks while the server is
// starting.
func (s *Server) withStartupCheck(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.lifecycle.isStarting() && !isHealthPath(r.URL.Path) {
			handlers.WriteError(w, r, status.NotYetReady())
			return
		}
		next.ServeHTTP(w, r)
	})
}

// closeConns closes all open connections.
func (t *connTracker) closeConns() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key := range t.open {
		if c, ok := key.(net.Conn); ok {
			closeTCP(c)
		}
	}
}

// closeIdle closes the connections without an active request.
func (t *connTracker) closeIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.idleConns {
		closeTCP(c)
	}
}

// closeNew closes the connections that have not had a request yet. net/http keeps them open for
// five seconds.
func (t *connTracker) closeNew() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.newConns {
		closeTCP(c)
	}
}

// closeTCP closes the TCP connection under TLS, because tls.Conn.Close blocks while it sends
// close_notify.
func closeTCP(c net.Conn) {
	if tlsConn, ok := c.(*tls.Conn); ok {
		c = tlsConn.NetConn()
	}
	_ = c.Close() // ignore the error of a closed connection
}
