package memstore

import "strings"

// Update creates, changes or deletes the record of one key. fn is called with the current record,
// nil if it does not exist, and returns what to store, or nil to delete the record. If fn returns
// an error, Update returns it unchanged and stores nothing.
//
// fn is called without a lock. If another write changed the record in the meantime, or one that the
// draft reads, fn is called again, so it must not have side effects. Update returns
// ErrQuotaExceeded, and stores nothing, if the quota would be exceeded.
//
// If the draft equals the current record, nothing is stored and no revision is used; Record and
// Prev of the event are then that record, and Revision is its revision (see Event.Changed). If the
// record to delete does not exist, the event is nil.
func (s *Store) Update(key string, fn func(cur *Record) (*Draft, error)) (*Event, error) {
	if key == "" {
		return nil, ErrEmptyKey
	}
	for {
		restores := s.restores.Load() // before the state, so that a Restore in between is noticed
		seen := s.head.Load()
		cur := seen.get(key)
		draft, err := fn(cur)
		if err != nil {
			return nil, err
		}
		if draft != nil {
			if err := draft.check(); err != nil {
				return nil, err
			}
		}
		if e, done, err := s.tryWrite(key, seen, restores, cur, draft); done {
			return e, err
		}
	}
}

// tryWrite stores the draft if cur is still the record of the key. cur was read from seen, after
// that number of restores. done is false if the record, or one that the draft depends on, has
// changed.
func (s *Store) tryWrite(key string, seen *state, restores uint64, cur *Record, draft *Draft) (_ *Event, done bool, err error) {
	if e, isNoop := noop(cur, draft); isNoop {
		return e, true, nil // the write takes effect at the time at which cur was read
	}
	s.writeMu.Lock()
	head := s.head.Load()
	if head != seen && (head.get(key) != cur || draft != nil && s.mayHaveChanged(draft.Reads, seen, restores)) {
		s.writeMu.Unlock()
		return nil, false, nil
	}
	events := []*Event{newEvent(key, head.rev+1, cur, draft)}
	if !s.withinQuota(head, events) {
		s.writeMu.Unlock()
		return nil, true, ErrQuotaExceeded
	}
	toClose := s.commit(head, events)
	s.writeMu.Unlock()
	closeAll(toClose)
	return events[0], true, nil
}

// mayHaveChanged reports whether a record whose key has one of the prefixes may have changed since
// the state seen, which was read after that number of restores. The caller holds the writer's lock.
func (s *Store) mayHaveChanged(prefixes []string, seen *state, restores uint64) bool {
	if len(prefixes) == 0 {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.restores.Load() != restores || seen.rev < s.hist.watchFloor {
		return true
	}
	for _, prefix := range prefixes {
		if f := s.hist.feeds[topic(prefix)]; f != nil && f.last > seen.rev && f.hasEvent(prefix, seen.rev) {
			return true
		}
	}
	return false
}

// hasEvent reports whether a key with the prefix was written after a revision.
func (f *feed) hasEvent(prefix string, after Revision) (found bool) {
	f.log.AscendGreaterOrEqual(&Event{Revision: after + 1}, func(e *Event) bool {
		found = strings.HasPrefix(e.Key(), prefix)
		return !found
	})
	return found
}

// noop reports whether the draft equals cur, and returns the event for that case.
func noop(cur *Record, draft *Draft) (*Event, bool) {
	switch {
	case cur == nil:
		return nil, draft == nil
	case draft == nil || !draft.equals(cur):
		return nil, false
	}
	return &Event{Revision: cur.Revision, Record: cur, Prev: cur}, true
}

// newEvent returns the event of writing draft, nil for a deletion, over prev.
func newEvent(key string, rev Revision, prev *Record, draft *Draft) *Event {
	e := &Event{Revision: rev, Prev: prev}
	if draft != nil {
		e.Record = draft.record(key, rev, prev)
	}
	return e
}

// commit makes events, whose revisions follow that of head, the current state. The caller holds the
// writer's lock and closes the returned channels after releasing it.
func (s *Store) commit(head *state, events []*Event) (toClose []chan struct{}) {
	now := s.clock.now()
	states := head.applyAll(events)
	head = states[len(states)-1]
	waiters := s.currentFilteredWaiters()
	matching := matchingWaiters(waiters, events)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.head.Store(head)
	for _, e := range events {
		e.time = now
		toClose = s.hist.append(e).takeWaiters(toClose)
	}
	toClose = s.takeFilteredWaiters(len(waiters), matching, s.hist.all.takeWaiters(toClose))
	for _, state := range states {
		s.hist.addBase(state)
	}
	s.hist.trim(now, head)
	return toClose
}
