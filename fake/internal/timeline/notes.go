package timeline

import (
	"strings"
	"sync"
	"time"
)

// The limits of notes.
const (
	// MaxNotes is the maximum number of notes. The oldest ones are dropped.
	MaxNotes = 1000
	// MaxNoteBytes is the maximum length of the text of a note.
	MaxNoteBytes = 4 << 10
)

// Note is what was done besides requests: a step of a scenario, or a method of the server that
// changes it.
type Note struct {
	Time time.Time
	// Order is the note's order among exchanges and frames.
	Order uint64
	// Source is who did it, such as "scenario" or "server".
	Source string
	// Text is what was done. If Failed is true, it is the failure of the note before.
	Text   string
	Failed bool
}

// notes are the latest notes.
type notes struct {
	mu   sync.Mutex // guards all
	list []Note
}

// AddNote adds a note with the current time.
func (r *Recorder) AddNote(n Note) {
	n.Text = strings.ToValidUTF8(n.Text[:min(len(n.Text), MaxNoteBytes)], "")
	r.notes.mu.Lock()
	defer r.notes.mu.Unlock()
	n.Time, n.Order = time.Now(), r.pool.order.Add(1)
	if len(r.notes.list) == MaxNotes {
		r.notes.list = append(r.notes.list[:0], r.notes.list[1:]...)
	}
	r.notes.list = append(r.notes.list, n)
}

// reset removes all notes.
func (n *notes) reset() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = nil
}

// copyNotes returns a copy of the notes.
func (r *Recorder) copyNotes() []Note {
	r.notes.mu.Lock()
	defer r.notes.mu.Unlock()
	return append([]Note(nil), r.notes.list...)
}

// line describes the note, without its time.
func (n Note) line() string {
	first, _, _ := strings.Cut(n.Text, "\n")
	source := n.Source
	if n.Failed {
		source += " failed"
	}
	return "  * " + source + ": " + shorten(first, textPath)
}
