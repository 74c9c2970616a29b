package memstore

// Update is the one way to write a single object: create, change and delete are callers of it. fn is
// given the current record under the key (nil if there is none) and returns what shall be stored
// in its place, or nil for nothing: then the record is deleted. An error of fn is returned as it is.
//
// fn runs without a lock, so that a slow one holds up nobody; if somebody else wrote the key
// meanwhile, fn runs again with the new record. It must have no side effects. Nothing but the
// last run counts. ErrQuotaExceeded comes of the quota; nothing has changed then.
//
// The event says what happened. If the draft equals the current record, nothing changes, no revision is
// used, and the event has the record as Record and Prev, and its revision (see Event.Changed). Deleting
// what does not exist returns a nil event.
func (s *Store) Update(key string, fn func(cur *Record) (*Draft, error)) (*Event, error) {
	if key == "" {
		return nil, ErrEmptyKey
	}
	for {
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
		if e, done, err := s.tryWrite(key, seen, cur, draft); done {
			return e, err
		}
	}
}

// tryWrite stores the draft if cur, which was read from seen, is still the record under the key.
func (s *Store) tryWrite(key string, seen *state, cur *Record, draft *Draft) (_ *Event, done bool, err error) {
	if e, same := noop(cur, draft); same {
		return e, true, nil // it was the same when cur was read, and that is when this write takes place
	}
	s.writeMu.Lock()
	head := s.head.Load()
	if head != seen && head.get(key) != cur {
		s.writeMu.Unlock()
		return nil, false, nil
	}
	events := []*Event{newEvent(key, head.rev+1, cur, draft)}
	if !s.withinQuota(head, events) {
		s.writeMu.Unlock()
		return nil, true, ErrQuotaExceeded
	}
	wakes := s.commit(head, events)
	s.writeMu.Unlock()
	closeAll(wakes)
	return events[0], true, nil
}

// noop reports whether the draft leaves things as they are, and the event that says so.
func noop(cur *Record, draft *Draft) (*Event, bool) {
	switch {
	case cur == nil:
		return nil, draft == nil
	case draft == nil || !draft.equals(cur):
		return nil, false
	}
	return &Event{Revision: cur.Revision, Record: cur, Prev: cur}, true
}

// newEvent is what writing the draft over prev does.
func newEvent(key string, rev Revision, prev *Record, draft *Draft) *Event {
	e := &Event{Revision: rev, Prev: prev}
	if draft != nil {
		e.Record = draft.record(key, rev, prev)
	}
	return e
}

// commit makes the events, which follow each other and the head, the present. The caller holds the
// writer's lock, and closes the channels that commit returns when it has released it.
func (s *Store) commit(head *state, events []*Event) (wakes []chan struct{}) {
	now := s.clock.now()
	states := head.applyAll(events)
	head = states[len(states)-1]
	picks := s.currentFilteredWaiters()
	awake := matchingWaiters(picks, events)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.head.Store(head)
	for _, e := range events {
		e.time = now
		wakes = s.hist.append(e).takeWaiters(wakes)
	}
	wakes = s.takeFilteredWaiters(len(picks), awake, s.hist.all.takeWaiters(wakes))
	for _, state := range states {
		s.hist.addBase(state)
	}
	s.hist.trim(now, head)
	return wakes
}
