package memstore

import (
	"sync"
	"time"
)

// clock measures the time since the store was created. It never goes back. It does not jump when
// the store or a fork of it is first used inside a synctest bubble or outside of it again, although
// the time in a bubble starts in the year 2000. Otherwise a history would never expire in the
// bubble, and would expire at once outside.
type clock struct {
	mu      sync.Mutex // acquired last: no other lock is acquired while it is held
	last    time.Time
	elapsed time.Duration
}

// now returns the time since the store was created.
func (c *clock) now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if d := now.Sub(c.last); d > 0 && isSameClock(c.last, now) {
		c.elapsed += d
	}
	c.last = now
	return c.elapsed
}

// read returns the last reading, from which the clock of a fork continues.
func (c *clock) read() (last time.Time, elapsed time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last, c.elapsed
}

// isSameClock reports whether two times are from the same clock. Times in a bubble have no
// monotonic reading, other times do. Round(0) removes it.
func isSameClock(a, b time.Time) bool { return (a == a.Round(0)) == (b == b.Round(0)) }
