package fakeapi

import (
	"net/http"

	"example.com/fakeapi/fake/internal/timeline"
)

// Timeline is what a server remembers of its life, the oldest first: requests with
// their answers, the frames of watches, and what fault rules did. As a string it is
// text, a line for each, with the middle of what is long left out; WriteHTML makes
// one page of it.
type Timeline = timeline.Timeline

// Exchange is one request of a Timeline and what came of it.
type Exchange = timeline.Exchange

// Frame is one event of a watch in a Timeline.
type Frame = timeline.Frame

// Body is what was sent in an Exchange or a Frame, or the beginning of it.
type Body = timeline.Body

// Timeline is what the server has been asked up to now and what it has answered, as
// clients saw it, after all faults. It has the latest 1000 requests and those that have
// not ended, the first 8 KiB of each body, the latest 128 frames of each watch, and of
// all watches together 16 MiB; what was forgotten is counted. The control API is not in
// it. Replicas and forks have timelines of their own. WithoutTimeline it
// has only what fault rules did.
func (s *Server) Timeline() Timeline { return s.recorder.Timeline() }

// withTimeline records requests and responses, unless WithoutTimeline is set.
func (s *Server) withTimeline(next http.Handler) http.Handler {
	if !s.opts.timeline {
		return next
	}
	return s.recorder.Handler(next)
}
