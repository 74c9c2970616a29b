package scenario

import (
	"fmt"
	"time"
)

// What is here tells a transcript to somebody who follows it while it happens. What
// a step led to is told when the step ends: until then an attempt may be taken back.
// Only the requests of clients under test are told at once.

// live tells a line. The caller holds the mutex.
func (t *Transcript) live(line string) {
	if t.follow != nil {
		t.follow(line)
	}
}

// tell tells something that is no part of the transcript.
func (t *Transcript) tell(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live(fmt.Sprintf("%9s    %s", t.since(time.Now()), text))
}

// opening tells what stands before the first step.
func (t *Transcript) opening() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live(fmt.Sprintf("seed %d", t.seed))
}

// ended tells what the latest step led to.
func (t *Transcript) ended() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range t.below(t.steps[len(t.steps)-1]) {
		t.live(line)
	}
}
