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
//	POST /fakeapi/v1/settle   Server.Settle; answers 204, or 500 with what has failed
func (s *Server) serveControl(w http.ResponseWriter, r *http.Request) {
	var do func() error
	switch r.URL.Path {
	case controlPrefix + "compact":
		do = func() error {
			s.Compact()
			return nil
		}
	case controlPrefix + "settle":
		do = func() error { return s.Settle(r.Context()) }
	default:
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodPost {
		verbs.WriteError(w, r, status.MethodNotAllowed())
		return
	}
	if err := do(); err != nil {
		verbs.WriteError(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
