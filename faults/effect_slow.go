package faults

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Jitter delays the request, the response or the frame, as [Delay] does, by a random time below
// limit. Every object has its own random sequence, which depends on seed only, as with [Chance].
// For a minimum delay, put a Delay before it.
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
		return errors.New("jitter takes a positive duration")
	}
	return nil
}

func (e *jitter) applyBefore(x *exchange) outcome { return wait(x, e.nextDelay(x.op)) }

func (e *jitter) applyCommitted(x *exchange, _ *bufferedResponse) outcome {
	return wait(x, e.nextDelay(x.op))
}

func (e *jitter) applyStream(w *watchWriter, f *frame) outcome {
	w.x.flush() // as in delay
	return wait(w.x, e.nextDelay(f.op))
}

// nextDelay returns the next delay of the object.
func (e *jitter) nextDelay(op Op) time.Duration {
	return time.Duration(e.sequences.next(op.objectKey()) * float64(e.limit))
}

// Throttle sends the response body or the frame in pieces of n bytes, with a pause before each
// piece but the first, to simulate a slow connection.
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
		return fmt.Errorf("throttle takes a positive number of bytes, not %d", e.n)
	}
	if e.pause < 0 {
		return errors.New("throttle takes a non-negative duration")
	}
	return nil
}

func (e throttle) applyCommitted(x *exchange, resp *bufferedResponse) outcome {
	if resp.Body.Len() == 0 {
		return proceed
	}
	resp.Header().Set("Content-Length", strconv.Itoa(resp.Body.Len()))
	body := resp.Body.Bytes()
	resp.SendHeaderTo(x.w)
	return e.writeChunks(x, body, finished)
}

func (e throttle) applyStream(w *watchWriter, f *frame) outcome {
	return e.writeChunks(w.x, f.data, frameSent)
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
