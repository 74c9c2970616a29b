package fakeapi

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// flight knows the requests that are being served, so that Close can wait for
// them and name those that hang.
type flight struct {
	mu       sync.Mutex
	requests map[*http.Request]time.Time
	idle     chan struct{} // closed when the last one ends; nil while nobody waits
}

// track notes every request that next serves.
func (f *flight) track(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.begin(r)
		defer f.end(r)
		next.ServeHTTP(w, r)
	})
}

func (f *flight) begin(r *http.Request) {
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.requests == nil {
		f.requests = make(map[*http.Request]time.Time)
	}
	f.requests[r] = now
}

func (f *flight) end(r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.requests, r)
	if len(f.requests) == 0 && f.idle != nil {
		close(f.idle)
		f.idle = nil
	}
}

// wait returns when nothing is being served, or names what hangs after the time
// given.
func (f *flight) wait(most time.Duration) error {
	f.mu.Lock()
	if len(f.requests) == 0 {
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
	for r, since := range f.requests {
		lines = append(lines, fmt.Sprintf("%s %s (for %v)", r.Method, r.URL, time.Since(since).Round(time.Millisecond)))
	}
	slices.Sort(lines)
	return fmt.Errorf("%d requests still hang: %s", len(lines), strings.Join(lines, ", "))
}

// quiet drops what net/http would log of clients that go away.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
