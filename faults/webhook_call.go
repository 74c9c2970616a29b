package faults

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"

	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/internal/responsewriter"
)

// WebhookCall makes a call of the webhook with a name, to which it applies the rules with
// [Webhook]. r is the request to the webhook, and next sends it. The server of package fakeapi
// calls its webhooks with it.
//
// A connection that a rule breaks results in the errors of net/http: "connection refused" in the
// Before phase, "connection reset by peer" in the Committed phase. A delay ends with the context of
// r, as the call does. A response is returned when it is complete, or when it breaks off.
func (s *Set) WebhookCall(name string, r *http.Request, next http.RoundTripper) (*http.Response, error) {
	rules := s.rules()
	if rules == nil {
		return next.RoundTrip(r)
	}
	op := newWebhookOp(r.Context(), name)
	if !rules.couldMatch(Before, op) && !rules.couldMatch(Committed, op) {
		return next.RoundTrip(r)
	}
	c := &webhookCall{response: responsewriter.NewBuffer(nil)}
	c.exchange = exchange{set: s, w: c.response, r: r, op: op}
	return c.make(rules, next)
}

// newWebhookOp returns the operation of a call in the Before phase.
func newWebhookOp(ctx context.Context, name string) Op {
	var op Op
	if cause := requestinfo.RequestFromContext(ctx); cause != nil {
		op = NewOp(cause)
	}
	op.Webhook = name
	return op
}

// webhookCall is a call of a webhook. The effects of rules write to response.
type webhookCall struct {
	exchange
	response *responsewriter.Buffer
}

// make applies the rules and calls the webhook.
func (c *webhookCall) make(rules *ruleSnapshot, next http.RoundTripper) (*http.Response, error) {
	body := c.r.Body
	o := c.applyRules(rules, c.op, func(e Effect) outcome { return e.(beforeEffect).applyBefore(&c.exchange) })
	if o == proceed && c.answer == nil {
		return c.send(next)
	}
	if body != nil {
		_ = body.Close() // as a RoundTripper does
	}
	switch o {
	case proceed:
		return c.finish(c.answer)
	case aborted:
		return nil, c.abortError("dial", "connect", syscall.ECONNREFUSED)
	}
	return c.result(nil), nil
}

// send calls the webhook.
func (c *webhookCall) send(next http.RoundTripper) (*http.Response, error) {
	answer, err := next.RoundTrip(c.r)
	if err != nil || answer.StatusCode < http.StatusOK { // 101 is not complete
		return answer, err
	}
	resp := &bufferedResponse{responsewriter.NewBuffer(answer.Header)}
	resp.WriteHeader(answer.StatusCode)
	_, err = io.Copy(resp, answer.Body)
	if closeErr := answer.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil { // the response is not complete
		resp.SendTo(c.w)
		return c.result(err), nil
	}
	return c.finish(resp)
}

// finish applies the rules of the Committed phase to the response and returns it.
func (c *webhookCall) finish(resp *bufferedResponse) (*http.Response, error) {
	// The transport may still read the body of the request.
	c.r = c.r.WithContext(c.r.Context())
	c.r.Body = http.NoBody
	op := c.op
	op.Phase, op.Code = Committed, resp.Code
	o := c.applyRules(c.set.rules(), op, func(e Effect) outcome { return e.(committedEffect).applyCommitted(&c.exchange, resp) })
	var err error
	switch {
	case o == proceed:
		resp.SendTo(c.w)
	case o == aborted && c.response.Code == 0:
		return nil, c.abortError("read", "read", syscall.ECONNRESET)
	case o == aborted:
		err = c.brokenBody()
	}
	return c.result(err), nil
}

// abortError returns the error of a call whose connection a rule has broken, or whose context is
// done.
func (c *webhookCall) abortError(operation, systemCall string, err syscall.Errno) error {
	if ctx := c.r.Context(); ctx.Err() != nil {
		return context.Cause(ctx)
	}
	host := c.r.URL.Host
	if c.r.URL.Port() == "" {
		host = net.JoinHostPort(c.r.URL.Hostname(), "443") // webhooks are called over HTTPS
	}
	return &net.OpError{Op: operation, Net: "tcp", Addr: address(host), Err: os.NewSyscallError(systemCall, err)}
}

// brokenBody returns the error of reading a body that breaks off.
func (c *webhookCall) brokenBody() error {
	if ctx := c.r.Context(); ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return io.ErrUnexpectedEOF
}

// result returns the response. Reading its body ends with err if that is not nil.
func (c *webhookCall) result(err error) *http.Response {
	c.ensureHeader()
	header := maps.Clone(c.response.Header())
	for name, values := range header {
		if len(values) == 0 {
			delete(header, name)
		}
	}
	code := c.response.Code
	body, length := io.Reader(&c.response.Body), int64(c.response.Body.Len())
	if err != nil {
		body, length = io.MultiReader(body, failingReader{err}), -1
	}
	return &http.Response{
		Status: strconv.Itoa(code) + " " + http.StatusText(code), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(body), ContentLength: length, Request: c.r,
	}
}

// failingReader is an io.Reader that returns an error.
type failingReader struct{ err error }

// Read implements io.Reader.
func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// address is the net.Addr of a host and port.
type address string

// Network implements net.Addr.
func (address) Network() string { return "tcp" }

// String implements net.Addr.
func (a address) String() string { return string(a) }
