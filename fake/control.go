package fakeapi

import (
	"net/http"

	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/fake/internal/verbs"
)

// controlPrefix is where the control API lives: server methods for tests that
// are not written in Go.
const controlPrefix = "/fakeapi/v1/"

// serveControl answers the control API:
//
//	POST /fakeapi/v1/compact  Server.Compact; answers 204
func (s *Server) serveControl(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case controlPrefix + "compact":
		if r.Method != http.MethodPost {
			verbs.WriteError(w, r, status.MethodNotAllowed())
			return
		}
		s.Compact()
		w.WriteHeader(http.StatusNoContent)
	default:
		http.NotFound(w, r)
	}
}
