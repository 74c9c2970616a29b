package fakeapi

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/serviceaccount"
	"example.com/fakeapi/fake/internal/status"
)

// isOpenIDPath reports whether a path is one of the documents about the tokens of service accounts.
func isOpenIDPath(path string) bool {
	path = strings.TrimSuffix(path, "/")
	return path == serviceaccount.OpenIDConfigurationPath || path == serviceaccount.JWKSPath
}

// serveOpenID serves the documents by which clients verify the tokens of service accounts
// (KEP-1393). With an issuer that is no URL of https there are none.
func (s *Server) serveOpenID(w http.ResponseWriter, r *http.Request) {
	configuration, err := s.serviceAccountKeys.OpenIDConfiguration(s.listener.Addr().String())
	if err != nil {
		http.NotFound(w, r)
		return
	}
	body, contentType := configuration, runtime.ContentTypeJSON
	if strings.HasPrefix(r.URL.Path, serviceaccount.JWKSPath) {
		contentType = "application/jwk-set+json"
		if body, err = s.serviceAccountKeys.JWKS(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	switch {
	case r.Method != http.MethodGet:
		handlers.WriteError(w, r, status.MethodNotAllowed())
		return
	case !negotiate.Accepts(r, contentType):
		handlers.WriteError(w, r, status.NoAcceptableMediaType(contentType))
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header()["Cache-Control"] = []string{"public, max-age=3600"}
	_, _ = w.Write(body)
}
