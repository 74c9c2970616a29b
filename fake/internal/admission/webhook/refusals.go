package webhook

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	webhookerrors "k8s.io/apiserver/pkg/admission/plugin/webhook/errors"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/validating"

	"example.com/fakeapi/fake/internal/admission"
)

// The library logs refusals by validating webhooks and failures that are ignored: on a real server
// to its own log, here to the output of a test. It also reports errors that it does not return by
// utilruntime.HandleError, which sleeps for years in a synctest bubble. So it does not see them: it
// gets the response that the write is allowed instead.

// refusals are the refusals of a write by validating webhooks, which are called at the same time.
type refusals struct {
	mu     sync.Mutex
	exists bool
	denial error // the first refusal, if the library did not get it
}

// add adds a refusal and reports whether it is the first. denial is nil for one that the library
// gets.
func (r *refusals) add(denial error) (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.exists {
		return false
	}
	r.exists, r.denial = true, denial
	return true
}

// denial returns the refusal that the library did not get.
func (t *tracer) denial() error {
	t.refusals.mu.Lock()
	defer t.refusals.mu.Unlock()
	return t.refusals.denial
}

// forLibrary returns the response to the request r, or the error of it, that the library gets.
func (c *call) forLibrary(r *http.Request, response *http.Response, err error) (*http.Response, error) {
	if c.ctx.Err() != nil || isContinued(response) {
		return response, err
	}
	d := c.decision()
	isValidating := c.tracer.plugin.name == validating.PluginName
	switch {
	case d.Outcome == admission.Ignored && !isValidating:
		c.annotateIgnored()
	case d.Outcome == admission.Ignored:
	case d.Outcome == admission.Denied && isValidating:
		verified, err := c.response()
		if err != nil {
			return nil, err
		}
		c.tracer.refusals.add(webhookerrors.ToStatusErr(c.webhook.name, verified.Result))
	case d.Outcome == admission.Failed && isValidating && !c.tracer.refusals.add(nil):
	default:
		return response, err
	}
	c.decided = &d
	return c.allowed(r, d)
}

// isContinued reports whether the client sends another request after a response: it follows a
// redirect, or tries again.
func isContinued(response *http.Response) bool {
	return response != nil && (response.StatusCode/100 == 3 || response.Header.Get("Retry-After") != "")
}

// allowed returns the response that a write is allowed, with the warnings and audit annotations of
// a decision.
func (c *call) allowed(r *http.Request, d admission.Decision) (*http.Response, error) {
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{
			APIVersion: admissionv1.GroupName + "/" + c.tracer.state.webhooks[c.webhook].reviewVersion, Kind: "AdmissionReview",
		},
		Response: &admissionv1.AdmissionResponse{UID: c.uid, Allowed: true, Warnings: d.Warnings, AuditAnnotations: d.AuditAnnotations},
	})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	}, nil
}
