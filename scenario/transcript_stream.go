package scenario

import (
	"fmt"
	"time"
)

// These methods pass the lines of a transcript to onLine during a run. The details of a step are
// emitted when the step ends, because attempts of the step may be removed before. Requests of
// clients under test are emitted at once.

// emit emits a line. The caller holds mu.
func (t *Transcript) emit(line string) {
	if t.onLine != nil {
		t.onLine(line)
	}
}

// emitNotice emits a line that is not part of the transcript.
func (t *Transcript) emitNotice(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.emit(fmt.Sprintf("%9s    %s", t.elapsed(time.Now()), text))
}

// emitSeed emits the first line.
func (t *Transcript) emitSeed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.emit(fmt.Sprintf("seed %d", t.seed))
}

// emitDetails emits the details of the latest step.
func (t *Transcript) emitDetails() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range t.detailLines(t.steps[len(t.steps)-1]) {
		t.emit(line)
	}
}
