package timeline

import (
	"net/http"

	"example.com/fakeapi/internal/frames"
	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/internal/responsewriter"
)

// responseWriter records a response. It passes everything on at once and records copies.
type responseWriter struct {
	responsewriter.Status
	x       *recording
	pool    *bodyPool
	evict   func()
	changes *changes
	request *http.Request
	wrote   bool // WriteHeader was called
}

// recordHeader records the code and the media type.
func (w *responseWriter) recordHeader(code int) {
	if w.wrote || code < http.StatusOK {
		return
	}
	w.wrote = true
	media := frames.MediaType(w.Header().Get("Content-Type"))
	var s *stream
	if code == http.StatusOK && requestinfo.FromRequest(w.request).Verb == requestinfo.Watch {
		if split := frames.NewSplitter(media); split != nil {
			s = &stream{split: split}
		}
	}
	defer w.changes.notify()
	w.x.mu.Lock()
	defer w.x.mu.Unlock()
	w.x.code, w.x.answerType, w.x.stream = code, media, s
	w.x.user = requestinfo.UserName(w.request.Context())
}

// WriteHeader implements http.ResponseWriter.
func (w *responseWriter) WriteHeader(code int) {
	w.recordHeader(code)
	w.Status.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *responseWriter) Write(p []byte) (int, error) {
	w.recordHeader(http.StatusOK)
	if w.record(p) {
		w.evict()
	}
	return w.ResponseWriter.Write(p)
}

// record copies bytes of the response, and reports whether the pool exceeds its limit. The response
// to a HEAD has no body.
func (w *responseWriter) record(p []byte) (full bool) {
	w.x.mu.Lock()
	defer w.x.mu.Unlock()
	switch {
	case w.x.stream != nil:
		return w.x.stream.write(p, w.pool)
	case w.request.Method != http.MethodHead:
		w.x.answer.add(p)
	}
	return false
}

// Flush implements http.Flusher.
func (w *responseWriter) Flush() { _ = w.FlushError() }

// FlushError is Flush for http.ResponseController.
func (w *responseWriter) FlushError() error {
	w.recordHeader(http.StatusOK)
	w.recordFlush()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// recordFlush ends a burst of the stream.
func (w *responseWriter) recordFlush() {
	w.x.mu.Lock()
	defer w.x.mu.Unlock()
	if w.x.stream != nil {
		w.x.stream.burst = 0
	}
}
