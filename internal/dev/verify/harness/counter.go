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
func (c *Counter) Add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	c.counts[what]++
}

// Drain returns the names that were counted, in sorted order, and resets the counts.
func (c *Counter) Drain() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Sorted(maps.Keys(c.counts))
	c.counts = nil
	return all
}

// Count returns the count of a name.
func (c *Counter) Count(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[what]
}
