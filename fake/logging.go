package fakeapi

import (
	"errors"
	"io"
	"log"
	"log/slog"
	"net/http"
	"time"

	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/internal/responsewriter"
)

// WithLogger sets the logger of the server. Panics of handlers are logged at the level Error,
// requests and errors of connections at the level Debug. The default is slog.Default for panics
// only.
func WithLogger(logger *slog.Logger) Option {
	return func(o *options) error {
		if logger == nil {
			return errors.New("fakeapi: WithLogger needs a logger")
		}
		o.logger = logger
		return nil
	}
}

// withRequestLogging logs each request with its status code and duration when it is complete.
func (s *Server) withRequestLogging(next http.Handler) http.Handler {
	logger := s.opts.logger
	if logger == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !logger.Enabled(r.Context(), slog.LevelDebug) {
			next.ServeHTTP(w, r)
			return
		}
		recorder, ok := w.(responsewriter.Recorder) // that of the timeline
		if !ok {
			recorder = &responsewriter.Status{ResponseWriter: w}
		}
		begin := time.Now()
		completed := false
		defer func() {
			info := requestinfo.FromRequest(r)
			logger.DebugContext(r.Context(), "request",
				"method", r.Method, "url", requestinfo.RedactURI(r.URL.String()), "verb", info.Verb, "resource", info.Resource,
				"user", requestinfo.UserName(r.Context()), "userAgent", r.UserAgent(),
				"code", responseCode(recorder, r, completed), "duration", time.Since(begin))
		}()
		next.ServeHTTP(recorder, r)
		completed = true
	})
}

// connectionLogger returns the logger for net/http, which logs clients that close connections.
func (o *options) connectionLogger() *log.Logger {
	if o.logger == nil {
		return log.New(io.Discard, "", 0)
	}
	return slog.NewLogLogger(o.logger.Handler(), slog.LevelDebug)
}
