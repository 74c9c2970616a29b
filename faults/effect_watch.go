package faults

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Drop withholds the frame. The stream goes on, and so do its resource
// versions: the client cannot see that something is missing.
func Drop() Effect { return drop{} }

type drop struct{}

func (drop) String() string                 { return "drop" }
func (drop) ends() bool                     { return true }
func (drop) check() error                   { return nil }
func (drop) stream(*stream, *frame) outcome { return withheld }

// Duplicate sends the frame twice.
func Duplicate() Effect { return duplicate{} }

type duplicate struct{}

func (duplicate) String() string { return "duplicate" }
func (duplicate) ends() bool     { return false }
func (duplicate) check() error   { return nil }

func (duplicate) stream(s *stream, f *frame) outcome {
	s.emit(f.data)
	return proceed
}

// End ends a watch without a word, as at its timeout: the frame at hand is not
// sent, the body is complete (rule WA-16). Before: the watch is answered with
// 200 and ends at once.
func End() Effect { return end{} }

type end struct{}

func (end) String() string                 { return "end" }
func (end) ends() bool                     { return true }
func (end) check() error                   { return nil }
func (end) answersWatch()                  {}
func (end) stream(*stream, *frame) outcome { return finished }

func (end) before(x *exchange) outcome {
	x.beginWatch(framingWanted(x.r))
	x.flush()
	return finished
}

// ErrorEvent ends a watch with an ERROR event whose object is s, instead of the
// frame at hand (rule WA-18). Before: the watch is answered with 200 and this one
// event, which is how a real server tells that the start is too old (WA-19).
// What s leaves out is filled in as [Reply] does. An event has no Retry-After
// header, whatever its details say (EX-11).
func ErrorEvent(s metav1.Status) Effect { return errorEvent{canonical(s)} }

type errorEvent struct{ status metav1.Status }

func (e errorEvent) String() string { return statusText("error", e.status) }
func (errorEvent) ends() bool       { return true }
func (e errorEvent) check() error   { return checkStatus(e.status) }
func (errorEvent) answersWatch()    {}

func (e errorEvent) stream(s *stream, _ *frame) outcome {
	s.emit(s.framing.errorFrame(complete(e.status, s.op)))
	return finished
}

func (e errorEvent) before(x *exchange) outcome {
	f := framingWanted(x.r)
	x.beginWatch(f)
	if _, err := x.w.Write(f.errorFrame(complete(e.status, x.op))); err != nil {
		return broken
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
