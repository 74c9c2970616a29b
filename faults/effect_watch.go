package faults

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Drop withholds the frame. The stream goes on, and so do its resource
// versions: the client cannot see that something is missing.
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

func (duplicate) applyStream(s *watchWriter, f *frame) outcome {
	s.writeNow(f.data)
	return proceed
}

// End ends a watch without a word, as at its timeout: the frame at hand is not
// sent, the body is complete (rule WA-16). Before: the watch is answered with
// 200 and ends at once.
func End() Effect { return end{} }

type end struct{}

func (end) String() string                           { return "end" }
func (end) isFinal() bool                            { return true }
func (end) check() error                             { return nil }
func (end) watchOnly()                               {}
func (end) applyStream(*watchWriter, *frame) outcome { return finished }

func (end) applyBefore(x *exchange) outcome {
	x.beginWatch(preferredFraming(x.r))
	x.flush()
	return finished
}

// ErrorEvent ends a watch with an ERROR event whose object is s, instead of the
// frame at hand (rule WA-18). Before: the watch is answered with 200 and this one
// event, which is how a real server tells that the start is too old (WA-19).
// What s leaves out is filled in as [Reply] does. An event has no Retry-After
// header, whatever its details say (EX-11).
func ErrorEvent(s metav1.Status) Effect { return errorEvent{canonicalStatus(s)} }

type errorEvent struct{ status metav1.Status }

func (e errorEvent) String() string { return statusText("error", e.status) }
func (errorEvent) isFinal() bool    { return true }
func (e errorEvent) check() error   { return checkStatus(e.status) }
func (errorEvent) watchOnly()       {}

func (e errorEvent) applyStream(s *watchWriter, _ *frame) outcome {
	s.writeNow(s.framing.errorFrame(completeStatus(e.status, s.op)))
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

// beginWatch writes the header of a watch that is answered by a rule.
func (x *exchange) beginWatch(f framing) {
	h := x.w.Header()
	h.Set("Content-Type", f.contentType())
	h.Set("Cache-Control", "no-cache, private")
	x.w.WriteHeader(http.StatusOK)
}
