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
	seed       uint64
	start      time.Time
	roundTimes bool // times are rounded, for they are real
	// onLine gets each line when it is known; nil if nobody does. It is called with
	// mu held, so that lines come one after the other.
	onLine func(line string)

	mu         sync.Mutex // guards all below
	steps      []*stepRecord
	clientLogs []*clientLog
	closed     bool
}

// stepRecord is one step that was begun.
type stepRecord struct {
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
	r := &stepRecord{at: time.Now(), step: step}
	t.steps = append(t.steps, r)
	t.emit(t.stepLine(r))
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

// sortDetails sorts the details of the latest step by time. Those of the same time
// stay as they are.
func (t *Transcript) sortDetails() {
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

// clientLog is the record of a client. One that is run again has the same.
func (t *Transcript) clientLog(client string) *clientLog {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.clientLogs {
		if l.client == client {
			return l
		}
	}
	l := &clientLog{log: t, client: client}
	t.clientLogs = append(t.clientLogs, l)
	return l
}

// checkBusyLoops reports a client that makes requests without a pause.
func (t *Transcript) checkBusyLoops() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.clientLogs {
		if l.busyLoop {
			return mismatch{"client " + l.client + " to pause", fmt.Sprintf("more than %d requests at one time", maxBurst)}
		}
	}
	return nil
}

// requestLines gives the lines of a client, and whether these are all.
func (t *Transcript) requestLines(client string) (lines []string, all bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.clientLogs {
		if l.client == client {
			return slices.Clone(l.lines), len(l.lines) <= maxLoggedRequests
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
	for _, r := range t.steps {
		b.WriteString(t.stepLine(r) + "\n")
		for _, line := range t.detailLines(r) {
			b.WriteString(line + "\n")
		}
	}
	for _, l := range t.clientLogs {
		fmt.Fprintf(&b, "client %s\n", l.client)
		for _, line := range l.lines {
			fmt.Fprintf(&b, "           %s\n", line)
		}
	}
	return b.String()
}

// stepLine is the line of a step.
func (t *Transcript) stepLine(r *stepRecord) string {
	return fmt.Sprintf("%9v  %s", t.elapsed(r.at), r.step)
}

// detailLines are the lines of what a step led to. A time that is that of the line before
// is left out.
func (t *Transcript) detailLines(r *stepRecord) (lines []string) {
	last := r.at
	for _, d := range r.details {
		at := ""
		if !d.at.Equal(last) {
			at, last = t.elapsed(d.at).String(), d.at
		}
		lines = append(lines, fmt.Sprintf("%9s    %s", at, d.text))
	}
	return lines
}

// elapsed is a time as it is printed.
func (t *Transcript) elapsed(at time.Time) time.Duration {
	d := at.Sub(t.start)
	if t.roundTimes {
		d = d.Round(time.Millisecond)
	}
	return d
}
