package fakeapi

import (
	"fmt"
	"time"

	"example.com/fakeapi/fake/internal/timeline"
)

// Note is an entry of a Timeline that is not a request: a step of a scenario, a method of Server
// that changes what clients see, such as Compact, or what a test has said with AddNote.
type Note struct {
	// Time is when it was added.
	Time time.Time
	// Order is its order among exchanges and frames.
	Order uint64
	// Source is who did it: "scenario" for steps, "server" for methods of Server and Replica and for
	// requests of the control API, or a name of the test.
	Source string
	// Text is what was done. If Failed is true, it says how the action before failed.
	Text   string
	Failed bool
}

// AddNote adds a note to the timeline of the server, so that its text and its page show what the
// test did and when: srv.AddNote(fakeapi.Note{Source: "test", Text: "stop the leader"}). Time and
// Order are set. The latest 1000 notes are kept, with 4 KiB of text each. With WithoutTimeline it
// does nothing.
func (s *Server) AddNote(n Note) {
	if s.opts.timeline && s.recorder != nil {
		s.recorder.AddNote(timeline.Note{Source: n.Source, Text: n.Text, Failed: n.Failed})
	}
}

// note adds a note about a method of the server.
func (s *Server) note(format string, args ...any) {
	s.AddNote(Note{Source: "server", Text: fmt.Sprintf(format, args...)})
}
