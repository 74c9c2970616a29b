package compare

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"

	"example.com/fakeapi/conformance"
)

// exchange is a request of a case and its response.
type exchange struct {
	purpose      conformance.RequestPurpose
	method, path string // path and query, relative to the base URL
	header       http.Header
	code         int // 0 if there was no response
	answer       http.Header
	err          error // the transport's error, if there was no response

	mu       sync.Mutex // guards the fields below while a body is read
	sent     []byte
	received []byte
	// sentAll is set when the transport has read the request body to its end, ended when the case
	// has read the response body to its end.
	sentAll, ended bool
}

// recorder is a transport that records the exchanges of cases.
type recorder struct {
	next   http.RoundTripper
	prefix string // the path of the base URL

	mu    sync.Mutex // guards the fields below
	cases map[string][]*exchange
}

func newRecorder(next http.RoundTripper, prefix string) *recorder {
	return &recorder{next: next, prefix: strings.TrimRight(prefix, "/"), cases: map[string][]*exchange{}}
}

// remove removes and returns the exchanges of a case.
func (r *recorder) remove(id string) []*exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.cases[id]
	delete(r.cases, id)
	return all
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	place := conformance.RequestPurposeFrom(request.Context())
	if place.Case == "" || place.Cleanup {
		return r.next.RoundTrip(request)
	}
	one := &exchange{
		purpose: place, method: request.Method, header: request.Header.Clone(),
		path: strings.TrimPrefix(request.URL.RequestURI(), r.prefix),
	}
	r.add(one)
	if request.Body != nil {
		request = request.Clone(request.Context())
		request.Body = &copyingBody{ReadCloser: request.Body, mu: &one.mu, onRead: func(p []byte, err error) {
			one.sent = append(one.sent, p...)
			one.sentAll = one.sentAll || err == io.EOF || int64(len(one.sent)) == request.ContentLength
		}}
	}
	response, err := r.next.RoundTrip(request)
	if err != nil {
		one.err = err
		return nil, err
	}
	one.code, one.answer = response.StatusCode, response.Header.Clone()
	if response.Uncompressed { // the transport removes the header when it decompresses
		one.answer.Set("Content-Encoding", "gzip")
	}
	body := copyingBody{ReadCloser: response.Body, mu: &one.mu, onRead: func(p []byte, err error) {
		one.received = append(one.received, p...)
		one.ended = one.ended || err == io.EOF
	}}
	response.Body = &body
	if both, ok := body.ReadCloser.(io.ReadWriteCloser); ok { // a connection that was upgraded
		response.Body = &copyingConn{body, both}
	}
	return response, nil
}

func (r *recorder) add(one *exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cases[one.purpose.Case] = append(r.cases[one.purpose.Case], one)
}

// copyingBody copies what is read from a body.
type copyingBody struct {
	io.ReadCloser
	mu     *sync.Mutex
	onRead func(p []byte, err error)
}

// Read implements io.Reader.
func (c *copyingBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onRead(p[:n], err)
	return n, err
}

// copyingConn is a copyingBody that can also be written to.
type copyingConn struct {
	copyingBody
	io.Writer
}

// request returns the body that was sent, or nil if it was not sent completely.
func (e *exchange) request() []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.sentAll {
		return nil
	}
	return bytes.Clone(e.sent)
}

// response returns the part of the body that was read and reports whether it is complete.
func (e *exchange) response() (body []byte, all bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return bytes.Clone(e.received), e.ended
}
