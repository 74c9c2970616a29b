package handlers

import (
	"bytes"

	"example.com/fakeapi/memstore"
)

// maxNoopBody is the longest body of an echo, in bytes.
const maxNoopBody = 32 << 10

// noopRequest is a PUT or a patch that has changed nothing of a record. What it does depends
// on the record and on itself alone, so the same request changes nothing of the same
// record again, and need not be worked out: controllers that apply their whole
// configuration time and again send little else (SA-04).
type noopRequest struct {
	method, path, query    string
	contentType, userAgent string
	body                   []byte
}

// findNoop gives the record that a request has changed nothing of before, if it still is
// the stored one.
func (a *API) findNoop(q *request) *memstore.Record {
	if !q.isNoopCacheable() {
		return nil
	}
	rec := a.store.View().Get(q.key())
	if rec == nil {
		return nil
	}
	before, ok := a.noops.lookup(rec)
	if !ok {
		return nil
	}
	body, err := q.readBody()
	if err != nil || !before.equal(q.newNoopRequest(body)) {
		return nil
	}
	return rec
}

// rememberNoop remembers that a request has changed nothing of a record.
func (a *API) rememberNoop(q *request, rec *memstore.Record) {
	// Warnings are found while it is worked out, and would be missed.
	if q.isNoopCacheable() && len(q.bodyBytes) <= maxNoopBody && len(q.w.Header()["Warning"]) == 0 && len(a.settings.Admission) == 0 {
		a.noops.store(rec, q.newNoopRequest(q.bodyBytes))
	}
}

// isNoopCacheable reports whether a request is answered with the record that it changes.
func (q *request) isNoopCacheable() bool {
	return q.info.Subresource == "" || q.info.Subresource == "status"
}

func (q *request) newNoopRequest(body []byte) noopRequest {
	return noopRequest{
		method: q.r.Method, path: q.r.URL.Path, query: q.r.URL.RawQuery,
		contentType: q.r.Header.Get("Content-Type"), userAgent: q.r.UserAgent(), body: body,
	}
}

func (e noopRequest) equal(other noopRequest) bool {
	return e.method == other.method && e.path == other.path && e.query == other.query &&
		e.contentType == other.contentType && e.userAgent == other.userAgent && bytes.Equal(e.body, other.body)
}
