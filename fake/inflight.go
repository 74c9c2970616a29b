package fakeapi

import (
	"fmt"
	"net/http"
	"sync/atomic"

	"example.com/fakeapi/internal/route"
)

// WithMaxInFlight limits how many requests are served at a time: those that read (get
// and list), and all others. One more is answered 429 with the text "Too many requests,
// please try again later." and Retry-After 1 (HT-08), until others have ended. 0 is no
// limit, as by default; a real server has 400 and 200. Watches and other long-running
// requests do not count. Nobody is exempt, where a real server lets the group
// system:masters pass. What a fault rule delays is being served.
func WithMaxInFlight(reading, writing int) Option {
	return func(o *options) error {
		if reading < 0 || writing < 0 {
			return fmt.Errorf("fakeapi: %d and %d requests in flight: a limit is not negative", reading, writing)
		}
		o.reading, o.writing = int64(reading), int64(writing)
		return nil
	}
}

// limited refuses the requests that are too many.
func (s *Server) limited(next http.Handler) http.Handler {
	if s.opts.reading == 0 && s.opts.writing == 0 {
		return next
	}
	reading, writing := seats{most: s.opts.reading}, seats{most: s.opts.writing}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if longRunning(r) {
			next.ServeHTTP(w, r)
			return
		}
		kind := &writing
		if reads(r) {
			kind = &reading
		}
		if !kind.take() {
			s.terminated(r, http.StatusTooManyRequests)
			s.dress(w, r)
			w.Header().Set("Retry-After", "1")
			http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
			return
		}
		defer kind.leave()
		next.ServeHTTP(w, r)
	})
}

// reads reports whether a request changes nothing: its verb is get, list or watch.
func reads(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet:
		return true
	case http.MethodHead: // outside of the API groups its verb is its own
		return route.Parse(r.Method, r.URL.Path, nil).IsResource()
	}
	return false
}

// seats are places for a number of requests.
type seats struct {
	most  int64 // 0 is no limit
	taken atomic.Int64
}

// take takes a place, if there is one.
func (s *seats) take() bool {
	if taken := s.taken.Add(1); s.most == 0 || taken <= s.most {
		return true
	}
	s.leave()
	return false
}

func (s *seats) leave() { s.taken.Add(-1) }
