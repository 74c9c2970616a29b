package memstore

// Snapshot refers to the state of a store at one revision. It can be restored into the same or
// another store. It keeps the state in memory, but not the history. The zero Snapshot is the state
// of an empty store at revision 0.
type Snapshot struct{ state *state }

// Revision returns the revision of the store when the snapshot was taken.
func (snap Snapshot) Revision() Revision {
	if snap.state == nil {
		return 0
	}
	return snap.state.rev
}

// Snapshot returns the current state. It copies nothing.
func (s *Store) Snapshot() Snapshot { return Snapshot{s.head.Load()} }

// Restore replaces the state of the store by that of the snapshot, as restoring etcd from a backup
// does. With a bump of 0, the revision goes back to that of the snapshot, so revisions that clients
// have seen are used again for other writes. Otherwise the new revision is the higher one of store
// and snapshot plus bump, as with etcd's --bump-revision.
//
// The history is removed, and both floors are set to the new revision. Open cursors fail with
// ErrRestored. Wait continues to wait. The cost does not depend on the number of records.
func (s *Store) Restore(snap Snapshot, bump Revision) {
	closeAll(s.restore(snap, bump))
}

func (s *Store) restore(snap Snapshot, bump Revision) (toClose []chan struct{}) {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	state := snap.stateAt(s.head.Load().rev, bump)

	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.hist
	s.hist = newHistory(old.limits, state)
	s.head.Store(state)
	s.restores.Add(1)
	for _, f := range old.feeds {
		toClose = f.takeWaiters(toClose)
	}
	return s.takeFilteredWaiters(0, nil, old.all.takeWaiters(toClose))
}

// RestoreCount returns how often the store was restored. A caller that remembers a revision should
// remember the count, too, because after a Restore the same revision may identify another state. If
// a view has the state of a Restore, a later call counts that Restore.
func (s *Store) RestoreCount() uint64 {
	s.mu.RLock() // waits for a Restore that has stored its state and not yet counted
	defer s.mu.RUnlock()
	return s.restores.Load()
}

// stateAt returns the state of the snapshot with the revision that it gets in a store at revision
// current.
func (snap Snapshot) stateAt(current, bump Revision) *state {
	from := snap.state
	if from == nil {
		from = newState(0)
	}
	if bump == 0 {
		return from
	}
	return &state{rev: max(current, from.rev) + bump, db: from.db, dirs: from.dirs, bytes: from.bytes, id: from.id}
}

// Fork returns an independent store with the same state, history and limits. Cursors and waiting
// readers stay with the original. The cost does not depend on the number of records or events.
//
// A fork shares no channels with its original. As channels belong to a synctest bubble, a store
// that was filled outside can be forked in every bubble.
func (s *Store) Fork() *Store {
	s.mu.Lock() // a read lock is not enough, because cloning a tree modifies it
	defer s.mu.Unlock()
	f := &Store{hist: s.hist.clone(), quota: s.quota}
	f.clock.last, f.clock.elapsed = s.clock.read()
	f.head.Store(s.head.Load())
	return f
}
