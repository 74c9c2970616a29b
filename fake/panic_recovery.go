package fakeapi

import (
	"log"
	"net/http"
	"runtime/debug"

	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/fake/internal/negotiate"
)

// withRequestDefaults is the way in for every request, behind all faults: it sets what every
// answer carries, gives the request its time, and survives those who serve it.
func (s *Server) withRequestDefaults() http.Handler {
	serve := withPanicRecovery(s.route)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.setCommonHeaders(w, r)
		if s.opts.cbor {
			r = negotiate.WithCBOR(r)
		}
		timeout, err := timeoutParam(r)
		if err == nil && timeout == 0 && len(s.opts.admission) > 0 && !isLongRunningRequest(r) {
			timeout = requestTimeout // the functions of a test may take any time
		}
		switch {
		case err != nil:
			handlers.WriteError(w, r, err)
		case timeout > 0:
			s.withTimeout(timeout, serve).ServeHTTP(w, r)
		default:
			serve(w, r)
		}
	})
}

// withPanicRecovery answers for a handler that panics (HT-11) and logs where it did, as net/http
// does. An answer that has begun is broken off; so is one that wants to be.
func withPanicRecovery(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			reason := recover()
			if reason == nil {
				return
			}
			if reason != http.ErrAbortHandler {
				log.Printf("fakeapi: panic serving %s %s: %v\n%s", r.Method, r.URL, reason, debug.Stack())
			}
			if reason == http.ErrAbortHandler || w.Header().Get("Content-Type") != "" {
				panic(http.ErrAbortHandler)
			}
			http.Error(w, "This request caused apiserver to panic. Look in the logs for details.", http.StatusInternalServerError)
		}()
		next(w, r)
	}
}
