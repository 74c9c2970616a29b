package compare

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"

	"example.com/fakeapi/conformance"
)

// recorded is a request of a case and what came back, as the case saw it.
type recorded struct {
	place        conformance.RequestPurpose
	method, path string // path and query, behind the base URL
	header       http.Header
	code         int // 0 if there was no answer
	answer       http.Header
	err          error // why there was none

	mu   sync.Mutex // guards what is below, while a body is read
	sent []byte
	got  []byte
	// sentAll: the transport has read the body of the request to its end. ended: the case has read the answer to the end that the server
	// gave it.
	sentAll, ended bool
}

// recorder is a transport that takes down the exchanges of cases.
type recorder struct {
	next   http.RoundTripper
	prefix string // the path of the base URL

	mu    sync.Mutex // guards what is below
	cases map[string][]*recorded
}

func newRecorder(next http.RoundTripper, prefix string) *recorder {
	return &recorder{next: next, prefix: strings.TrimRight(prefix, "/"), cases: map[string][]*recorded{}}
}

// take gives the exchanges of a case, and forgets them.
func (r *recorder) take(id string) []*recorded {
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
	one := &recorded{
		place: place, method: request.Method, header: request.Header.Clone(),
		path: strings.TrimPrefix(request.URL.RequestURI(), r.prefix),
	}
	r.add(one)
	if request.Body != nil {
		request = request.Clone(request.Context())
		request.Body = &copied{ReadCloser: request.Body, mu: &one.mu, keep: func(p []byte, err error) {
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
	if response.Uncompressed { // the transport has hidden it
		one.answer.Set("Content-Encoding", "gzip")
	}
	body := copied{ReadCloser: response.Body, mu: &one.mu, keep: func(p []byte, err error) {
		one.got = append(one.got, p...)
		one.ended = one.ended || err == io.EOF
	}}
	response.Body = &body
	if both, ok := body.ReadCloser.(io.ReadWriteCloser); ok { // of a connection that was upgraded
		response.Body = &copiedBothWays{body, both}
	}
	return response, nil
}

func (r *recorder) add(one *recorded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cases[one.place.Case] = append(r.cases[one.place.Case], one)
}

// copied is a body whose reader is looked over the shoulder.
type copied struct {
	io.ReadCloser
	mu   *sync.Mutex
	keep func(p []byte, err error)
}

// Read implements io.Reader.
func (c *copied) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(p[:n], err)
	return n, err
}

// copiedBothWays can be written to as well.
type copiedBothWays struct {
	copied
	io.Writer
}

// request is the body that was sent, nil if the server has answered before it had all of it.
func (e *recorded) request() []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.sentAll {
		return nil
	}
	return bytes.Clone(e.sent)
}

// response is the body that was read, and whether that is all of it.
func (e *recorded) response() (body []byte, all bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return bytes.Clone(e.got), e.ended
}
