package faults

import (
	"bytes"
	"errors"
)

// Reorder sends the frame behind the next one that is sent; at the end of the
// stream, if there is none. While a frame waits, others are not held: of frames
// that all match, each two change places. A stream that a rule ends or breaks
// ends without the frame that waits.
func Reorder() Effect { return reorder{} }

type reorder struct{}

func (reorder) String() string { return "reorder" }
func (reorder) isFinal() bool  { return true }
func (reorder) check() error   { return nil }

func (reorder) applyStream(s *watchWriter, f *frame) outcome {
	if s.reordered != nil {
		return proceed
	}
	s.reordered = bytes.Clone(f.data)
	return frameDropped
}

// Inject sends bytes of any kind in front of the frame, and the stream goes on.
// With [Drop] behind it they stand in its place. They are sent as they are: a
// line of JSON needs its newline, and a client that reads protobuf takes the
// first four of them for a length.
func Inject(text string) Effect { return inject{text} }

type inject struct{ text string }

func (e inject) String() string { return callText("inject", quote(e.text)) }
func (inject) isFinal() bool    { return false }
func (e inject) check() error {
	if e.text == "" {
		return errors.New("inject needs at least one byte")
	}
	return nil
}

func (e inject) applyStream(s *watchWriter, _ *frame) outcome {
	s.writeNow([]byte(e.text))
	return proceed
}
