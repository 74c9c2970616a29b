package fakeapi

import (
	"log"
	"net/http"
	"runtime/debug"

	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/fake/internal/negotiate"
)

// receiver is the way in for every request, behind all faults: it sets what every
// answer carries, gives the request its time, and survives those who serve it.
func (s *Server) receiver() http.Handler {
	serve := survivor(s.route)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.dress(w, r)
		if s.opts.cbor {
			r = negotiate.WithCBOR(r)
		}
		most, err := allotted(r)
		if err == nil && most == 0 && len(s.opts.admission) > 0 && !longRunning(r) {
			most = requestTimeout // the functions of a test may take any time
		}
		switch {
		case err != nil:
			handlers.WriteError(w, r, err)
		case most > 0:
			s.within(most, serve).ServeHTTP(w, r)
		default:
			serve(w, r)
		}
	})
}

// survivor answers for a handler that panics (HT-11) and logs where it did, as net/http
// does. An answer that has begun is broken off; so is one that wants to be.
func survivor(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if cause != http.ErrAbortHandler {
				log.Printf("fakeapi: panic serving %s %s: %v\n%s", r.Method, r.URL, cause, debug.Stack())
			}
			if cause == http.ErrAbortHandler || w.Header().Get("Content-Type") != "" {
				panic(http.ErrAbortHandler)
			}
			http.Error(w, "This request caused apiserver to panic. Look in the logs for details.", http.StatusInternalServerError)
		}()
		next(w, r)
	}
}
