package faults

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reply responds with the Status s and its code. In the Before phase the request is not handled. In
// the Committed phase it has been handled, and its response is replaced. The Status is sent in
// JSON, or in protobuf if the client prefers it.
//
// Missing fields of s are filled in as kube-apiserver does for the request: the reason from the
// code, message and details from the reason. The response has a Retry-After header if
// details.retryAfterSeconds is above 0 (EX-06). s.Code must be from 400 to 599.
func Reply(s metav1.Status) Effect { return reply{canonicalStatus(s)} }

type reply struct{ status metav1.Status }

func (e reply) String() string { return statusText("status", e.status) }
func (reply) isFinal() bool    { return true }
func (e reply) check() error   { return checkStatus(e.status) }

func (e reply) applyBefore(x *exchange) outcome {
	writeStatus(x.w, x.r, completeStatus(e.status, x.op))
	return finished
}

func (e reply) applyCommitted(x *exchange, _ *bufferedResponse) outcome { return e.applyBefore(x) }

// Raw responds with this code, Content-Type and body, for responses that are not a Status: the
// plain text of an overloaded server, the HTML of a load balancer. The phases are those of [Reply].
func Raw(code int, contentType, body string, headers ...Header) Effect {
	return raw{code, contentType, body, slices.Clone(headers)}
}

// Header is a header of a [Raw] response.
type Header struct{ Name, Value string }

type raw struct {
	code              int
	contentType, body string
	headers           []Header
}

func (e raw) String() string {
	args := []string{strconv.Itoa(e.code), quote(e.contentType), quote(e.body)}
	for _, h := range e.headers {
		args = append(args, callText("header", quote(h.Name), quote(h.Value)))
	}
	return callText("raw", args...)
}

func (raw) isFinal() bool { return true }

func (e raw) check() error {
	if e.code < 200 || e.code > 599 {
		return fmt.Errorf("raw takes an HTTP code from 200 to 599, not %d", e.code)
	}
	for _, h := range e.headers {
		if err := checkHeader(h.Name, h.Value); err != nil {
			return err
		}
	}
	return nil
}

func (e raw) applyBefore(x *exchange) outcome {
	h := x.w.Header()
	if e.contentType != "" {
		h.Set("Content-Type", e.contentType)
	}
	for _, header := range e.headers {
		h.Add(header.Name, header.Value)
	}
	x.w.WriteHeader(e.code)
	if e.code == http.StatusNoContent || e.code == http.StatusNotModified {
		return finished // these have no body
	}
	if _, err := x.w.Write([]byte(e.body)); err != nil {
		return aborted
	}
	return finished
}

func (e raw) applyCommitted(x *exchange, _ *bufferedResponse) outcome { return e.applyBefore(x) }
