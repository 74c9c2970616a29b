package harness

import (
	"maps"
	"slices"
	"sync"
)

// Counter counts what a run has covered, so that a test can fail if a case never occurred. It is
// safe for concurrent use.
type Counter struct {
	mu     sync.Mutex
	counts map[string]int
}

// Add increments the count of a name.
func (n *Counter) Add(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.counts == nil {
		n.counts = map[string]int{}
	}
	n.counts[what]++
}

// Drain returns the names that were counted, in sorted order, and resets the counts.
func (n *Counter) Drain() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := slices.Sorted(maps.Keys(n.counts))
	n.counts = nil
	return all
}

// Count returns the count of a name.
func (n *Counter) Count(what string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counts[what]
}
