package fakeapi

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// connTracker tracks active requests and open connections so that Close can wait for them and list
// those that are left. A connection can stay open after its last request: after a response to a
// request whose body was not read, net/http keeps it open for half a second, so that the client
// gets the response.
type connTracker struct {
	mu        sync.Mutex
	open      map[any]time.Time // the start time of each *http.Request and net.Conn
	idleConns map[net.Conn]bool // the TLS connections without an active request
	allClosed chan struct{}     // closed when the last one ends; nil unless Close waits
}

// setState updates the state of a connection. It is the ConnState of the http.Server.
func (f *connTracker) setState(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		f.add(c)
	case http.StateIdle, http.StateActive:
		f.markIdle(c, state == http.StateIdle)
	case http.StateClosed, http.StateHijacked:
		f.markIdle(c, false)
		f.remove(c)
	}
}

// markIdle records whether a TLS connection has no active request. Without TLS there is no HTTP/2,
// and net/http closes idle connections itself.
func (f *connTracker) markIdle(c net.Conn, idle bool) {
	if _, secured := c.(*tls.Conn); !secured {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !idle {
		delete(f.idleConns, c)
		return
	}
	if f.idleConns == nil {
		f.idleConns = make(map[net.Conn]bool)
	}
	f.idleConns[c] = true
}

// withRequestTracking tracks each request.
func (f *connTracker) withRequestTracking(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.add(r)
		defer f.remove(r)
		next.ServeHTTP(w, r)
	})
}

func (f *connTracker) add(key any) {
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open = make(map[any]time.Time)
	}
	f.open[key] = now
}

func (f *connTracker) remove(key any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, key)
	if len(f.open) == 0 && f.allClosed != nil {
		close(f.allClosed)
		f.allClosed = nil
	}
}

// wait returns nil when nothing is open any more, or after the timeout an error that lists what is
// open.
func (f *connTracker) wait(timeout time.Duration) error {
	f.mu.Lock()
	if len(f.open) == 0 {
		f.mu.Unlock()
		return nil
	}
	if f.allClosed == nil {
		f.allClosed = make(chan struct{})
	}
	idle := f.allClosed
	f.mu.Unlock()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-idle:
		return nil
	case <-timer.C:
		return f.leftOpen()
	}
}

func (f *connTracker) leftOpen() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var lines []string
	for key, since := range f.open {
		age := time.Since(since).Round(time.Millisecond)
		switch key := key.(type) {
		case *http.Request:
			lines = append(lines, fmt.Sprintf("%s %s (for %v)", key.Method, key.URL, age))
		case net.Conn:
			lines = append(lines, fmt.Sprintf("a connection from %s (for %v)", key.RemoteAddr(), age))
		}
	}
	slices.Sort(lines)
	return fmt.Errorf("still open: %s", strings.Join(lines, ", "))
}
