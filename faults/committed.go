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

// bufferedResponse is the finished answer of a handler, held back. It is the
// ResponseWriter of that handler.
type bufferedResponse struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (a *bufferedResponse) Header() http.Header { return a.header }

// WriteHeader keeps the first final code; informational ones (1xx) are not held.
func (a *bufferedResponse) WriteHeader(code int) {
	if a.code == 0 && code >= 200 {
		a.code = code
	}
}

func (a *bufferedResponse) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// Flush does nothing: that nothing is sent yet is the point.
func (a *bufferedResponse) Flush() {}

// writeTo writes the answer to w.
func (a *bufferedResponse) writeTo(w http.ResponseWriter) {
	a.writeHeaderTo(w)
	// A client that has left is noticed by the server, as without this detour.
	_, _ = w.Write(a.body.Bytes())
}

// writeHeaderTo writes code and header to w, in place of what headers w had.
func (a *bufferedResponse) writeHeaderTo(w http.ResponseWriter) {
	h := w.Header()
	clear(h)
	maps.Copy(h, a.header)
	w.WriteHeader(a.code)
}

// setBody puts another body in place of the one that is there.
func (a *bufferedResponse) setBody(body []byte) {
	a.body.Reset()
	a.body.Write(body)
	if a.header.Get("Content-Length") != "" {
		a.header.Set("Content-Length", strconv.Itoa(len(body)))
	}
}

// decompress undoes the compression that API servers know, for who wants to read.
func (a *bufferedResponse) decompress() error {
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
	a.setBody(plain)
	return nil
}

// serveCommitted lets next finish, and then the rules decide what the client
// gets to see of it.
func serveCommitted(x *exchange, next http.Handler) outcome {
	a := &bufferedResponse{header: x.w.Header().Clone()}
	if a.header == nil {
		a.header = http.Header{}
	}
	next.ServeHTTP(a, x.r)
	if a.code == 0 {
		a.code = http.StatusOK
	}
	op := x.op
	op.Phase, op.Code = Committed, a.code
	o := x.applyRules(x.set.rules(), op, func(e Effect) outcome { return e.(committedEffect).applyCommitted(x, a) })
	if o == proceed {
		a.writeTo(x.w)
	}
	return o
}
