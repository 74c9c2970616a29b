package conformance

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// call is a request to make. Path begins with a slash and may hold a query.
type call struct {
	method, path        string
	body                any // nil: none; a string: as it is; else: encoded as JSON
	contentType, accept string
	encoding            string // of the answer; "" leaves it to the client's transport, which hides it
	agent               string // the User-Agent; "" is the suite's own
	etag                string // what the client has already
	headers             map[string]string
	unprivileged        bool // sends it as a user who may do nothing
}

// chunkedBody is a body that is sent as it is, in chunks, without a word on its length.
type chunkedBody string

// noContentType in place of a content type leaves the header out.
const noContentType = "-"

// noAccept in place of what is accepted leaves that header out.
const noAccept = "-"

func get(path string) call            { return call{method: http.MethodGet, path: path} }
func head(path string) call           { return call{method: http.MethodHead, path: path} }
func post(path string, body any) call { return call{method: http.MethodPost, path: path, body: body} }
func put(path string, body any) call  { return call{method: http.MethodPut, path: path, body: body} }
func del(path string) call            { return call{method: http.MethodDelete, path: path} }

func mergePatch(path string, body any) call { return patch(mergePatchType, path, body) }

// apply is a server-side apply under the suite's own field manager.
func apply(path string, body any) call { return applyAs("conformance", path, body) }

// withFieldManager names the field manager of a write.
func (c call) withFieldManager(manager string) call {
	path, query, _ := strings.Cut(c.path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		panic(err) // of the suite's own call
	}
	values.Set("fieldManager", manager)
	c.path = path + "?" + values.Encode()
	return c
}

// withAccept asks for the answer in another media type than JSON.
func (c call) withAccept(mediaType string) call {
	c.accept = mediaType
	return c
}

// withIfNoneMatch asks for what is not the client's own already.
func (c call) withIfNoneMatch(etag string) call {
	c.etag = etag
	return c
}

// withHeader sends a header, too.
func (c call) withHeader(name, value string) call {
	headers := maps.Clone(c.headers)
	if headers == nil {
		headers = map[string]string{}
	}
	headers[name] = value
	c.headers = headers
	return c
}

// asUnprivileged sends it as a user who may do nothing: of [Config.UnprivilegedClient], or by impersonation.
func (c call) asUnprivileged() call {
	c.unprivileged = true
	return c
}

// clientFor is who sends a call.
func (s *session) clientFor(c call) *http.Client {
	if unprivileged := s.run.config.UnprivilegedClient; c.unprivileged && unprivileged != nil {
		return unprivileged
	}
	return s.run.config.Client
}

// newHTTPRequest builds the HTTP request of a call.
func (s *session) newHTTPRequest(ctx context.Context, c call) (*http.Request, error) {
	var body io.Reader
	switch b := c.body.(type) {
	case nil:
	case string:
		body = strings.NewReader(b)
	case chunkedBody:
		body = io.MultiReader(strings.NewReader(string(b)))
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			return nil, fmt.Errorf("encoding the body: %w", err)
		}
		body = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, c.method, s.run.config.BaseURL+c.path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", cmp.Or(c.agent, "fakeapi-conformance"))
	req.Header.Set("Accept", "application/json")
	switch c.accept {
	case "":
	case noAccept:
		req.Header.Del("Accept")
	default:
		req.Header.Set("Accept", c.accept)
	}
	if c.encoding != "" {
		req.Header.Set("Accept-Encoding", c.encoding)
	}
	if c.etag != "" {
		req.Header.Set("If-None-Match", c.etag)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.unprivileged && s.run.config.UnprivilegedClient == nil {
		req.Header.Set("Impersonate-User", "conformance-unprivileged-"+s.run.id)
	}
	for name, value := range c.headers {
		req.Header.Set(name, value)
	}
	switch c.contentType {
	case "":
	case noContentType:
		req.Header.Del("Content-Type")
	default:
		req.Header.Set("Content-Type", c.contentType)
	}
	return req, nil
}

// do sends a call, reads the whole answer, and holds it against the expectations. The answer is given back with the error too, where there is one.
// A server that is busy, or not ready, is asked again as it says, unless that is what was expected.
func (s *session) do(ctx context.Context, c call, expect ...expectation) (*response, error) {
	for tries := 0; ; tries++ {
		a, err := s.send(ctx, c)
		if err != nil {
			return nil, err
		}
		if a.code == http.StatusCreated {
			s.trackCreated(c.path, a)
		}
		err = a.expect(expect...)
		if err == nil && len(expect) > 0 || !a.waitToRetry(ctx, tries) {
			return a, err
		}
	}
}

// send sends a call, and reads the whole answer.
func (s *session) send(ctx context.Context, c call) (*response, error) {
	ctx, cancel := c.sendContext(ctx)
	defer cancel()
	req, err := s.newHTTPRequest(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", c.method, c.path, err)
	}
	resp, err := s.clientFor(c).Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", c.method, c.path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: reading the answer: %w", c.method, req.URL, err)
	}
	a := &response{method: c.method, url: req.URL.String(), code: resp.StatusCode, header: resp.Header, body: body, chunked: resp.ContentLength < 0}
	if resp.Request != nil {
		a.redirected = resp.Request.URL.Path != req.URL.Path
	}
	return a, nil
}

