package fakeapi

import (
	"net/http"

	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/internal/originguard"
)

// withBrowserProtection refuses requests that a browser may have sent for a web page: those for an
// unknown host name (DNS rebinding), those of a page of another origin, and those of any page that
// change something through the control API. A network in memory has no such clients.
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
	if r.Method != http.MethodGet && isControlPath(r.URL.Path) {
		return originguard.CheckNotFromWebPage(r)
	}
	return originguard.CheckOrigin(r)
}
