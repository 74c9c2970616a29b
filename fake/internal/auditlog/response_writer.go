package auditlog

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"sync"

	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
)

// responseWriter sets the status code of the event before the response starts.
type responseWriter struct {
	http.ResponseWriter
	ctx  context.Context
	once sync.Once
	// logsStart reports whether the stage ResponseStarted is logged.
	logsStart bool
}

func newResponseWriter(ctx context.Context, w http.ResponseWriter, logsStart bool) *responseWriter {
	return &responseWriter{ResponseWriter: w, ctx: ctx, logsStart: logsStart}
}

func (w *responseWriter) start(code int) {
	w.once.Do(func() {
		ac := audit.AuditContextFrom(w.ctx)
		ac.SetEventResponseStatusCode(int32(code))
		if w.logsStart {
			ac.ProcessEventStage(w.ctx, auditinternal.StageResponseStarted)
		}
	})
}

// Unwrap returns the ResponseWriter, for http.ResponseController.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *responseWriter) WriteHeader(code int) {
	if code >= http.StatusOK || code == http.StatusSwitchingProtocols {
		w.start(code)
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *responseWriter) Write(b []byte) (int, error) {
	w.start(http.StatusOK)
	return w.ResponseWriter.Write(b)
}

// FlushError flushes the response, for http.ResponseController.
func (w *responseWriter) FlushError() error {
	w.start(http.StatusOK)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack implements http.Hijacker.
func (w *responseWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.start(http.StatusSwitchingProtocols)
	return http.NewResponseController(w.ResponseWriter).Hijack()
}
