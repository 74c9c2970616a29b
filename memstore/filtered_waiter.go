package memstore

import "slices"

// filteredWaiter is a cursor that waits for matching events.
type filteredWaiter struct {
	filter func(*Event) bool
	wake   chan struct{} // closed after the waiter was removed from the list of the store
}

// ReadyFor returns a channel that is closed at the next event for which filter returns true. Next
// then returns that event and all events before it. It is a variant of Ready for readers that need
// few of the events: other events do not wake the reader's goroutine, which takes some
// microseconds, but only call filter.
//
// Writers call filter once for each event of any key, before the event is visible. filter must be
// fast and must not write to the store. It may read the store, which is in the state before the
// event. It is used until the channel is closed; until then, further calls of ReadyFor of the same
// cursor return the same channel.
//
// The events of a cursor that waits for long may be removed from the history.
func (c *Cursor) ReadyFor(filter func(*Event) bool) <-chan struct{} {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if !c.isIdle() {
		return closedChannel()
	}
	for _, w := range c.s.filteredWaiters {
		if w == c.waiter {
			return w.wake
		}
	}
	c.waiter = &filteredWaiter{filter, make(chan struct{})}
	// Writers read the list without the lock, so it is copied.
	c.s.filteredWaiters = append(c.s.filteredWaiters[:len(c.s.filteredWaiters):len(c.s.filteredWaiters)], c.waiter)
	return c.waiter.wake
}

// currentFilteredWaiters returns the filtered waiters.
func (s *Store) currentFilteredWaiters() []*filteredWaiter {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.filteredWaiters
}

// matchingWaiters returns the waiters whose filter matches one of the events.
func matchingWaiters(waiters []*filteredWaiter, events []*Event) (matching []*filteredWaiter) {
	for _, w := range waiters {
		if slices.ContainsFunc(events, w.filter) {
			matching = append(matching, w)
		}
	}
	return matching
}

// takeFilteredWaiters removes the matching waiters from the list and appends their channels to
// toClose. It also removes the waiters after the first checked ones, because their filters have not
// been called for the events. The caller holds mu.
func (s *Store) takeFilteredWaiters(checked int, matching []*filteredWaiter, toClose []chan struct{}) []chan struct{} {
	if len(matching) == 0 && len(s.filteredWaiters) == checked {
		return toClose
	}
	var remaining []*filteredWaiter
	for i, w := range s.filteredWaiters {
		if i < checked && !slices.Contains(matching, w) {
			remaining = append(remaining, w)
		} else {
			toClose = append(toClose, w.wake)
		}
	}
	s.filteredWaiters = remaining
	return toClose
}
