package memstore

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// The limits of a store whose Options do not say otherwise.
const (
	DefaultStartRevision Revision = 1000            // a new server looks like one that has lived
	DefaultHistoryAge             = 5 * time.Minute // as often as an API server compacts etcd
	DefaultHistoryCount           = 100_000         // events
	DefaultHistoryBytes  int64    = 256 << 20       // 256 MiB
	DefaultQuota         int64    = 2 << 30         // 2 GiB, as etcd's
)

// Options say where a store begins and how much it remembers. The zero value of each field means its
// default, a negative limit means none.
type Options struct {
	// StartRevision is the revision of the empty store; the first write gets the next one. Nothing before
	// Start can be read or watched. Default: DefaultStartRevision.
	StartRevision Revision

	// HistoryAge is how long an event and the state before it are remembered. Default: DefaultHistoryAge.
	HistoryAge time.Duration

	// HistoryCount is how many events are remembered. Default: DefaultHistoryCount.
	HistoryCount int

	// HistoryBytes bounds the memory that remembered events keep alive: the data of the replaced states
	// with the encodings that were derived of it by then, and a flat 1 KiB an event. Default: DefaultHistoryBytes.
	HistoryBytes int64

	// Quota bounds what the current records take: their keys and data, and a flat 512 bytes each. A write
	// that would make it more, and more than it is, fails with ErrQuotaExceeded. Default: DefaultQuota.
	Quota int64
}

// withDefaults returns the options with every default filled in and "none" as the highest number.
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

// Store holds records by key, under one revision that counts the writes, and remembers what happened.
// All its methods may be called at any time from any goroutine. It has no goroutines, and nothing to close.
type Store struct {
	// writeMu is held by the one who writes, for the whole write. Lock order: write, then mu.
	writeMu sync.Mutex

	// head is the current state. Readers load it without a lock. It is stored under write and mu, so
	// that under either of them it stands still, and under mu it belongs to hist.
	head atomic.Pointer[state]

	// mu guards hist, era and picks. It is held for a few microseconds at a time, never while waiting for anything.
	mu       sync.RWMutex
	hist     *history
	restores uint64 // counts restores
	// filteredWaiters are those who wait in WakeFor. The list is replaced, never changed.
	filteredWaiters []*filteredWaiter

	clock clock
	quota int64 // of the bytes of a state
}

// New returns an empty store.
func New(o Options) *Store {
	o = o.withDefaults()
	head := newState(o.StartRevision)
	s := &Store{hist: newHistory(o, head), clock: clock{last: time.Now()}, quota: o.Quota}
	s.head.Store(head)
	return s
}

// Revision is the revision of the last write.
func (s *Store) Revision() Revision { return s.head.Load().rev }

// View returns the current state. It never blocks.
func (s *Store) View() View {
	head := s.head.Load()
	return View{rev: head.rev, base: head}
}

// ViewAt returns the state at a revision. The error is a *CompactedError (ErrCompacted) below the floor
// of exact reads, a *FutureRevisionError (ErrFutureRevision) above the current revision.
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

// Floors returns the oldest revision that ViewAt answers, and the oldest that Watch accepts.
// exact >= watch, and neither is above the current revision.
func (s *Store) Floors() (view, watch Revision) {
	s.trimOverdue()
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.hist.viewFloor, s.hist.watchFloor
}

// Age returns how long ago a revision was written: 0 for one of the future, and the longest duration
// there is for one that history no longer holds. With it a reader can stay behind the store by a time.
func (s *Store) Age(rev Revision) time.Duration {
	now := s.clock.now()
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.hist.age(rev, now)
}

// CompactViews raises the floor of exact reads to the current revision, as a compaction of etcd does: older
// lists and continue tokens have expired. Watches, also new ones, are untouched: they are served from a
// window of their own.
func (s *Store) CompactViews() {
	s.mu.Lock()
	defer s.mu.Unlock()
	head := s.head.Load()
	s.hist.raiseViewFloor(head.rev, head)
}

// CompactAll forgets all history: both floors are raised to the current revision, and a new watch from before
// it fails. A cursor that has returned all events of its topic goes on, as it misses none.
func (s *Store) CompactAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	head := s.head.Load()
	s.hist.raiseWatchFloor(head.rev, head)
}

// trimOverdue drops what is too old, so that an idle store forgets, too.
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
