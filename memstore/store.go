package memstore

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// The defaults of Options.
const (
	DefaultStartRevision Revision = 1000            // as if the server had been in use
	DefaultHistoryAge             = 5 * time.Minute // the interval at which kube-apiserver compacts etcd
	DefaultHistoryCount           = 100_000         // events
	DefaultHistoryBytes  int64    = 256 << 20       // 256 MiB
	DefaultQuota         int64    = 2 << 30         // 2 GiB, the default of etcd
)

// Options are the parameters of a store. The zero value of a field selects its default, and a
// negative value means no limit.
type Options struct {
	// StartRevision is the revision of the empty store. The first write gets the next one. Earlier
	// revisions can neither be read nor watched. The default is DefaultStartRevision.
	StartRevision Revision

	// HistoryAge is how long an event and the state before it are kept. The default is
	// DefaultHistoryAge.
	HistoryAge time.Duration

	// HistoryCount is the maximum number of events. The default is DefaultHistoryCount.
	HistoryCount int

	// HistoryBytes limits the memory that events keep in use, in bytes: the replaced data with the
	// encodings that were cached at that time, and 1 KiB for each event. The default is
	// DefaultHistoryBytes.
	HistoryBytes int64

	// Quota limits the size of the current records in bytes: their keys and data, and 512 bytes
	// each. A write that increases the size beyond the quota fails with ErrQuotaExceeded. The
	// default is DefaultQuota.
	Quota int64
}

// withDefaults returns the options with defaults filled in and negative limits replaced by the
// maximum value.
func (o Options) withDefaults() Options {
	if o.StartRevision == 0 {
		o.StartRevision = DefaultStartRevision
	}
	o.HistoryAge = limitOrDefault(o.HistoryAge, DefaultHistoryAge, math.MaxInt64)
	o.HistoryCount = limitOrDefault(o.HistoryCount, DefaultHistoryCount, math.MaxInt)
	o.HistoryBytes = limitOrDefault(o.HistoryBytes, DefaultHistoryBytes, math.MaxInt64)
	o.Quota = limitOrDefault(o.Quota, DefaultQuota, math.MaxInt64)
	return o
}

func limitOrDefault[T ~int | ~int64](given, defaultLimit, unlimited T) T {
	switch {
	case given == 0:
		return defaultLimit
	case given < 0:
		return unlimited
	}
	return given
}

// Store maps keys to records, under one revision that counts the writes, and keeps a limited
// history. Its methods can be called concurrently. It starts no goroutines and need not be closed.
type Store struct {
	// writeMu is held during a write. Lock order: writeMu before mu.
	writeMu sync.Mutex

	// head is the current state. It is read without a lock and stored with writeMu and mu held.
	// While either of them is held it does not change; while mu is held it is consistent with hist.
	head atomic.Pointer[state]

	// mu guards hist and filteredWaiters. It is held for a few microseconds only, and
	// never while waiting.
	mu   sync.RWMutex
	hist *history
	// filteredWaiters are the cursors that wait in ReadyFor. The list is replaced, never modified.
	filteredWaiters []*filteredWaiter

	// restores is the number of calls of Restore. It is written with mu held, after head.
	restores atomic.Uint64

	clock clock
	quota int64 // the maximum size of the state in bytes
}

// New returns an empty store.
func New(o Options) *Store {
	o = o.withDefaults()
	head := newState(o.StartRevision)
	s := &Store{hist: newHistory(o, head), clock: clock{last: time.Now()}, quota: o.Quota}
	s.head.Store(head)
	return s
}

// Revision returns the revision of the last write.
func (s *Store) Revision() Revision { return s.head.Load().rev }

// View returns the current state. It does not block.
func (s *Store) View() View {
	head := s.head.Load()
	return View{rev: head.rev, base: head}
}

// ViewAt returns the state at a revision. It returns a *CompactedError (ErrCompacted) below the
// view floor, and a *FutureRevisionError (ErrFutureRevision) above the current revision.
func (s *Store) ViewAt(rev Revision) (View, error) {
	if v := s.View(); v.rev == rev {
		return v, nil
	}
	s.trimOverdue()
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch head := s.head.Load(); {
	case rev > head.rev:
		return View{}, &FutureRevisionError{rev, head.rev}
	case rev < s.hist.viewFloor:
		return View{}, &CompactedError{rev, s.hist.viewFloor}
	case rev == head.rev:
		return View{rev: rev, base: head}, nil
	}
	return s.hist.view(rev), nil
}

// Floors returns the oldest revision that ViewAt returns and the oldest that Watch accepts. The
// first is not below the second, and neither is above the current revision.
func (s *Store) Floors() (view, watch Revision) {
	s.trimOverdue()
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.hist.viewFloor, s.hist.watchFloor
}

// Age returns the time since a revision was written. It is 0 for a future revision, and the maximum
// duration for one that is not in the history. Readers use it to stay a fixed time behind the
// store.
func (s *Store) Age(rev Revision) time.Duration {
	now := s.clock.now()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if rev > s.head.Load().rev {
		return 0
	}
	return s.hist.age(rev, now)
}

// CompactViews raises the view floor to the current revision, as a compaction of etcd does: lists
// at older revisions and their continue tokens expire. Open and new watches are not affected.
func (s *Store) CompactViews() {
	s.mu.Lock()
	defer s.mu.Unlock()
	head := s.head.Load()
	s.hist.raiseViewFloor(head.rev, head)
}

// CompactAll removes the history and raises both floors to the current revision, so a new watch
// from an older revision fails. A cursor that has returned all events of its topic continues.
func (s *Store) CompactAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	head := s.head.Load()
	s.hist.raiseWatchFloor(head.rev, head)
}

// trimOverdue removes old events, so that the history of an idle store expires.
func (s *Store) trimOverdue() {
	now := s.clock.now()
	s.mu.RLock()
	overdue := s.hist.isOverdue(now)
	s.mu.RUnlock()
	if overdue {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hist.trim(now, s.head.Load())
	}
}
