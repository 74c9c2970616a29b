package faults

import (
	"bufio"
	"net"
	"net/http"
)

// headerWriter is a ResponseWriter whose header is changed at the last moment,
// behind whoever writes the answer: the handler, or a rule.
type headerWriter struct {
	http.ResponseWriter
	changes     []func(http.Header) // in the order of their effects
	wroteHeader bool                // the header is written, or the connection taken over
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

// ensureHeader writes the header, if nobody has.
func (d *headerWriter) ensureHeader() {
	if !d.wroteHeader {
		d.WriteHeader(http.StatusOK)
	}
}

// Flush sends what was written.
func (d *headerWriter) Flush() { _ = d.FlushError() }

// FlushError is Flush for http.ResponseController.
func (d *headerWriter) FlushError() error {
	d.ensureHeader()
	return http.NewResponseController(d.ResponseWriter).Flush()
}

// Hijack is for handlers that take over the connection.
func (d *headerWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(d.ResponseWriter).Hijack()
	d.wroteHeader = d.wroteHeader || err == nil
	return conn, rw, err
}

// Unwrap is for http.ResponseController.
func (d *headerWriter) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// changeHeader has the header of the answer changed, whoever writes it.
func (x *exchange) changeHeader(change func(http.Header)) {
	d, ok := x.w.(*headerWriter)
	if !ok {
		d = &headerWriter{ResponseWriter: x.w}
		x.w = d
	}
	d.changes = append(d.changes, change)
}

// ensureHeader completes an answer that is written in full.
func (x *exchange) ensureHeader() {
	if d, ok := x.w.(*headerWriter); ok {
		d.ensureHeader()
	}
}
