package timeline

import (
	"net/http"

	"example.com/fakeapi/internal/frames"
	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/internal/responsewriter"
)

// responseWriter is the ResponseWriter of a request that is recorded. It passes on everything
// at once; what is kept are copies.
type responseWriter struct {
	responsewriter.Status
	x       *recording
	pool    *bodyPool
	evict   func()
	request *http.Request
	wrote   bool // the header is written
}

// recordHeader notes the code, and what will follow.
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
	w.x.mu.Lock()
	defer w.x.mu.Unlock()
	w.x.code, w.x.answerType, w.x.stream = code, media, s
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

// record copies what is kept of an answer, and reports whether the pool is too full. A
// HEAD has none.
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

// recordFlush tells the stream of a watch that its client gets what was written.
func (w *responseWriter) recordFlush() {
	w.x.mu.Lock()
	defer w.x.mu.Unlock()
	if w.x.stream != nil {
		w.x.stream.burst = 0
	}
}
