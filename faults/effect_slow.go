package faults

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Jitter holds the request, the answer or the frame, as [Delay] does, for a
// random time of less than limit. Every object has a sequence of its own that
// follows from seed, as with [Chance]. Put a Delay in front for the part that is
// always there.
func Jitter(limit time.Duration, seed uint64) Effect {
	return &jitter{limit: limit, sequences: newRandomSequences(seed)}
}

type jitter struct {
	limit     time.Duration
	sequences *randomSequences
}

func (e *jitter) String() string {
	return callText("jitter", e.limit.String(), strconv.FormatUint(e.sequences.seed, 10))
}
func (*jitter) isFinal() bool         { return false }
func (e *jitter) newInstance() Effect { return Jitter(e.limit, e.sequences.seed) }
func (e *jitter) check() error {
	if e.limit <= 0 {
		return errors.New("jitter takes a duration above zero")
	}
	return nil
}

func (e *jitter) applyBefore(x *exchange) outcome { return wait(x, e.nextDelay(x.op)) }

func (e *jitter) applyCommitted(x *exchange, _ *bufferedResponse) outcome {
	return wait(x, e.nextDelay(x.op))
}

func (e *jitter) applyStream(s *watchWriter, f *frame) outcome {
	s.x.flush() // as with a delay
	return wait(s.x, e.nextDelay(f.op))
}

// nextDelay gives the object's next time.
func (e *jitter) nextDelay(op Op) time.Duration {
	return time.Duration(e.sequences.next(op.objectKey()) * float64(e.limit))
}

// Throttle sends the body of the answer, or the frame, in pieces of n bytes,
// with a pause before each but the first, as a connection that is nearly used up.
func Throttle(n int, pause time.Duration) Effect { return throttle{n, pause} }

type throttle struct {
	n     int
	pause time.Duration
}

func (e throttle) String() string {
	return callText("throttle", strconv.Itoa(e.n), e.pause.String())
}
func (throttle) isFinal() bool { return true }
func (e throttle) check() error {
	if e.n < 1 {
		return fmt.Errorf("throttle takes a number of bytes above zero, not %d", e.n)
	}
	if e.pause < 0 {
		return errors.New("throttle takes a duration that is not negative")
	}
	return nil
}

func (e throttle) applyCommitted(x *exchange, a *bufferedResponse) outcome {
	if a.Body.Len() == 0 {
		return proceed
	}
	a.Header().Set("Content-Length", strconv.Itoa(a.Body.Len()))
	body := a.Body.Bytes()
	a.SendHeaderTo(x.w)
	return e.writeChunks(x, body, finished)
}

func (e throttle) applyStream(s *watchWriter, f *frame) outcome {
	return e.writeChunks(s.x, f.data, frameSent)
}

func (e throttle) writeChunks(x *exchange, data []byte, then outcome) outcome {
	for n := 0; len(data) > 0; data = data[n:] {
		if n > 0 && !x.sleep(e.pause) {
			return aborted
		}
		n = min(e.n, len(data))
		if _, err := x.write(data[:n]); err != nil {
			return aborted
		}
		x.flush()
	}
	return then
}
