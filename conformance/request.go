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

	"example.com/fakeapi/internal/printable"
)

// call is a request to send. Its path begins with a slash and may have a query.
type call struct {
	method, path        string
	body                any // nil: none; a string: sent unchanged; otherwise encoded as JSON
	contentType, accept string
	encoding            string // Accept-Encoding; "" leaves compression to the client's transport
	agent               string // User-Agent; "" is the default of the suite
	etag                string // If-None-Match
	headers             map[string]string
	unprivileged        bool         // send it as a user without permissions
	impersonated        *identity    // send it as this user; nil for the client's own
	client              *http.Client // nil for that of the configuration
}

// chunkedBody is a body that is sent unchanged and chunked, without a Content-Length.
type chunkedBody string

// noContentType as content type omits the header.
const noContentType = "-"

// noAccept as accepted media type omits the header.
const noAccept = "-"

func get(path string) call            { return call{method: http.MethodGet, path: path} }
func head(path string) call           { return call{method: http.MethodHead, path: path} }
func post(path string, body any) call { return call{method: http.MethodPost, path: path, body: body} }
func put(path string, body any) call  { return call{method: http.MethodPut, path: path, body: body} }
func del(path string) call            { return call{method: http.MethodDelete, path: path} }

func mergePatch(path string, body any) call { return patch(mergePatchType, path, body) }

// apply returns a server-side apply with the default field manager of the suite.
func apply(path string, body any) call { return applyAs("conformance", path, body) }

// withFieldManager sets the field manager of a write.
func (c call) withFieldManager(manager string) call {
	path, query, _ := strings.Cut(c.path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		panic(err) // the path is a constant of the suite
	}
	values.Set("fieldManager", manager)
	c.path = path + "?" + values.Encode()
	return c
}

// withAccept sets the accepted media type instead of JSON.
func (c call) withAccept(mediaType string) call {
	c.accept = mediaType
	return c
}

// withIfNoneMatch sets If-None-Match.
func (c call) withIfNoneMatch(etag string) call {
	c.etag = etag
	return c
}

// withHeader adds a header.
func (c call) withHeader(name, value string) call {
	headers := maps.Clone(c.headers)
	if headers == nil {
		headers = map[string]string{}
	}
	headers[name] = value
	c.headers = headers
	return c
}

// asUnprivileged sends the call as a user without permissions: with [Config.UnprivilegedClient], or
// by impersonation.
func (c call) asUnprivileged() call {
	c.unprivileged = true
	return c
}

// clientFor returns the client that sends a call.
func (s *session) clientFor(c call) *http.Client {
	if c.client != nil {
		return c.client
	}
	if unprivileged := s.run.config.UnprivilegedClient; c.unprivileged && unprivileged != nil {
		return unprivileged
	}
	return s.run.config.Client
}

// newHTTPRequest returns the HTTP request of a call.
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
	c.impersonated.setHeaders(req.Header)
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

// do sends a call, reads the response and checks the expectations. It returns the response with an
// error of an expectation, too. It repeats the call after 429 with Retry-After, unless the
// expectations accept that response.
func (s *session) do(ctx context.Context, c call, expect ...expectation) (*response, error) {
	for tries := 0; ; tries++ {
		r, err := s.send(ctx, c)
		if err != nil {
			return nil, err
		}
		if r.code == http.StatusCreated {
			s.trackCreated(c.path, r)
		}
		err = r.expect(expect...)
		if err == nil && len(expect) > 0 || !r.waitToRetry(ctx, tries) {
			return r, err
		}
	}
}

// send sends a call and reads the response.
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
		return nil, fmt.Errorf("%s %s: reading the response: %w", c.method, req.URL.Redacted(), err)
	}
	r := &response{method: c.method, url: req.URL.Redacted(), code: resp.StatusCode, header: resp.Header, body: body, chunked: resp.ContentLength < 0}
	if resp.Request != nil {
		r.redirected = resp.Request.URL.Path != req.URL.Path
	}
	return r, nil
}

// maxRetries is the number of retries after 429, as in client-go.
const maxRetries = 10

// waitToRetry waits for the Retry-After delay of a 429 response, and reports whether to repeat the
// call. A 429 means that the server did nothing: it is overloaded (ST-05), or its watch cache is
// not initialized, as after a change of a CRD (CD-08, RS-31).
func (r *response) waitToRetry(ctx context.Context, tries int) bool {
	seconds, err := strconv.Atoi(r.header.Get("Retry-After"))
	if r.code != http.StatusTooManyRequests || err != nil || seconds < 0 || tries >= maxRetries {
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

// responseTimeout limits how long a write that may create an object waits for its response after
// its case was cancelled or timed out.
const responseTimeout = 5 * time.Second

// sendContext returns the context to send a call with. A write that may create an object is not
// cancelled together with its case: the object can be deleted only after the response, and the
// server may complete a cancelled request after the clean-up.
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

// expect is like do without the response.
func (s *session) expect(ctx context.Context, c call, expect ...expectation) error {
	_, err := s.do(ctx, c, expect...)
	return err
}

// doConcurrently sends calls concurrently, and returns the responses in the order of the calls.
func (s *session) doConcurrently(ctx context.Context, calls []call) ([]*response, error) {
	responses, failed := make([]*response, len(calls)), make([]error, len(calls))
	var sent sync.WaitGroup
	for i, one := range calls {
		sent.Go(func() { responses[i], failed[i] = s.do(withConcurrentIndex(ctx, i+1), one) })
	}
	sent.Wait()
	return responses, errors.Join(failed...)
}

// doObject is like do, and decodes the metadata of the object in the response.
func (s *session) doObject(ctx context.Context, c call, expect ...expectation) (metav1.PartialObjectMetadata, error) {
	var o metav1.PartialObjectMetadata
	r, err := s.do(ctx, c, expect...)
	if err == nil {
		err = r.decode(&o)
	}
	return o, err
}

// response is a response of the server.
type response struct {
	method, url string
	code        int
	header      http.Header
	body        []byte
	chunked     bool // no Content-Length
	redirected  bool // the response is that of another path
}

// decode decodes the body as JSON.
func (r *response) decode(into any) error {
	if err := json.Unmarshal(r.body, into); err != nil {
		return r.errorf("expected JSON: %w", err)
	}
	return nil
}

// errorf returns an error with the request and the response.
func (r *response) errorf(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return fmt.Errorf("%s %s: %w; the response was %d %s %s", r.method, r.url, err, r.code, r.header.Get("Content-Type"), excerpt(r.body))
}

// expect returns the error of the first expectation that the response does not meet.
func (r *response) expect(expect ...expectation) error {
	for _, e := range expect {
		if err := e(r); err != nil {
			return r.errorf("%w", err)
		}
	}
	return nil
}

// excerpt returns the beginning of a body in one line.
func excerpt(body []byte) string {
	const limit = 600
	var b strings.Builder
	for word := range bytes.FieldsSeq(body) { // a body can have megabytes
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.Write(word[:min(len(word), limit+1)])
		if b.Len() > limit {
			return printable.Line(strings.ToValidUTF8(b.String()[:limit], "") + "…")
		}
	}
	return printable.Line(b.String())
}
