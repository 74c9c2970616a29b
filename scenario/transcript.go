package scenario

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Transcript tells what happened in a run: each step with its virtual time, the
// requests it made with their answers, which rules acted, what the watches
// received; and, for each client under test, its requests in the order of the
// answers, up to a thousand.
//
// The package documentation says what of it is the same in two runs with the same
// seed; [Transcript.Lanes] is what to compare of clients under test.
type Transcript struct {
	seed  uint64
	start time.Time

	mu     sync.Mutex // guards all below
	steps  []*record
	lanes  []*lane
	closed bool
}

// record is one step that was begun.
type record struct {
	at      time.Time
	step    string
	details []detail
}

type detail struct {
	at   time.Time
	text string
}

// begin opens the record of a step; what is noted from now on belongs to it.
func (t *Transcript) begin(step string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps = append(t.steps, &record{at: time.Now(), step: step})
}

func (t *Transcript) note(at time.Time, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || len(t.steps) == 0 {
		return
	}
	r := t.steps[len(t.steps)-1]
	r.details = append(r.details, detail{at, text})
}

// order sorts the details of the latest step by time. Those of the same time
// stay as they are.
func (t *Transcript) order() {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.SortStableFunc(t.steps[len(t.steps)-1].details, func(a, b detail) int { return a.at.Compare(b.at) })
}

// mark is where the notes of the latest step end, for rewind.
func (t *Transcript) mark() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.steps[len(t.steps)-1].details)
}

// rewind takes out what was noted since mark.
func (t *Transcript) rewind(mark int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.steps[len(t.steps)-1]
	r.details = r.details[:mark]
}

// lane is the record of a client. One that is run again has the same.
func (t *Transcript) lane(client string) *lane {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.lanes {
		if l.client == client {
			return l
		}
	}
	l := &lane{log: t, client: client}
	t.lanes = append(t.lanes, l)
	return l
}

// looping reports a client that makes requests without a pause.
func (t *Transcript) looping() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.lanes {
		if l.loops {
			return mismatch{"client " + l.client + " to pause", fmt.Sprintf("more than %d requests at one time", atOnce)}
		}
	}
	return nil
}

// requests gives the lines of a client, and whether these are all.
func (t *Transcript) requests(client string) (lines []string, all bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.lanes {
		if l.client == client {
			return slices.Clone(l.lines), len(l.lines) <= kept
		}
	}
	return nil, true
}

// close ends the transcript; what comes later is not noted.
func (t *Transcript) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// String prints it, one thing a line: first the time since the start, then a
// step, or indented below the step what it led to.
func (t *Transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d\n", t.seed)
	for _, s := range t.steps {
		fmt.Fprintf(&b, "%9v  %s\n", s.at.Sub(t.start), s.step)
		last := s.at
		for _, d := range s.details {
			at := ""
			if !d.at.Equal(last) {
				at, last = d.at.Sub(t.start).String(), d.at
			}
			fmt.Fprintf(&b, "%9s    %s\n", at, d.text)
		}
	}
	for _, l := range t.lanes {
		fmt.Fprintf(&b, "client %s\n", l.client)
		for _, line := range l.lines {
			fmt.Fprintf(&b, "           %s\n", line)
		}
	}
	return b.String()
}
