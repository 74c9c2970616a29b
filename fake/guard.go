package fakeapi

import (
	"net/http"
	"strings"

	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/internal/originguard"
)

// guarded keeps web pages out of what comes over a socket: requests under a name that is not
// given (DNS rebinding), those that a browser sends for a page of another origin, and those
// of any page that would change something through the control API. Nobody reaches a server
// in memory but the clients that were given it.
func (s *Server) guarded(next http.Handler) http.Handler {
	if s.opts.memory {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.foreign(r); err != nil {
			refuse(w, r, status.ForbiddenOrigin(err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) foreign(r *http.Request) error {
	if err := originguard.CheckHost(r, s.opts.hosts...); err != nil {
		return err
	}
	if r.Method != http.MethodGet && strings.HasPrefix(r.URL.Path, controlPrefix) {
		return originguard.CheckNotFromWebPage(r)
	}
	return originguard.CheckOrigin(r)
}
