package fakeapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/internal/originguard"
)

// WithControlAddress serves the control API, and nothing else, over plain HTTP on a loopback
// address of its own, such as 127.0.0.1:0 for a free port; see Server.ControlURL. It needs no
// credentials there, also on a server with WithTLS and WithRBAC, so that tests in all languages and
// a browser can use it; web pages of other origins cannot. WithControlAPI is not included: the
// address of the API then has the same paths as that of a real server. Shutdown does not affect the
// address, and Close closes it. A Replica or a Fork does not inherit it, but a fork of the control
// API has an own one. It cannot be combined with WithInMemoryNetwork.
func WithControlAddress(address string) Option {
	return func(o *options) error {
		if err := checkLoopback(address); err != nil {
			return err
		}
		o.controlAddress = address
		return nil
	}
}

// checkLoopback returns an error if a TCP address is not one of this machine.
func checkLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("fakeapi: address %q: %w", address, err)
	}
	if !originguard.IsLoopback(host) {
		return fmt.Errorf("fakeapi: address %q is not a loopback address", address)
	}
	return nil
}

// ControlURL returns the URL of the control API, which ends in /fakeapi/v1: at the address of
// WithControlAddress, or otherwise at that of the server. It is "" without both WithControlAddress
// and WithControlAPI.
func (s *Server) ControlURL() string {
	path := strings.TrimSuffix(controlPrefix, "/")
	switch {
	case s.controlServer != nil:
		return "http://" + s.controlServer.listener.Addr().String() + path
	case s.opts.controlAPI:
		return s.URL() + path
	}
	return ""
}

// controlServer serves the control API on an address of its own.
type controlServer struct {
	listener net.Listener
	http     *http.Server
	conns    connTracker
	done     chan struct{} // closed when Serve has returned
}

// listenForControl opens the listener of WithControlAddress, if it is set.
func (s *Server) listenForControl() error {
	if s.opts.controlAddress == "" {
		return nil
	}
	if s.opts.inMemory {
		return errors.New("fakeapi: WithControlAddress and WithInMemoryNetwork cannot be combined; use WithControlAPI")
	}
	l, err := net.Listen("tcp", s.opts.controlAddress)
	if err != nil {
		return fmt.Errorf("fakeapi: control API: %w", err)
	}
	s.controlServer = &controlServer{listener: l, done: make(chan struct{})}
	return nil
}

// startControl serves the listener of WithControlAddress until close.
func (s *Server) startControl(ctx context.Context) {
	c := s.controlServer
	if c == nil {
		return
	}
	c.http = &http.Server{
		Handler:           c.conns.withRequestTracking(s.withBrowserProtection(withControlOnly(s.control.handler))),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 30 * time.Second,
		ConnState:         c.conns.setState,
		ErrorLog:          s.opts.connectionLogger(),
	}
	go func() {
		defer close(c.done)
		_ = c.http.Serve(c.listener) // http.ErrServerClosed after close
	}()
}

// close ends all requests and waits for them. Their context has ended.
func (c *controlServer) close(timeout time.Duration) error {
	if c == nil {
		return nil
	}
	c.conns.closeConns()
	err := c.http.Close()
	<-c.done
	return errors.Join(err, c.conns.wait(timeout))
}

// withControlOnly serves the control API, redirects / to it, and responds to all other paths with a
// 404.
func withControlOnly(control http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case isControlPath(r.URL.Path):
			control.ServeHTTP(w, r)
		case r.URL.Path == "/":
			http.Redirect(w, r, controlPrefix, http.StatusFound)
		default:
			handlers.WriteError(w, r, status.PathNotFound())
		}
	})
}
