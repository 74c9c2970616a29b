package memstore

import "slices"

// filteredWaiter is a cursor that waits for matching events.
type filteredWaiter struct {
	filter func(*Event) bool
	wake   chan struct{} // closed after the waiter was removed from the list of the store
}

// ReadyFor returns a channel that is closed at the next event for which wants returns true. Next
// then returns that event and all events before it. It is a variant of Ready for readers that need
// few of the events: other events do not wake the reader's goroutine, which takes some
// microseconds, but only call wants.
//
// Writers call wants once for each event of any key, before the event is visible. wants must be
// fast and must not write to the store. It may read the store, which is in the state before the
// event. It is used until the channel is closed; until then, further calls of ReadyFor of the same
// cursor return the same channel.
//
// The events of a cursor that waits for long may be removed from the history.
func (c *Cursor) ReadyFor(wants func(*Event) bool) <-chan struct{} {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if !c.isIdle() {
		return closedChannel()
	}
	for _, p := range c.s.filteredWaiters {
		if p == c.waiter {
			return p.wake
		}
	}
	c.waiter = &filteredWaiter{wants, make(chan struct{})}
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
func matchingWaiters(picks []*filteredWaiter, events []*Event) (awake []*filteredWaiter) {
	for _, p := range picks {
		if slices.ContainsFunc(events, p.filter) {
			awake = append(awake, p)
		}
	}
	return awake
}

// takeFilteredWaiters removes the matching waiters from the list and appends their channels to
// wakes. It also removes the waiters after the first asked ones, because their filters have not
// been called for the events. The caller holds mu.
func (s *Store) takeFilteredWaiters(asked int, awake []*filteredWaiter, wakes []chan struct{}) []chan struct{} {
	if len(awake) == 0 && len(s.filteredWaiters) == asked {
		return wakes
	}
	var stay []*filteredWaiter
	for i, p := range s.filteredWaiters {
		if i < asked && !slices.Contains(awake, p) {
			stay = append(stay, p)
		} else {
			wakes = append(wakes, p.wake)
		}
	}
	s.filteredWaiters = stay
	return wakes
}
