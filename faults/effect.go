package faults

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Effect changes a request, its response or a frame of a watch. Effects are created by the
// functions of this package. They are immutable, and [Parse] reads the text that String returns.
type Effect interface {
	// String returns the text form.
	String() string

	// check returns an error if an argument is invalid.
	check() error
	// isFinal reports whether the effect completes the response or the frame, so that no other
	// effect can follow.
	isFinal() bool
}

// An effect supports the phases for which it implements an interface.
type (
	// beforeEffect acts on a request before it is handled.
	beforeEffect interface{ applyBefore(x *exchange) outcome }
	// committedEffect acts on a complete response before it is sent.
	committedEffect interface {
		applyCommitted(x *exchange, resp *bufferedResponse) outcome
	}
	// streamEffect acts on a frame of a watch before it is sent.
	streamEffect interface {
		applyStream(s *watchWriter, f *frame) outcome
	}
	// watchOnlyEffect marks effects that in the Before phase apply to watches only.
	watchOnlyEffect interface{ watchOnly() }
	// webhookOnlyEffect marks effects that apply to calls of webhooks only.
	webhookOnlyEffect interface{ webhookOnly() }
	// statefulEffect has state, which starts when its rule is added to a set.
	statefulEffect interface{ newInstance() Effect }
)

// outcome tells the handler how to continue after an effect.
type outcome uint8

const (
	proceed      outcome = iota // as without the effect
	frameDropped                // the frame is not sent, and the stream continues
	frameSent                   // the frame has been sent, and the stream continues
	finished                    // the response or the stream is complete
	forbidden                   // the authorizer denies the request
	aborted                     // the connection must be aborted
)

// supportedPhases returns the phases in which an effect can be applied.
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

// Delay delays the request, the response, or the frame and all frames after it, by d. If the client
// disconnects in the meantime, the request is not served further: one that is delayed before it is
// handled is never handled.
func Delay(d time.Duration) Effect { return delay{d} }

type delay struct{ d time.Duration }

func (e delay) String() string { return callText("delay", e.d.String()) }
func (delay) isFinal() bool    { return false }
func (e delay) check() error {
	if e.d < 0 {
		return errors.New("delay takes a non-negative duration")
	}
	return nil
}

func (e delay) applyBefore(x *exchange) outcome { return wait(x, e.d) }

func (e delay) applyCommitted(x *exchange, _ *bufferedResponse) outcome { return wait(x, e.d) }

func (e delay) applyStream(w *watchWriter, _ *frame) outcome {
	w.x.flush() // earlier frames are not delayed
	return wait(w.x, e.d)
}

// wait sleeps for d. It aborts the request if the client disconnects.
func wait(x *exchange, d time.Duration) outcome {
	if x.sleep(d) {
		return proceed
	}
	return aborted
}

// Hang sends nothing until the client disconnects: no response, or no further frames and no end of
// a watch. In the Committed phase the request has been handled.
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

func (hang) applyStream(w *watchWriter, _ *frame) outcome {
	w.x.flush()
	w.x.waitForDisconnect()
	return aborted
}

// Reset aborts the connection. In the Before phase the request is lost and not handled. In the
// Committed phase the request has been handled and the response is lost. In the Stream phase the
// watch breaks off before the frame; the frames before it are delivered. If nothing has been sent
// and the connection is HTTP/1.1 over TCP, the client receives a TCP reset. Otherwise the
// connection is closed (HTTP/1.1) or the stream is reset (HTTP/2).
//
// Go's HTTP client repeats a GET if a reused connection is reset before the response. The rule then
// sees two requests.
func Reset() Effect { return reset{} }

type reset struct{}

func (reset) String() string { return "reset" }
func (reset) isFinal() bool  { return true }
func (reset) check() error   { return nil }

func (reset) applyBefore(x *exchange) outcome { return x.reset() }

func (reset) applyCommitted(x *exchange, _ *bufferedResponse) outcome { return x.reset() }

func (reset) applyStream(*watchWriter, *frame) outcome { return aborted }

// Truncate sends the first n bytes of the response body or of the frame and aborts the connection.
// The Content-Length is that of the complete body. A body or frame of at most n bytes is sent
// unchanged. Bytes are counted as they are sent, that is after compression.
func Truncate(n int) Effect { return truncate{n} }

type truncate struct{ n int }

func (e truncate) String() string { return callText("truncate", strconv.Itoa(e.n)) }
func (truncate) isFinal() bool    { return true }
func (e truncate) check() error {
	if e.n < 0 {
		return fmt.Errorf("truncate takes a non-negative number of bytes, not %d", e.n)
	}
	return nil
}

func (e truncate) applyCommitted(x *exchange, resp *bufferedResponse) outcome {
	if resp.Body.Len() <= e.n {
		return proceed
	}
	resp.Header().Set("Content-Length", strconv.Itoa(resp.Body.Len()))
	resp.Body.Truncate(e.n)
	resp.SendTo(x.w)
	x.flush()
	return aborted
}

func (e truncate) applyStream(w *watchWriter, f *frame) outcome {
	if len(f.data) <= e.n {
		return proceed
	}
	w.writeNow(f.data[:e.n])
	return aborted
}
