package fakeapi

import (
	"net/http"
	"sync/atomic"

	"example.com/fakeapi/internal/requestinfo"
)

// withMaxInFlight responds with a 429 to requests above the limits of requests in flight and of
// watches.
func (s *Server) withMaxInFlight(next http.Handler) http.Handler {
	limits := s.opts.limits
	if limits.MaxRequestsInFlight == 0 && limits.MaxMutatingRequestsInFlight == 0 && limits.MaxWatches == 0 {
		return next
	}
	reads := limiter{max: int64(limits.MaxRequestsInFlight)}
	writes := limiter{max: int64(limits.MaxMutatingRequestsInFlight)}
	watches := limiter{max: int64(limits.MaxWatches)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l := &writes
		switch info := requestinfo.FromRequest(r); {
		case info.Verb == requestinfo.Watch:
			l = &watches
		case info.IsLongRunning():
			next.ServeHTTP(w, r)
			return
		case info.IsReadOnly():
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

// limiter counts the requests in flight of one kind.
type limiter struct {
	max    int64 // 0 is no limit
	active atomic.Int64
}

// acquire reports whether one more request is allowed, and counts it until release.
func (l *limiter) acquire() bool {
	if active := l.active.Add(1); l.max == 0 || active <= l.max {
		return true
	}
	l.release()
	return false
}

func (l *limiter) release() { l.active.Add(-1) }
