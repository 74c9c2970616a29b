package faults

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Drop does not send the frame. The stream continues with the next resourceVersions, so the client
// cannot detect the gap.
func Drop() Effect { return drop{} }

type drop struct{}

func (drop) String() string                           { return "drop" }
func (drop) isFinal() bool                            { return true }
func (drop) check() error                             { return nil }
func (drop) applyStream(*watchWriter, *frame) outcome { return frameDropped }

// Duplicate sends the frame twice.
func Duplicate() Effect { return duplicate{} }

type duplicate struct{}

func (duplicate) String() string { return "duplicate" }
func (duplicate) isFinal() bool  { return false }
func (duplicate) check() error   { return nil }

func (duplicate) applyStream(w *watchWriter, f *frame) outcome {
	w.writeNow(f.data)
	return proceed
}

// End ends a watch regularly, as at its timeout: the frame is not sent, and the response body is
// complete (WA-16). In the Before phase the watch is answered with 200 and an empty body.
func End() Effect { return end{} }

type end struct{}

func (end) String() string                           { return "end" }
func (end) isFinal() bool                            { return true }
func (end) check() error                             { return nil }
func (end) watchOnly()                               {}
func (end) applyStream(*watchWriter, *frame) outcome { return finished }

func (end) applyBefore(x *exchange) outcome {
	x.beginWatch(preferredFraming(x.r))
	return finished
}

// ErrorEvent replaces the frame by an ERROR event with s and ends the watch (WA-18). In the Before
// phase the watch is answered with 200 and this event, as kube-apiserver does if the
// resourceVersion is too old (WA-19). Missing fields of s are filled in as by [Reply]. An event has
// no Retry-After header, even if its details have retryAfterSeconds (EX-11).
func ErrorEvent(s metav1.Status) Effect { return errorEvent{canonicalStatus(s)} }

type errorEvent struct{ status metav1.Status }

func (e errorEvent) String() string { return statusText("error", e.status) }
func (errorEvent) isFinal() bool    { return true }
func (e errorEvent) check() error   { return checkStatus(e.status) }
func (errorEvent) watchOnly()       {}

func (e errorEvent) applyStream(w *watchWriter, _ *frame) outcome {
	w.writeNow(w.framing.errorFrame(completeStatus(e.status, w.op)))
	return finished
}

func (e errorEvent) applyBefore(x *exchange) outcome {
	f := preferredFraming(x.r)
	x.beginWatch(f)
	if _, err := x.w.Write(f.errorFrame(completeStatus(e.status, x.op))); err != nil {
		return aborted
	}
	return finished
}

// beginWatch sends the response header of a watch that a rule answers.
func (x *exchange) beginWatch(f framing) {
	h := x.w.Header()
	h.Set("Content-Type", f.contentType())
	h.Set("Cache-Control", "no-cache, private")
	x.w.WriteHeader(http.StatusOK)
	x.flush()
}
