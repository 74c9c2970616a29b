package fakeapi

import (
	"log"
	"net/http"
	"runtime/debug"
)

// withPanicRecovery turns a panic into a 500 and logs the stack (HT-11). If the response has
// started, or the panic is http.ErrAbortHandler, it aborts the connection.
func withPanicRecovery(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
		next.ServeHTTP(w, r)
	})
}
