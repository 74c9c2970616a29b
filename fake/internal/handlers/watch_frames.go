package handlers

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/fake/internal/encode"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/memstore"
)

// appendEvent appends the frame of an event. An object that starts to match the selector is ADDED.
// One that stops to match is DELETED, with its last matching state and the revision of the change
// (WA-12, WA-13).
func (s *stream) appendEvent(e *memstore.Event) error {
	was, err := s.matches(e.Prev)
	if err != nil {
		return err
	}
	is, err := s.matches(e.Record)
	switch {
	case err != nil:
		return err
	case is && !was:
		return s.appendRecord(watch.Added, e.Record)
	case is:
		return s.appendRecord(watch.Modified, e.Record)
	case was:
		return s.appendRecord(watch.Deleted, e.DeletedRecord())
	}
	return nil
}

func (s *stream) appendRecord(kind watch.EventType, rec *memstore.Record) (err error) {
	if err := s.convert(rec); err != nil {
		return err
	}
	before := len(s.frames)
	if s.frames, err = s.encoder.AppendEvent(s.frames, kind, rec); err == nil {
		s.metrics.Record(len(s.frames) - before)
	}
	return err
}

func (s *stream) appendBookmark(rev memstore.Revision, initialEventsEnd bool) (err error) {
	before := len(s.frames)
	if s.frames, err = s.encoder.AppendBookmark(s.frames, rev.String(), initialEventsEnd); err == nil {
		s.metrics.Record(len(s.frames) - before)
	}
	return err
}

// write writes the frames.
func (s *stream) write() error {
	if len(s.frames) == 0 {
		return nil
	}
	err := s.writeFrames(s.frames)
	s.written = time.Now()
	if s.frames = s.frames[:0]; cap(s.frames) > 1<<20 {
		s.frames = nil
	}
	if err != nil {
		return errClientGone
	}
	return nil
}

// writeFrames writes complete frames to the response or the WebSocket.
func (s *stream) writeFrames(all []byte) error {
	if s.socket != nil {
		return s.socket.send(all)
	}
	_, err := s.w.Write(all)
	return err
}

func (s *stream) flush() error {
	if err := s.write(); err != nil {
		return err
	}
	if s.socket != nil {
		return nil // each message is flushed
	}
	if err := s.flusher.Flush(); err != nil {
		return errClientGone
	}
	return nil
}

// errClientGone is the error of a write to a client that has disconnected.
var errClientGone = errors.New("the client has disconnected")

// sendError ends the stream with an ERROR event for err, or without one where a real server only
// closes it.
func (s *stream) sendError(err error) {
	var compacted *memstore.CompactedError
	switch {
	case err == nil, errors.Is(err, errClientGone), errors.Is(err, errWatchEnded), errors.Is(err, memstore.ErrRestored), errors.Is(err, encode.ErrEventAsList):
		return
	case errors.As(err, &compacted):
		err = status.TooOldResourceVersion(uint64(compacted.Requested), uint64(compacted.Floor))
	}
	frames, err := s.encoder.AppendError(s.frames, status.FromError(err))
	if err != nil {
		return
	}
	s.metrics.Record(len(frames) - len(s.frames))
	s.frames = frames
	_ = s.flush()
}
