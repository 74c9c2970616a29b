package faults

import (
	"bufio"
	"net"
	"net/http"
)

// decorated is a ResponseWriter whose header is changed at the last moment,
// behind whoever writes the answer: the handler, or a rule.
type decorated struct {
	http.ResponseWriter
	changes []func(http.Header) // in the order of their effects
	done    bool                // the header is written, or the connection taken over
}

func (d *decorated) WriteHeader(code int) {
	if code >= 200 && !d.done {
		d.done = true
		for _, change := range d.changes {
			change(d.Header())
		}
	}
	d.ResponseWriter.WriteHeader(code)
}

func (d *decorated) Write(p []byte) (int, error) {
	d.finish()
	return d.ResponseWriter.Write(p)
}

// finish writes the header, if nobody has.
func (d *decorated) finish() {
	if !d.done {
		d.WriteHeader(http.StatusOK)
	}
}

// Flush sends what was written.
func (d *decorated) Flush() { _ = d.FlushError() }

// FlushError is Flush for http.ResponseController.
func (d *decorated) FlushError() error {
	d.finish()
	return http.NewResponseController(d.ResponseWriter).Flush()
}

// Hijack is for handlers that take over the connection.
func (d *decorated) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(d.ResponseWriter).Hijack()
	d.done = d.done || err == nil
	return conn, rw, err
}

// Unwrap is for http.ResponseController.
func (d *decorated) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// decorate has the header of the answer changed, whoever writes it.
func (x *exchange) decorate(change func(http.Header)) {
	d, ok := x.w.(*decorated)
	if !ok {
		d = &decorated{ResponseWriter: x.w}
		x.w = d
	}
	d.changes = append(d.changes, change)
}

// finish completes an answer that is written in full.
func (x *exchange) finish() {
	if d, ok := x.w.(*decorated); ok {
		d.finish()
	}
}
