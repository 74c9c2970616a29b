package scenario

import (
	"fmt"
	"time"
)

// What is here tells a transcript to somebody who follows it while it happens. What
// a step led to is told when the step ends: until then an attempt may be taken back.
// Only the requests of clients under test are told at once.

// emit tells a line. The caller holds the mutex.
func (t *Transcript) emit(line string) {
	if t.onLine != nil {
		t.onLine(line)
	}
}

// emitNotice tells something that is no part of the transcript.
func (t *Transcript) emitNotice(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.emit(fmt.Sprintf("%9s    %s", t.elapsed(time.Now()), text))
}

// emitSeed tells what stands before the first step.
func (t *Transcript) emitSeed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.emit(fmt.Sprintf("seed %d", t.seed))
}

// emitDetails tells what the latest step led to.
func (t *Transcript) emitDetails() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range t.detailLines(t.steps[len(t.steps)-1]) {
		t.emit(line)
	}
}
