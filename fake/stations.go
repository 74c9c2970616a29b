package fakeapi

import (
	"net/http"

	"example.com/fakeapi/internal/requestinfo"
)

// station is where a request stops on its way in: it goes on, perhaps as another, or has been
// answered, which is false.
type station func(w http.ResponseWriter, r *http.Request, t requestinfo.RequestInfo) (*http.Request, bool)

// newStations are the stations of the front door, in the order of a real server (apiserver
// config.go, DefaultBuildHandlerChain): whose request it is and whether that may be done is
// known before anybody looks whether there is what it is about (AU-03).
func (s *Server) newStations() []station {
	var stations []station
	if s.way != nil {
		stations = append(stations, s.authenticate)
	}
	stations = append(stations, s.impersonate)
	if s.opts.authorizer != nil {
		stations = append(stations, s.authorize)
	}
	return append(stations, s.awaitStart)
}

// pass takes a request through the stations. If one of them has answered it is false.
func (s *Server) pass(w http.ResponseWriter, r *http.Request, t requestinfo.RequestInfo) (*http.Request, bool) {
	for _, station := range s.stations {
		var ok bool
		if r, ok = station(w, r, t); !ok {
			return r, false
		}
	}
	return r, true
}
