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
	newConns  map[net.Conn]bool // the connections that have not had a request yet
	allClosed chan struct{}     // closed when the last one ends; nil unless Close waits
}

// setState updates the state of a connection. It is the ConnState of the http.Server.
func (t *connTracker) setState(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		t.add(c)
		t.markNew(c, true)
	case http.StateIdle, http.StateActive:
		t.markNew(c, false)
		t.markIdle(c, state == http.StateIdle)
	case http.StateClosed, http.StateHijacked:
		t.markNew(c, false)
		t.markIdle(c, false)
		t.remove(c)
	}
}

// markNew records whether a connection has not had a request yet.
func (t *connTracker) markNew(c net.Conn, isNew bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !isNew {
		delete(t.newConns, c)
		return
	}
	if t.newConns == nil {
		t.newConns = make(map[net.Conn]bool)
	}
	t.newConns[c] = true
}

// markIdle records whether a TLS connection has no active request. Without TLS there is no HTTP/2,
// and net/http closes idle connections itself.
func (t *connTracker) markIdle(c net.Conn, idle bool) {
	if _, secured := c.(*tls.Conn); !secured {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !idle {
		delete(t.idleConns, c)
		return
	}
	if t.idleConns == nil {
		t.idleConns = make(map[net.Conn]bool)
	}
	t.idleConns[c] = true
}

// withRequestTracking tracks each request.
func (t *connTracker) withRequestTracking(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.add(r)
		defer t.remove(r)
		next.ServeHTTP(w, r)
	})
}

func (t *connTracker) add(key any) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = make(map[any]time.Time)
	}
	t.open[key] = now
}

func (t *connTracker) remove(key any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, key)
	if len(t.open) == 0 && t.allClosed != nil {
		close(t.allClosed)
		t.allClosed = nil
	}
}

// wait returns nil when nothing is open any more, or after the timeout an error that lists what is
// open.
func (t *connTracker) wait(timeout time.Duration) error {
	t.mu.Lock()
	if len(t.open) == 0 {
		t.mu.Unlock()
		return nil
	}
	if t.allClosed == nil {
		t.allClosed = make(chan struct{})
	}
	allClosed := t.allClosed
	t.mu.Unlock()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-allClosed:
		return nil
	case <-timer.C:
		return t.leftOpen()
	}
}

func (t *connTracker) leftOpen() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for key, since := range t.open {
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
