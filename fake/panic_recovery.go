package fakeapi

import (
	"cmp"
	"log/slog"
	"net/http"
	"runtime/debug"

	"example.com/fakeapi/internal/requestinfo"
)

// withPanicRecovery turns a panic into a 500 and logs the stack (HT-11). If the response has
// started, or the panic is http.ErrAbortHandler, it aborts the connection. A nil logger is
// slog.Default.
func withPanicRecovery(next http.Handler, logger *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			reason := recover()
			if reason == nil {
				return
			}
			if reason != http.ErrAbortHandler {
				cmp.Or(logger, slog.Default()).Error("fakeapi: panic serving a request", "method", r.Method, "url", requestinfo.RedactURI(r.URL.String()), "panic", reason, "stack", string(debug.Stack()))
			}
			if reason == http.ErrAbortHandler || w.Header().Get("Content-Type") != "" {
				panic(http.ErrAbortHandler)
			}
			http.Error(w, "This request caused apiserver to panic. Look in the logs for details.", http.StatusInternalServerError)
		}()
		next.ServeHTTP(w, r)
	})
}
