package memstore

import "slices"

// filteredWaiter is a reader who waits for some events only.
type filteredWaiter struct {
	filter func(*Event) bool
	wake   chan struct{} // closed, by broadcast, when it has been taken off the store's list
}

// ReadyFor is Wake for a reader whom few events concern: the channel is closed when one comes for which wants is
// true, and Next then returns it with all that came before. Those that do not concern the reader do not
// wake it, and cost the writer one call of wants instead of some microseconds for a goroutine that wakes.
//
// wants is called by writers, once for an event and before anybody can see it, whatever its key. It must be quick, and
// must not write; it may look at the store, which is as it was before the event. It is asked as long as the
// channel is open: another WakeFor of the same cursor returns the same channel.
//
// A cursor that sleeps through many events may find that they were forgotten.
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
	// A new list, as writers read the old one without the lock.
	c.s.filteredWaiters = append(c.s.filteredWaiters[:len(c.s.filteredWaiters):len(c.s.filteredWaiters)], c.waiter)
	return c.waiter.wake
}

// currentFilteredWaiters gives those who pick, as of now.
func (s *Store) currentFilteredWaiters() []*filteredWaiter {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.filteredWaiters
}

// matchingWaiters gives those of the picks whom one of the events concerns.
func matchingWaiters(picks []*filteredWaiter, events []*Event) (awake []*filteredWaiter) {
	for _, p := range picks {
		if slices.ContainsFunc(events, p.filter) {
			awake = append(awake, p)
		}
	}
	return awake
}

// takeFilteredWaiters takes those who are awake off the list and appends their channels to wakes. Those who have come since
// the first asked were asked are woken to be sure. The caller holds the lock of the history.
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
