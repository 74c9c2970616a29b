package memstore

// Snapshot is the state of a store at one moment, to go back to, in this store or in another.
// It is a reference, and it keeps that state in memory. It does not hold history. The zero Snapshot is
// of an empty store at revision 0.
type Snapshot struct{ state *state }

// Revision is the revision that the store had.
func (snap Snapshot) Revision() Revision {
	if snap.state == nil {
		return 0
	}
	return snap.state.rev
}

// Snapshot returns the current state. It costs nothing.
func (s *Store) Snapshot() Snapshot { return Snapshot{s.head.Load()} }

// Restore puts the store back to the state of the snapshot, as restoring etcd from a backup does. With
// bump 0 the revision goes back to that of the snapshot, and revisions that clients have seen are
// given out again with other content: the accident as it happens. With a bump the revision becomes that
// much more than the highest of both, as with etcd's --bump-revision.
//
// History is forgotten: both floors are the new revision. Every open cursor ends with
// ErrRestored. Wait goes on waiting. The cost does not depend on the number of records.
func (s *Store) Restore(snap Snapshot, bump Revision) {
	closeAll(s.restore(snap, bump))
}

func (s *Store) restore(snap Snapshot, bump Revision) (wakes []chan struct{}) {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	state := snap.stateAt(s.head.Load().rev, bump)

	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.hist
	s.hist = newHistory(old.limits, state)
	s.restores++
	s.head.Store(state)
	for _, f := range old.feeds {
		wakes = f.takeWaiters(wakes)
	}
	return s.takeFilteredWaiters(0, nil, old.all.takeWaiters(wakes))
}

// RestoreCount counts how often the store was restored. What somebody has noted of a revision holds only as
// long as the count stays: after a Restore the same number may be given to another state.
func (s *Store) RestoreCount() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.restores
}

// stateAt returns the state of the snapshot under the revision that restoring it gives.
func (snap Snapshot) stateAt(current, bump Revision) *state {
	from := snap.state
	if from == nil {
		from = newState(0)
	}
	if bump == 0 {
		return from
	}
	return &state{rev: max(current, from.rev) + bump, db: from.db, dirs: from.dirs, bytes: from.bytes}
}

// Fork returns an independent store with the same state, history and limits. Nothing that is done to one
// shows in the other; cursors and waiters stay with the original. The cost does not depend on the
// number of records or events.
//
// Channels belong to the synctest bubble they were made in, and a fork has none in common with its
// original: a store that was filled outside can be forked into every bubble that wants one.
func (s *Store) Fork() *Store {
	s.mu.Lock() // not to read alone: cloning a tree marks the original
	defer s.mu.Unlock()
	f := &Store{hist: s.hist.clone(), quota: s.quota}
	f.clock.last, f.clock.elapsed = s.clock.read()
	f.head.Store(s.head.Load())
	return f
}
