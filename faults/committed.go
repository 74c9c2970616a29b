package faults

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
)

// answer is the finished answer of a handler, held back. It is the
// ResponseWriter of that handler.
type answer struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }

// WriteHeader keeps the first final code; informational ones (1xx) are not held.
func (a *answer) WriteHeader(code int) {
	if a.code == 0 && code >= 200 {
		a.code = code
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// Flush does nothing: that nothing is sent yet is the point.
func (a *answer) Flush() {}

// send writes the answer to w.
func (a *answer) send(w http.ResponseWriter) {
	a.sendHeader(w)
	// A client that has left is noticed by the server, as without this detour.
	_, _ = w.Write(a.body.Bytes())
}

// sendHeader writes code and header to w, in place of what headers w had.
func (a *answer) sendHeader(w http.ResponseWriter) {
	h := w.Header()
	clear(h)
	maps.Copy(h, a.header)
	w.WriteHeader(a.code)
}

// replace puts another body in place of the one that is there.
func (a *answer) replace(body []byte) {
	a.body.Reset()
	a.body.Write(body)
	if a.header.Get("Content-Length") != "" {
		a.header.Set("Content-Length", strconv.Itoa(len(body)))
	}
}

// inflate undoes the compression that API servers know, for who wants to read.
func (a *answer) inflate() error {
	switch encoding := a.header.Get("Content-Encoding"); encoding {
	case "", "identity":
		return nil
	case "gzip":
	default:
		return fmt.Errorf("a body in %s cannot be read", encoding)
	}
	r, err := gzip.NewReader(&a.body)
	if err != nil {
		return fmt.Errorf("the body is no gzip: %w", err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("the body is no gzip: %w", err)
	}
	a.header.Del("Content-Encoding")
	a.replace(plain)
	return nil
}

// serveCommitted lets next finish, and then the rules decide what the client
// gets to see of it.
func serveCommitted(x *exchange, next http.Handler) outcome {
	a := &answer{header: x.w.Header().Clone()}
	if a.header == nil {
		a.header = http.Header{}
	}
	next.ServeHTTP(a, x.r)
	if a.code == 0 {
		a.code = http.StatusOK
	}
	op := x.op
	op.Phase, op.Code = Committed, a.code
	o := x.strike(x.set.load(), op, func(e Effect) outcome { return e.(committedEffect).committed(x, a) })
	if o == proceed {
		a.send(x.w)
	}
	return o
}
