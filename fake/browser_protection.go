package fakeapi

import (
	"net/http"
	"strings"

	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/internal/originguard"
)

// withBrowserProtection keeps web pages out of what comes over a socket: requests under a name that is not
// given (DNS rebinding), those that a browser sends for a page of another origin, and those
// of any page that would change something through the control API. Nobody reaches a server
// in memory but the clients that were given it.
func (s *Server) withBrowserProtection(next http.Handler) http.Handler {
	if s.opts.inMemory {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.checkOrigin(r); err != nil {
			writeErrorNoSniff(w, r, status.ForbiddenOrigin(err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) checkOrigin(r *http.Request) error {
	if err := originguard.CheckHost(r, s.opts.hosts...); err != nil {
		return err
	}
	if r.Method != http.MethodGet && strings.HasPrefix(r.URL.Path, controlPrefix) {
		return originguard.CheckNotFromWebPage(r)
	}
	return originguard.CheckOrigin(r)
}
