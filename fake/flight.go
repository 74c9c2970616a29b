package fakeapi

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// flight knows the requests that are being served and the connections that are
// open, so that Close can wait for them and name those that hang. A connection
// may outlive its last request: after an answer to a body that nobody has read
// net/http keeps it for half a second, so that the client gets the answer.
type flight struct {
	mu   sync.Mutex
	open map[any]time.Time // since when; the key is a *http.Request or a net.Conn
	rest map[net.Conn]bool // the connections over TLS that have no request now
	idle chan struct{}     // closed when the last one ends; nil while nobody waits
}

// conn follows the life of a connection; it is a http.Server's ConnState.
func (f *flight) conn(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		f.begin(c)
	case http.StateIdle, http.StateActive:
		f.resting(c, state == http.StateIdle)
	case http.StateClosed, http.StateHijacked:
		f.resting(c, false)
		f.end(c)
	}
}

// resting notes whether something is going on on a connection. Without TLS there is no
// HTTP/2, and net/http does that itself.
func (f *flight) resting(c net.Conn, yes bool) {
	if _, secured := c.(*tls.Conn); !secured {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !yes {
		delete(f.rest, c)
		return
	}
	if f.rest == nil {
		f.rest = make(map[net.Conn]bool)
	}
	f.rest[c] = true
}

// track notes every request that next serves.
func (f *flight) track(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.begin(r)
		defer f.end(r)
		next.ServeHTTP(w, r)
	})
}

func (f *flight) begin(what any) {
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open = make(map[any]time.Time)
	}
	f.open[what] = now
}

func (f *flight) end(what any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, what)
	if len(f.open) == 0 && f.idle != nil {
		close(f.idle)
		f.idle = nil
	}
}

// wait returns when nothing is open any more, or names what hangs after the time
// given.
func (f *flight) wait(most time.Duration) error {
	f.mu.Lock()
	if len(f.open) == 0 {
		f.mu.Unlock()
		return nil
	}
	if f.idle == nil {
		f.idle = make(chan struct{})
	}
	idle := f.idle
	f.mu.Unlock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-idle:
		return nil
	case <-timer.C:
		return f.hanging()
	}
}

func (f *flight) hanging() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var lines []string
	for what, since := range f.open {
		age := time.Since(since).Round(time.Millisecond)
		switch what := what.(type) {
		case *http.Request:
			lines = append(lines, fmt.Sprintf("%s %s (for %v)", what.Method, what.URL, age))
		case net.Conn:
			lines = append(lines, fmt.Sprintf("a connection from %s (for %v)", what.RemoteAddr(), age))
		}
	}
	slices.Sort(lines)
	return fmt.Errorf("still open: %s", strings.Join(lines, ", "))
}

// quiet drops what net/http would log of clients that go away.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
