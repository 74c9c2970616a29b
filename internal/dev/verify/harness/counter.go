package harness

import (
	"maps"
	"slices"
	"sync"
)

// Counter counts what has occurred, so that a check of nothing is noticed.
type Counter struct {
	mu     sync.Mutex
	counts map[string]int
}

func (n *Counter) Add(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.counts == nil {
		n.counts = map[string]int{}
	}
	n.counts[what]++
}

// Drain gives all that has occurred, and forgets it.
func (n *Counter) Drain() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := slices.Sorted(maps.Keys(n.counts))
	n.counts = nil
	return all
}

func (n *Counter) Count(what string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counts[what]
}
