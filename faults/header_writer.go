package faults

import (
	"bufio"
	"net"
	"net/http"
)

// headerWriter is a ResponseWriter that changes the header just before it is written, whether the
// handler or a rule writes it.
type headerWriter struct {
	http.ResponseWriter
	changes     []func(http.Header) // in the order of their effects
	wroteHeader bool                // the header is written or the connection hijacked
}

func (w *headerWriter) WriteHeader(code int) {
	if code >= 200 && !w.wroteHeader {
		w.wroteHeader = true
		for _, change := range w.changes {
			change(w.Header())
		}
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *headerWriter) Write(p []byte) (int, error) {
	w.ensureHeader()
	return w.ResponseWriter.Write(p)
}

// ensureHeader writes the header if it has not been written.
func (w *headerWriter) ensureHeader() {
	if !w.wroteHeader {
		w.WriteHeader(http.StatusOK)
	}
}

// Flush implements http.Flusher.
func (w *headerWriter) Flush() { _ = w.FlushError() }

// FlushError implements the Flush of http.ResponseController.
func (w *headerWriter) FlushError() error {
	w.ensureHeader()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack implements http.Hijacker.
func (w *headerWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	w.wroteHeader = w.wroteHeader || err == nil
	return conn, rw, err
}

// Unwrap is used by http.ResponseController.
func (w *headerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// changeHeader applies change to the header of the response before it is written.
func (x *exchange) changeHeader(change func(http.Header)) {
	w, ok := x.w.(*headerWriter)
	if !ok {
		w = &headerWriter{ResponseWriter: x.w}
		x.w = w
	}
	w.changes = append(w.changes, change)
}

// ensureHeader writes the header of a response without a body.
func (x *exchange) ensureHeader() {
	if w, ok := x.w.(*headerWriter); ok {
		w.ensureHeader()
	}
}
