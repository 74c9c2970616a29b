package memstore

import (
	"context"
	"fmt"
	"strings"
)

// feed is the log of the events of one topic. It is guarded by Store.mu.
type feed struct {
	log         *eventLog
	last        Revision      // the revision of the latest event
	lastRemoved Revision      // the revision of the latest event that was removed
	wake        chan struct{} // closed at the next event; nil if no reader waits
}

// waitChannel returns the channel that is closed at the next event.
func (f *feed) waitChannel() chan struct{} {
	if f.wake == nil {
		f.wake = make(chan struct{})
	}
	return f.wake
}

// takeWaiters appends the channel of waiting readers, if there are any, to toClose and resets it.
func (f *feed) takeWaiters(toClose []chan struct{}) []chan struct{} {
	if f.wake != nil {
		toClose = append(toClose, f.wake)
		f.wake = nil
	}
	return toClose
}

// closeAll wakes the readers that wait on the channels. It is called without locks, because waking
// thousands of goroutines takes time.
func closeAll(toClose []chan struct{}) {
	for _, c := range toClose {
		close(c)
	}
}

// topic returns the part of a key before the first "/", or the whole key if there is none.
func topic(key string) string {
	t, _, _ := strings.Cut(key, "/")
	return t
}

// Cursor reads the events of the keys with a prefix in the order of their revisions. It is a
// position, not a queue: events are not buffered for it or kept in memory by it, and writers never
// wait for it. It need not be closed. A Cursor must be used by one goroutine at a time.
type Cursor struct {
	s         *Store
	prefix    string
	feed      *feed
	restores  uint64
	pos       Revision        // all events up to this revision have been returned
	searchKey Event           // the position in a log; a field, so that Next does not allocate
	waiter    *filteredWaiter // of the last ReadyFor; guarded by Store.mu
}

// Watch returns a cursor for the events after revision after whose key has the prefix. If the
// prefix contains a "/", the cursor is woken by writes to its topic only, otherwise by every write.
// Watch returns a *CompactedError (ErrCompacted) if events after the revision have been removed. A
// future revision is allowed: the cursor returns no events until the store has passed it.
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
	return &Cursor{s: s, prefix: prefix, feed: f, restores: s.restores.Load(), pos: after}, nil
}

// Next fills buf with the next events and returns their number. If it is len(buf), there may be
// more events. If it is 0, there are none at this time. Next does not block. The loop of a watch is
//
//	for {
//		n, err := c.Next(buf)
//		if err != nil {
//			return err
//		}
//		if n == 0 {
//			select {
//			case <-c.Ready():
//			case <-ctx.Done():
//				return ctx.Err()
//			}
//		}
//		for _, e := range buf[:n] { ... }
//	}
//
// Next returns a *CompactedError (ErrCompacted) if an event of the cursor's topic was removed
// before it was returned; removed events of other topics do not matter. It returns ErrRestored if
// the store was restored. After an error n is 0, and further calls return the same error.
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

// readBatch reads events for a short time, because writers wait for it. It reports whether there
// may be more.
func (c *Cursor) readBatch(buf []*Event, n *int) (more bool, err error) {
	const maxScan = 1024
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
			more = seen == maxScan || *n == len(buf)
			return !more
		})
	}
	if !more {
		c.pos = max(c.pos, c.s.head.Load().rev)
	}
	return more, nil
}

// check returns the error of the cursor. The caller holds Store.mu.
func (c *Cursor) check() error {
	if c.restores != c.s.restores.Load() {
		return ErrRestored
	}
	if c.feed.lastRemoved > c.pos {
		return &CompactedError{c.pos, c.s.hist.watchFloor}
	}
	return nil
}

// trimFor removes old events if the cursor has events to read, so that the result of Next does not
// depend on other readers of the store.
func (s *Store) trimFor(c *Cursor) {
	s.mu.RLock()
	behind := c.feed.last > c.pos
	s.mu.RUnlock()
	if behind {
		s.trimOverdue()
	}
}

// Ready returns a channel that is closed when Next may return events or an error. Call it after
// Next has returned 0. Events between the two calls are not missed: the channel is then already
// closed. The channel is for the topic, not for the prefix, so Next may return 0 again.
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

// isIdle reports whether Next would return 0. The caller holds Store.mu.
func (c *Cursor) isIdle() bool { return c.check() == nil && c.feed.last <= c.pos }

// closedChannel returns a new closed channel. A shared one would belong to the bubble in which it
// was made.
func closedChannel() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// Revision returns the revision up to which all events of the prefix have been returned. After a
// Next that returned fewer events than len(buf), it is the revision of the store at that time,
// which a bookmark can have. While a cursor waits for a future revision, it is that revision, and
// no bookmark should be sent.
func (c *Cursor) Revision() Revision { return c.pos }

// Wait blocks until the revision of the store is at least rev, or until ctx is done. In that case
// it returns an error that wraps ctx.Err(). It continues to wait when the store is restored to an
// older revision.
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
