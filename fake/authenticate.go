package fakeapi

import (
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/transport"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/verbs"
)

// openPaths are what a cluster tells everybody (ClusterRole system:public-info-viewer).
var openPaths = []string{"/healthz", "/livez", "/readyz", "/version", "/version/"}

// authenticate finds out whose request it is, and reports whether that may be served; if
// not, it has been answered (AU-01). An answer to who is not known ends the connection if it is one of HTTP/2, which is
// expensive (CVE-2023-44487); requests that are being served on it end in peace.
func (s *Server) authenticate(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	if s.tokens == nil {
		return r, true
	}
	user, answer := s.tokens.Authenticate(r, s.api.ServiceAccount)
	if answer == authn.Known {
		return r.WithContext(authn.WithUser(r.Context(), user)), true
	}
	if warning := authn.Warning(r); warning != "" {
		w.Header().Add("Warning", warning)
	}
	if r.ProtoMajor == 2 {
		w.Header().Set("Connection", "close")
	}
	if answer == authn.Anonymous && slices.Contains(openPaths, r.URL.Path) {
		return r, true
	}
	verbs.WriteError(w, r, apierrors.NewUnauthorized("Unauthorized"))
	return r, false
}

// firstToken is what the server's own clients send, "" without authentication.
func (s *Server) firstToken() string {
	if len(s.opts.bearers) == 0 {
		return ""
	}
	return s.opts.bearers[0].value
}

// bearing sends the first token with the requests that have none.
func (s *Server) bearing(next http.RoundTripper) http.RoundTripper {
	if token := s.firstToken(); token != "" {
		return transport.NewBearerAuthRoundTripper(token, next)
	}
	return next
}
