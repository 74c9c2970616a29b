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

func (d *headerWriter) WriteHeader(code int) {
	if code >= 200 && !d.wroteHeader {
		d.wroteHeader = true
		for _, change := range d.changes {
			change(d.Header())
		}
	}
	d.ResponseWriter.WriteHeader(code)
}

func (d *headerWriter) Write(p []byte) (int, error) {
	d.ensureHeader()
	return d.ResponseWriter.Write(p)
}

// ensureHeader writes the header if it has not been written.
func (d *headerWriter) ensureHeader() {
	if !d.wroteHeader {
		d.WriteHeader(http.StatusOK)
	}
}

// Flush implements http.Flusher.
func (d *headerWriter) Flush() { _ = d.FlushError() }

// FlushError implements the Flush of http.ResponseController.
func (d *headerWriter) FlushError() error {
	d.ensureHeader()
	return http.NewResponseController(d.ResponseWriter).Flush()
}

// Hijack implements http.Hijacker.
func (d *headerWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(d.ResponseWriter).Hijack()
	d.wroteHeader = d.wroteHeader || err == nil
	return conn, rw, err
}

// Unwrap is used by http.ResponseController.
func (d *headerWriter) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// changeHeader applies change to the header of the response before it is written.
func (x *exchange) changeHeader(change func(http.Header)) {
	d, ok := x.w.(*headerWriter)
	if !ok {
		d = &headerWriter{ResponseWriter: x.w}
		x.w = d
	}
	d.changes = append(d.changes, change)
}

// ensureHeader writes the header of a response without a body.
func (x *exchange) ensureHeader() {
	if d, ok := x.w.(*headerWriter); ok {
		d.ensureHeader()
	}
}
