package memstore

import "slices"

// pick is a reader who waits for some events only.
type pick struct {
	wants func(*Event) bool
	wake  chan struct{} // closed, by broadcast, when it has been taken off the store's list
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
	if !c.idle() {
		return closed()
	}
	for _, p := range c.s.picks {
		if p == c.pick {
			return p.wake
		}
	}
	c.pick = &pick{wants, make(chan struct{})}
	// A new list, as writers read the old one without the lock.
	c.s.picks = append(c.s.picks[:len(c.s.picks):len(c.s.picks)], c.pick)
	return c.pick.wake
}

// waiting gives those who pick, as of now.
func (s *Store) waiting() []*pick {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.picks
}

// concerned gives those of the picks whom one of the events concerns.
func concerned(picks []*pick, events []*Event) (awake []*pick) {
	for _, p := range picks {
		if slices.ContainsFunc(events, p.wants) {
			awake = append(awake, p)
		}
	}
	return awake
}

// rousePicks takes those who are awake off the list and appends their channels to wakes. Those who have come since
// the first asked were asked are woken to be sure. The caller holds the lock of the history.
func (s *Store) rousePicks(asked int, awake []*pick, wakes []chan struct{}) []chan struct{} {
	if len(awake) == 0 && len(s.picks) == asked {
		return wakes
	}
	var stay []*pick
	for i, p := range s.picks {
		if i < asked && !slices.Contains(awake, p) {
			stay = append(stay, p)
		} else {
			wakes = append(wakes, p.wake)
		}
	}
	s.picks = stay
	return wakes
}
