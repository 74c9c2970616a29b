package faults

import (
	"bytes"
	"maps"
	"net/http"
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

// send writes the answer to w, in place of what headers w had.
func (a *answer) send(w http.ResponseWriter) {
	h := w.Header()
	clear(h)
	maps.Copy(h, a.header)
	w.WriteHeader(a.code)
	// A client that has left is noticed by the server, as without this detour.
	_, _ = w.Write(a.body.Bytes())
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
	o := x.set.strike(x.set.load(), op, func(e Effect) outcome { return e.(committedEffect).committed(x, a) })
	if o == proceed {
		a.send(x.w)
	}
	return o
}
