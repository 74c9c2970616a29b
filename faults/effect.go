package faults

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Effect is what a rule does to a request, to its answer or to a frame of a
// watch. The effects of this package are all there are; each prints, and what
// it prints parses back. An effect is immutable data.
type Effect interface {
	// String gives the text form.
	String() string

	// check tells what is wrong with the arguments.
	check() error
	// isFinal reports whether nothing is left to act on afterwards.
	isFinal() bool
}

// What an effect can do, it says by the phases it has a method for.
type (
	// beforeEffect acts on a request that nobody has seen yet.
	beforeEffect interface{ applyBefore(x *exchange) outcome }
	// committedEffect acts on a finished answer that is not sent yet.
	committedEffect interface {
		applyCommitted(x *exchange, a *bufferedResponse) outcome
	}
	// streamEffect acts on a frame of a watch that is not sent yet.
	streamEffect interface {
		applyStream(s *watchWriter, f *frame) outcome
	}
	// watchOnlyEffect marks effects that answer a request as a watch.
	watchOnlyEffect interface{ watchOnly() }
	// statefulEffect is one with a history of its own, which begins when its rule is
	// added to a set.
	statefulEffect interface{ newInstance() Effect }
)

// outcome is what is left to do after an effect.
type outcome uint8

const (
	proceed      outcome = iota // as if nothing had been
	frameDropped                // the frame is not sent, the stream goes on
	frameSent                   // the frame is sent already, the stream goes on
	finished                    // the answer or the stream is complete
	aborted                     // the connection is to be aborted
)

// supportedPhases gives the phases in which an effect can be applied.
func supportedPhases(e Effect) phaseSet {
	fit := noPhases
	if _, ok := e.(beforeEffect); ok {
		fit |= phaseSetOf(Before)
	}
	if _, ok := e.(committedEffect); ok {
		fit |= phaseSetOf(Committed)
	}
	if _, ok := e.(streamEffect); ok {
		fit |= phaseSetOf(Stream)
	}
	return fit
}

// Delay holds the request, the answer, or the frame and all frames behind it,
// for d. A client that leaves in the meantime is not served any more: a request
// that is held before it is handled is then never handled.
func Delay(d time.Duration) Effect { return delay{d} }

type delay struct{ d time.Duration }

func (e delay) String() string { return callText("delay", e.d.String()) }
func (delay) isFinal() bool    { return false }
func (e delay) check() error {
	if e.d < 0 {
		return errors.New("delay takes a duration that is not negative")
	}
	return nil
}

func (e delay) applyBefore(x *exchange) outcome { return wait(x, e.d) }

func (e delay) applyCommitted(x *exchange, _ *bufferedResponse) outcome { return wait(x, e.d) }

func (e delay) applyStream(s *watchWriter, _ *frame) outcome {
	s.x.flush() // frames in front of this one are not held
	return wait(s.x, e.d)
}

// wait waits for d, if the client does.
func wait(x *exchange, d time.Duration) outcome {
	if x.sleep(d) {
		return proceed
	}
	return aborted
}

// Hang leaves the client without an answer, or a watch without further frames
// and without an end, until the client goes away. In the Committed phase the
// request has been carried out.
func Hang() Effect { return hang{} }

type hang struct{}

func (hang) String() string { return "hang" }
func (hang) isFinal() bool  { return true }
func (hang) check() error   { return nil }

func (hang) applyBefore(x *exchange) outcome { x.waitForDisconnect(); return aborted }

func (hang) applyCommitted(x *exchange, _ *bufferedResponse) outcome {
	x.waitForDisconnect()
	return aborted
}

func (hang) applyStream(s *watchWriter, _ *frame) outcome {
	s.x.flush()
	s.x.waitForDisconnect()
	return aborted
}

// Reset aborts the connection. Before: the request is lost, nothing has been
// done. Committed: the request has been carried out and the reply is lost.
// Stream: the watch breaks off where the frame would have been; what was sent
// before arrives. As long as nothing is sent it is a TCP reset where the
// connection is one of HTTP/1.1 over TCP; otherwise the connection is closed
// (HTTP/1.1) or the stream is reset (HTTP/2).
//
// Go's HTTP client, on a connection that it has used before, sends a GET again
// by itself when it is reset before the answer; the rule then sees two requests.
func Reset() Effect { return reset{} }

type reset struct{}

func (reset) String() string { return "reset" }
func (reset) isFinal() bool  { return true }
func (reset) check() error   { return nil }

func (reset) applyBefore(x *exchange) outcome { return x.reset() }

func (reset) applyCommitted(x *exchange, _ *bufferedResponse) outcome { return x.reset() }

func (reset) applyStream(*watchWriter, *frame) outcome { return aborted }

// Truncate sends n bytes of the answer's body, or of the frame, and aborts the
// connection. The header still promises the whole body. An answer or a frame of
// at most n bytes is sent unharmed. Bytes are counted as they travel: of a
// compressed body, the compressed ones.
func Truncate(n int) Effect { return truncate{n} }

type truncate struct{ n int }

func (e truncate) String() string { return callText("truncate", strconv.Itoa(e.n)) }
func (truncate) isFinal() bool    { return true }
func (e truncate) check() error {
	if e.n < 0 {
		return fmt.Errorf("truncate takes a number of bytes that is not negative, not %d", e.n)
	}
	return nil
}

func (e truncate) applyCommitted(x *exchange, a *bufferedResponse) outcome {
	if a.Body.Len() <= e.n {
		return proceed
	}
	a.Header().Set("Content-Length", strconv.Itoa(a.Body.Len()))
	a.Body.Truncate(e.n)
	a.SendTo(x.w)
	x.flush()
	return aborted
}

func (e truncate) applyStream(s *watchWriter, f *frame) outcome {
	if len(f.data) <= e.n {
		return proceed
	}
	s.writeNow(f.data[:e.n])
	return aborted
}
