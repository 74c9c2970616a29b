package memstore

import (
	"sync"
	"time"
)

// clock reads how long the store has lived. It never goes back, and it does not leap when the
// store, or a fork of it, is taken from the world into a synctest bubble or out of one: there time
// begins in the year 2000, and a history would never grow old on the way in, and on the way
// out be decades old at once.
type clock struct {
	mu      sync.Mutex // innermost: nothing else is locked under it
	last    time.Time
	elapsed time.Duration
}

// now returns the age of the store.
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

// read returns the last reading, for another clock to go on from.
func (c *clock) read() (last time.Time, elapsed time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last, c.elapsed
}

// isSameClock tells whether two times were read on one clock. Times of a bubble carry no monotonic
// reading, those of the world do; Round(0) takes it away.
func isSameClock(a, b time.Time) bool { return (a == a.Round(0)) == (b == b.Round(0)) }
