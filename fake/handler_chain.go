package fakeapi

import (
	"net/http"

	"example.com/fakeapi/internal/requestinfo"
)

// filter is where a request stops on its way in: it goes on, perhaps as another, or has been
// answered, which is false.
type filter func(w http.ResponseWriter, r *http.Request, t requestinfo.RequestInfo) (*http.Request, bool)

// newFilters are the filters of the front door, in the order of a real server (apiserver
// config.go, DefaultBuildHandlerChain): whose request it is and whether that may be done is
// known before anybody looks whether there is what it is about (AU-03).
func (s *Server) newFilters() []filter {
	var filters []filter
	if s.authenticator != nil {
		filters = append(filters, s.authenticate)
	}
	filters = append(filters, s.impersonate)
	if s.opts.authorizer != nil {
		filters = append(filters, s.authorize)
	}
	return append(filters, s.awaitStart)
}

// runFilters takes a request through the filters. If one of them has answered it is false.
func (s *Server) runFilters(w http.ResponseWriter, r *http.Request, t requestinfo.RequestInfo) (*http.Request, bool) {
	for _, f := range s.filters {
		var ok bool
		if r, ok = f(w, r, t); !ok {
			return r, false
		}
	}
	return r, true
}
