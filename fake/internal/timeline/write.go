package timeline

import (
	"net/http"

	"example.com/fakeapi/internal/frames"
)

// writer is the ResponseWriter of a request that is recorded. It passes on everything
// at once; what is kept are copies.
type writer struct {
	http.ResponseWriter
	x       *recording
	pool    *pool
	tidy    func()
	request *http.Request
	wrote   bool // the header is written
}

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// head notes the code, and what will follow.
func (w *writer) head(code int) {
	if w.wrote || code < http.StatusOK {
		return
	}
	w.wrote = true
	media := frames.MediaType(w.Header().Get("Content-Type"))
	var s *stream
	if code == http.StatusOK && watches(w.request) {
		if split := frames.NewSplitter(media); split != nil {
			s = &stream{split: split}
		}
	}
	w.x.mu.Lock()
	defer w.x.mu.Unlock()
	w.x.code, w.x.answerType, w.x.stream = code, media, s
}

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(code int) {
	w.head(code)
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *writer) Write(p []byte) (int, error) {
	w.head(http.StatusOK)
	if w.keep(p) {
		w.tidy()
	}
	return w.ResponseWriter.Write(p)
}

// keep copies what is kept of an answer, and reports whether the pool is too full. A
// HEAD has none.
func (w *writer) keep(p []byte) (full bool) {
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
func (w *writer) Flush() { _ = w.FlushError() }

// FlushError is Flush for http.ResponseController.
func (w *writer) FlushError() error {
	w.head(http.StatusOK)
	w.flushed()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// flushed tells the stream of a watch that its client gets what was written.
func (w *writer) flushed() {
	w.x.mu.Lock()
	defer w.x.mu.Unlock()
	if w.x.stream != nil {
		w.x.stream.burst = 0
	}
}
