package fakeapi

import (
	"net/http"
	"sync/atomic"

	"example.com/fakeapi/internal/requestinfo"
)

// limited refuses the requests that are too many.
func (s *Server) limited(next http.Handler) http.Handler {
	if s.opts.reading == 0 && s.opts.writing == 0 && s.opts.watching == 0 {
		return next
	}
	reading, writing, watching := seats{most: s.opts.reading}, seats{most: s.opts.writing}, seats{most: s.opts.watching}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind := &writing
		switch t := requestinfo.Parse(r.Method, r.URL.Path, r.URL.Query()); {
		case t.Verb == requestinfo.Watch:
			kind = &watching
		case isLongRunning(t):
			next.ServeHTTP(w, r)
			return
		case reads(r):
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
		return requestinfo.Parse(r.Method, r.URL.Path, nil).IsResourceRequest()
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
