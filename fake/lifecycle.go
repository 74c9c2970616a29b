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

// lifecycle is how far the front door is from its start and its end.
type lifecycle struct {
	draining atomic.Bool
	// started is when the start is over; nil for long ago.
	started atomic.Pointer[time.Time]
}

// isStarting reports whether the start is not over yet.
func (l *lifecycle) isStarting() bool {
	started := l.started.Load()
	return started != nil && time.Now().Before(*started)
}

// healthError tells why a health check fails, "" if it passes.
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

// Drain is the first part of a graceful shutdown: /readyz answers 500 from now on, so
// that load balancers send nobody any more, and all else is served as before. Restart
// ends it.
func (s *Server) Drain() { s.lifecycle.draining.Store(true) }

// Shutdown closes the front door as an API server that ends gracefully does: /readyz
// fails, connections are refused, watches end cleanly, and requests that are being served
// may finish. It returns when no connection is open any more; those that still are after
// five seconds are broken and named in the error. The store is kept, the controllers go on,
// and so do Load, Restore and other doors; Restart opens the door again. A
// Server that was shut down still has to be closed.
func (s *Server) Shutdown() error {
	s.Drain()
	err := s.listener.closeCurrent()
	s.api.EndWatches()
	s.httpServer.SetKeepAlivesEnabled(false) // those that are idle close, the others after their answer
	s.conns.closeIdle()                      // net/http leaves out those of HTTP/2
	if openErr := s.conns.wait(s.opts.closeTimeout); openErr != nil {
		s.conns.closeConns()
		err = errors.Join(err, openErr, s.conns.wait(s.opts.closeTimeout))
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

// closeConns breaks all connections that are open.
func (f *connTracker) closeConns() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key := range f.open {
		if c, ok := key.(net.Conn); ok {
			closeTCP(c)
		}
	}
}

// closeIdle breaks the connections on which nothing is going on.
func (f *connTracker) closeIdle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.idleConns {
		closeTCP(c)
	}
}

// closeConns breaks a connection, below TLS: there Close would say goodbye, and wait for
// seconds until a client reads that.
func closeTCP(c net.Conn) {
	if tlsConn, ok := c.(*tls.Conn); ok {
		c = tlsConn.NetConn()
	}
	_ = c.Close() // one that is closed already says so
}
