package faults

import (
	"bytes"
	"errors"
)

// Reorder sends the frame after the next frame that is sent, or at the end of the stream if there
// is none. Only one frame is held at a time, so if a rule matches all frames, each two are swapped.
// If a rule ends or aborts the stream, the held frame is lost.
func Reorder() Effect { return reorder{} }

type reorder struct{}

func (reorder) String() string { return "reorder" }
func (reorder) isFinal() bool  { return true }
func (reorder) check() error   { return nil }

func (reorder) applyStream(w *watchWriter, f *frame) outcome {
	if w.reordered != nil {
		return proceed
	}
	w.reordered = bytes.Clone(f.data)
	return frameDropped
}

// Inject sends arbitrary bytes before the frame. Followed by [Drop] it replaces the frame. The
// bytes are sent unchanged: JSON needs a newline at the end, and a client that reads protobuf reads
// the first four bytes as a length.
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

func (e inject) applyStream(w *watchWriter, _ *frame) outcome {
	w.writeNow([]byte(e.text))
	return proceed
}
