package handlers

import (
	"bytes"

	"example.com/fakeapi/memstore"
)

// maxEcho is the longest body of an echo, in bytes.
const maxEcho = 32 << 10

// echo is a PUT or a patch that has changed nothing of a record. What it does depends
// on the record and on itself alone, so the same request changes nothing of the same
// record again, and need not be worked out: controllers that apply their whole
// configuration time and again send little else (SA-04).
type echo struct {
	method, path, query    string
	contentType, userAgent string
	body                   []byte
}

// echoing gives the record that a request has changed nothing of before, if it still is
// the stored one.
func (a *API) echoing(q *request) *memstore.Record {
	if !q.echoes() {
		return nil
	}
	rec := a.store.View().Get(q.key())
	if rec == nil {
		return nil
	}
	before, ok := a.echoed.of(rec)
	if !ok {
		return nil
	}
	body, err := q.readBody()
	if err != nil || !before.is(q.echo(body)) {
		return nil
	}
	return rec
}

// noteEcho remembers that a request has changed nothing of a record.
func (a *API) noteEcho(q *request, rec *memstore.Record) {
	// Warnings are found while it is worked out, and would be missed.
	if q.echoes() && len(q.bytes) <= maxEcho && len(q.w.Header()["Warning"]) == 0 && len(a.settings.Admission) == 0 {
		a.echoed.note(rec, q.echo(q.bytes))
	}
}

// echoes reports whether a request is answered with the record that it changes.
func (q *request) echoes() bool {
	return q.target.Subresource == "" || q.target.Subresource == "status"
}

func (q *request) echo(body []byte) echo {
	return echo{
		method: q.r.Method, path: q.r.URL.Path, query: q.r.URL.RawQuery,
		contentType: q.r.Header.Get("Content-Type"), userAgent: q.r.UserAgent(), body: body,
	}
}

func (e echo) is(other echo) bool {
	return e.method == other.method && e.path == other.path && e.query == other.query &&
		e.contentType == other.contentType && e.userAgent == other.userAgent && bytes.Equal(e.body, other.body)
}
