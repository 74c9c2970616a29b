package fakeapi

import (
	"net/http"
	"sync/atomic"

	"example.com/fakeapi/internal/requestinfo"
)

// withMaxInFlight refuses the requests that are too many.
func (s *Server) withMaxInFlight(next http.Handler) http.Handler {
	if s.opts.maxReads == 0 && s.opts.maxWrites == 0 && s.opts.maxWatches == 0 {
		return next
	}
	reads, writes, watches := limiter{max: s.opts.maxReads}, limiter{max: s.opts.maxWrites}, limiter{max: s.opts.maxWatches}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l := &writes
		switch t := requestinfo.Parse(r.Method, r.URL.Path, r.URL.Query()); {
		case t.Verb == requestinfo.Watch:
			l = &watches
		case isLongRunning(t):
			next.ServeHTTP(w, r)
			return
		case isReadOnly(r):
			l = &reads
		}
		if !l.acquire() {
			s.recordTermination(r, http.StatusTooManyRequests)
			s.setCommonHeaders(w, r)
			w.Header().Set("Retry-After", "1")
			http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
			return
		}
		defer l.release()
		next.ServeHTTP(w, r)
	})
}

// isReadOnly reports whether a request changes nothing: its verb is get, list or watch.
func isReadOnly(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet:
		return true
	case http.MethodHead: // outside of the API groups its verb is its own
		return requestinfo.Parse(r.Method, r.URL.Path, nil).IsResourceRequest()
	}
	return false
}

// limiter are places for a number of requests.
type limiter struct {
	max    int64 // 0 is no limit
	active atomic.Int64
}

// acquire takes a place, if there is one.
func (s *limiter) acquire() bool {
	if active := s.active.Add(1); s.max == 0 || active <= s.max {
		return true
	}
	s.release()
	return false
}

func (s *limiter) release() { s.active.Add(-1) }
