package controllers

import (
	"maps"
	"slices"
	"time"
)

// The time after which Run does failed work again. It doubles with each failure in a row.
const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = 1000 * time.Second
)

// retry is work that has failed and that is done again.
type retry struct {
	work     work
	failures int
	due      time.Time
	// isQueued reports whether the work waits to be done, and not for the time.
	isQueued bool
}

// retries has the retries by the description of the work.
type retries map[string]*retry

// add records a failure.
func (r retries) add(w work) {
	failed := r[w.what]
	if failed == nil {
		failed = &retry{work: w}
		r[w.what] = failed
	}
	failed.due = time.Now().Add(min(firstRetry<<min(failed.failures, 20), lastRetry))
	failed.failures++
	failed.isQueued = false
}

// queue marks the work of those retries to be done that are due, or of all.
func (r retries) queue(all bool) {
	now := time.Now()
	for _, what := range slices.Sorted(maps.Keys(r)) {
		if failed := r[what]; !failed.isQueued && (all || !failed.due.After(now)) {
			failed.isQueued = true
			failed.work.again()
		}
	}
}

// isWaiting reports whether failed work waits for its time.
func (r retries) isWaiting(what string) bool { return r[what] != nil && !r[what].isQueued }

// first returns the time to the next retry, or false if there is none.
func (r retries) first() (after time.Duration, ok bool) {
	now := time.Now()
	for _, failed := range r {
		if left := max(failed.due.Sub(now), time.Nanosecond); !failed.isQueued && (!ok || left < after) {
			after, ok = left, true
		}
	}
	return after, ok
}