// maxRetries is how often a server is asked again that is busy: as often as client-go does.
const maxRetries = 10

// waitToRetry waits for as long as an answer asks for that says "not now", and reports whether to ask again. The server did nothing then: it
// has too much to do (ST-05), or the cache in front of its storage is not ready, as after a change of a definition (CD-08, RS-31).
func (a *response) waitToRetry(ctx context.Context, tries int) bool {
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	if a.code != http.StatusTooManyRequests || err != nil || seconds < 0 || tries >= maxRetries {
		return false
	}
	wait := time.NewTimer(time.Duration(seconds) * time.Second)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-wait.C:
		return true
	}
}

// responseTimeout is for how long a write that may create something waits for its answer after its case was cancelled or ran out of time.
const responseTimeout = 5 * time.Second

// sendContext gives the context to send a call under. A write that may create something is not cut off together with its case: what was
// created can only be removed after the answer is there, and one that the client gave up may still be carried out after the clean-up.
func (c call) sendContext(ctx context.Context) (context.Context, context.CancelFunc) {
	switch c.method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
	default:
		return context.WithCancel(ctx)
	}
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		last := time.AfterFunc(responseTimeout, func() { cancel(context.Cause(ctx)) })
		context.AfterFunc(longer, func() { last.Stop() })
	})
	return longer, func() { stop(); cancel(nil) }
}

// expect is do for when only the expectations matter.
func (s *session) expect(ctx context.Context, c call, expect ...expectation) error {
	_, err := s.do(ctx, c, expect...)
	return err
}

// concurrent sends calls side by side, and gives the answers in the order of the calls once all are there.
func (s *session) doConcurrently(ctx context.Context, calls []call) ([]*response, error) {
	answers, failed := make([]*response, len(calls)), make([]error, len(calls))
	var sent sync.WaitGroup
	for i, one := range calls {
		sent.Go(func() { answers[i], failed[i] = s.do(withConcurrentIndex(ctx, i+1), one) })
	}
	sent.Wait()
	return answers, errors.Join(failed...)
}

// doObject is do for when the answer should be an object.
func (s *session) doObject(ctx context.Context, c call, expect ...expectation) (metav1.PartialObjectMetadata, error) {
	var o metav1.PartialObjectMetadata
	a, err := s.do(ctx, c, expect...)
	if err == nil {
		err = a.decode(&o)
	}
	return o, err
}

// response is what the server said to a call.
type response struct {
	method, url string
	code        int
	header      http.Header
	body        []byte
	chunked     bool // it came without a length
	redirected  bool // it is that of another path
}

// decode reads the body as JSON.
func (a *response) decode(into any) error {
	if err := json.Unmarshal(a.body, into); err != nil {
		return a.errorf("expected JSON: %w", err)
	}
	return nil
}

// errorf is an error about this answer: what was asked, what is wrong, and what was answered.
func (a *response) errorf(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return fmt.Errorf("%s %s: %w; the answer was %d %s %s", a.method, a.url, err, a.code, a.header.Get("Content-Type"), excerpt(a.body))
}

// expect gives the first expectation that the answer does not meet.
func (a *response) expect(expect ...expectation) error {
	for _, e := range expect {
		if err := e(a); err != nil {
			return a.errorf("%w", err)
		}
	}
	return nil
}

// excerpt is the beginning of a body, on one line.
func excerpt(body []byte) string {
	const limit = 600
	text := strings.Join(strings.Fields(string(body)), " ")
	if len(text) > limit {
		text = text[:limit] + "…"
	}
	return text
}
