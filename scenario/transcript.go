package scenario

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Transcript is the record of a run. It has each step with its time, the requests of the step with
// their responses, the hits of rules and the events of watches. For each client under test it has
// the requests in the order of the responses, up to a thousand.
//
// The package documentation describes what is the same in two runs with the same seed. To compare
// clients under test, use [Transcript.ClientLogs].
type Transcript struct {
	seed       uint64
	start      time.Time
	roundTimes bool // times are rounded to milliseconds, in real time
	// onLine, if not nil, is called with each line as soon as it is known. It is called with mu
	// held, so calls are not concurrent.
	onLine func(line string)

	mu         sync.Mutex // guards all below
	steps      []*stepRecord
	clientLogs []*clientLog
	closed     bool
}

// stepRecord is a step that was started.
type stepRecord struct {
	at      time.Time
	step    string
	details []detail
}

type detail struct {
	at   time.Time
	text string
}

// begin adds a step. Later notes belong to it.
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

// sortDetails sorts the details of the latest step by time. The sort is stable.
func (t *Transcript) sortDetails() {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.SortStableFunc(t.steps[len(t.steps)-1].details, func(a, b detail) int { return a.at.Compare(b.at) })
}

// mark returns the number of details of the latest step, for rewind.
func (t *Transcript) mark() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.steps[len(t.steps)-1].details)
}

// rewind removes the details that were added since mark.
func (t *Transcript) rewind(mark int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.steps[len(t.steps)-1]
	r.details = r.details[:mark]
}

// clientLog returns the log of a client, which it keeps when it is run again.
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

// checkBusyLoops returns an error if a client makes requests without pauses.
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

// requestLines returns the lines of a client and whether they are complete.
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

// close ends the transcript. Later notes are ignored.
func (t *Transcript) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// String returns the transcript. A line has the time since the start and a step, or an indented
// detail of the step.
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

// stepLine returns the line of a step.
func (t *Transcript) stepLine(r *stepRecord) string {
	return fmt.Sprintf("%9v  %s", t.elapsed(r.at), r.step)
}

// detailLines returns the lines of the details of a step. A time is omitted if it is that of the
// line before.
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

// elapsed returns the time since the start, as it is printed.
func (t *Transcript) elapsed(at time.Time) time.Duration {
	d := at.Sub(t.start)
	if t.roundTimes {
		d = d.Round(time.Millisecond)
	}
	return d
}
