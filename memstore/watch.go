package memstore

import (
	"context"
	"fmt"
	"strings"
)

// feed is the events of one topic, as cursors read them. Guarded by the lock of the history.
type feed struct {
	log         *eventLog
	last        Revision      // the newest event there was
	lastRemoved Revision      // the newest event that was forgotten
	wake        chan struct{} // closed at the next event; nil while nobody waits
}

// waitChannel returns the channel that the next event closes.
func (f *feed) waitChannel() chan struct{} {
	if f.wake == nil {
		f.wake = make(chan struct{})
	}
	return f.wake
}

// takeWaiters takes the channel of those who wait, nil if nobody does, and appends it to wakes.
func (f *feed) takeWaiters(wakes []chan struct{}) []chan struct{} {
	if f.wake != nil {
		wakes = append(wakes, f.wake)
		f.wake = nil
	}
	return wakes
}

// closeAll wakes everybody who waits on the channels. No lock is held: waking thousands takes a while.
func closeAll(wakes []chan struct{}) {
	for _, c := range wakes {
		close(c)
	}
}

// topic is the part of a key before the first "/", the whole key if there is none.
func topic(key string) string {
	t, _, _ := strings.Cut(key, "/")
	return t
}

// Cursor reads the events under a prefix, in the order of their revisions, at the pace of the reader.
// It is a position, not a queue: nothing is buffered for it, a writer never waits for it, and it keeps
// no event in memory. There is nothing to close. One goroutine at a time may use a Cursor.
type Cursor struct {
	s         *Store
	prefix    string
	feed      *feed
	restores  uint64
	pos       Revision        // everything up to here was returned
	searchKey Event           // where reading resumes in a log; a field, so that Next allocates nothing
	waiter    *filteredWaiter // of the last WakeFor; guarded by the lock of the history
}

// Watch returns a cursor over the events with a revision above after whose key has the prefix. A
// prefix that holds a "/" is woken by its topic only, any other by every write.
// A *CompactedError (ErrCompacted) says that events after that revision are no longer all there. A revision
// in the future is allowed: the cursor is silent until the store has passed it.
func (s *Store) Watch(prefix string, after Revision) (*Cursor, error) {
	now := s.clock.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hist.trim(now, s.head.Load())
	if after < s.hist.watchFloor {
		return nil, &CompactedError{after, s.hist.watchFloor}
	}
	f := s.hist.all
	if strings.Contains(prefix, "/") {
		f = s.hist.feed(topic(prefix))
	}
	return &Cursor{s: s, prefix: prefix, feed: f, restores: s.restores, pos: after}, nil
}

// Next fills buf with the next events and returns how many there were: len(buf) if there may be more,
// 0 if there are none at this moment. It does not block. The loop of a watcher is
//
//	for {
//		n, err := c.Next(buf)
//		if err != nil {
//			return err
//		}
//		if n == 0 {
//			select {
//			case <-c.Wake():
//			case <-ctx.Done():
//				return ctx.Err()
//			}
//		}
//		for _, e := range buf[:n] { ... }
//	}
//
// The error is a *CompactedError (ErrCompacted) if an event of the cursor's topic was forgotten before it
// was returned (whatever is forgotten of other topics does no harm), or ErrRestored. It comes
// with n = 0 and stays.
func (c *Cursor) Next(buf []*Event) (int, error) {
	c.s.trimFor(c)
	n := 0
	for n < len(buf) {
		more, err := c.readBatch(buf, &n)
		if err != nil {
			return 0, err
		}
		if !more {
			break
		}
	}
	return n, nil
}

// readBatch reads one stretch, short enough for a writer to wait for, and reports whether another may follow.
func (c *Cursor) readBatch(buf []*Event, n *int) (more bool, err error) {
	const stretch = 1024
	c.s.mu.RLock()
	defer c.s.mu.RUnlock()
	if err := c.check(); err != nil {
		return false, err
	}
	if c.feed.last > c.pos {
		seen := 0
		c.searchKey.Revision = c.pos + 1
		c.feed.log.AscendGreaterOrEqual(&c.searchKey, func(e *Event) bool {
			c.pos = e.Revision
			if strings.HasPrefix(e.Key(), c.prefix) {
				buf[*n] = e
				*n++
			}
			seen++
			more = seen == stretch || *n == len(buf)
			return !more
		})
	}
	if !more {
		c.pos = max(c.pos, c.s.head.Load().rev)
	}
	return more, nil
}

// check says whether the cursor can go on. The caller holds the lock of the history.
func (c *Cursor) check() error {
	if c.restores != c.s.restores {
		return ErrRestored
	}
	if c.feed.lastRemoved > c.pos {
		return &CompactedError{c.pos, c.s.hist.watchFloor}
	}
	return nil
}

// trimFor drops events that are too old, if the cursor has something to read: what it is given
// must not depend on who else looked at the store.
func (s *Store) trimFor(c *Cursor) {
	s.mu.RLock()
	behind := c.feed.last > c.pos
	s.mu.RUnlock()
	if behind {
		s.trimOverdue()
	}
}

// Ready returns a channel that is closed when Next may have something to return: events, or an error. Call it
// after a Next that returned 0. Nothing is lost between the two calls: if something has happened since,
// the channel is closed already. A wake-up may prove empty, as it is for the topic and not for the prefix.
func (c *Cursor) Ready() <-chan struct{} {
	c.s.mu.RLock()
	wake, idle := c.feed.wake, c.isIdle()
	c.s.mu.RUnlock()
	if idle && wake == nil {
		c.s.mu.Lock()
		defer c.s.mu.Unlock()
		if idle = c.isIdle(); idle {
			wake = c.feed.waitChannel()
		}
	}
	if !idle {
		return closedChannel()
	}
	return wake
}

// isIdle reports whether Next would return 0. The caller holds the lock of the history.
func (c *Cursor) isIdle() bool { return c.check() == nil && c.feed.last <= c.pos }

// closedChannel returns a channel of its own, as a shared one would tie stores to the bubble it was made in.
func closedChannel() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// Revision is the revision up to which everything under the prefix has been returned. After a Next that
// returned fewer events than asked for, it is the store's revision at that moment: what a bookmark may
// carry. As long as a cursor waits for a future revision, it is that revision, and no bookmark is due.
func (c *Cursor) Revision() Revision { return c.pos }

// Wait blocks until the store's revision is rev or above, or ctx is done; then it returns
// an error that wraps ctx.Err. A Restore to an older state does not end it.
func (s *Store) Wait(ctx context.Context, rev Revision) error {
	for {
		s.mu.Lock()
		if s.head.Load().rev >= rev {
			s.mu.Unlock()
			return nil
		}
		wake := s.hist.all.waitChannel()
		s.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
			return fmt.Errorf("memstore: waiting for revision %d: %w", rev, ctx.Err())
		}
	}
}
