package page

import (
	"strings"

	"example.com/fakeapi/fake/internal/timeline"
)

// addNotes adds the marks of notes, in a lane for each source.
func (s *pageData) addNotes() {
	for _, n := range s.timeline.Notes {
		first, _, _ := strings.Cut(n.Text, "\n")
		m := mark{
			Shape: "note", Glyph: "*", Name: first, Time: s.since(n.Time), Exchange: -1, nth: -1,
			Lane:   s.lane("notes\x00"+n.Source, lane{Client: notesLabel(n.Source), Notes: true}),
			Text:   n.Source + ": " + first + ", " + s.whenText(n.Time),
			Answer: s.bodies.add(noteBody(n)), instant: instant{n.Time, n.Order},
		}
		if n.Failed {
			m.Shape, m.Glyph, m.Text = "failed", "!", n.Source+" failed: "+first+", "+s.whenText(n.Time)
		}
		s.Marks = append(s.Marks, m)
	}
}

// notesLabel returns the label of a lane of notes. It differs from that of a client with the same
// name.
func notesLabel(source string) string {
	switch source {
	case "scenario":
		return "steps of the scenario"
	case "server":
		return "actions on the server"
	}
	return "notes of " + source
}

// noteBody returns the text of a note of several lines as a body.
func noteBody(n timeline.Note) timeline.Body {
	if !strings.Contains(strings.TrimSpace(n.Text), "\n") {
		return timeline.Body{}
	}
	return timeline.Body{ContentType: "text/plain", Data: []byte(n.Text), Size: int64(len(n.Text))}
}

// markEmptyLanes marks the lanes of watches that sent no events.
func (s *pageData) markEmptyLanes() {
	used := make([]bool, len(s.Lanes))
	for _, m := range s.Marks {
		used[m.Lane] = true
	}
	for i := range s.Lanes {
		s.Lanes[i].Empty = !used[i]
	}
}
