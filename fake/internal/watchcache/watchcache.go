// Package watchcache emulates the watch cache of a real API server: the state that it shows, the
// wait for a newer one, and the time in which it is not ready. No objects are cached; they are read
// from the store.
package watchcache

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/memstore"
)

// Cache is the watch cache of one API server instance. It is safe for concurrent use.
type Cache struct {
	view     View
	store    *memstore.Store
	settings Settings

	initialized atomic.Pointer[initialization] // the last one of the whole cache, nil if there was none

	mu sync.Mutex // guards all below
	// watches is the context of the open watches; endWatches cancels it.
	watches    context.Context
	endWatches context.CancelFunc
}

// Settings are the durations of a Cache.
type Settings struct {
	// MaxWait is how long a read waits for a resourceVersion that the store or the view does not
	// have yet (RS-05).
	MaxWait time.Duration
	// Initialization is how long the cache of a custom resource is not ready after a change of its
	// definition. It is 0 by default.
	Initialization time.Duration
}

// initialization is a time in which the cache is not ready.
type initialization struct{ since, until time.Time }

// New returns the Cache of a store. Reads see view, or all of the store if it is nil.
func New(store *memstore.Store, view View, settings Settings) *Cache {
	if view == nil {
		view = currentView{store}
	}
	c := &Cache{view: view, store: store, settings: settings}
	c.watches, c.endWatches = context.WithCancel(context.Background())
	return c
}

// View returns the state that reads from the cache see.
func (c *Cache) View() memstore.View { return c.view.View() }

// Revision returns the revision of View.
func (c *Cache) Revision() memstore.Revision { return c.view.Revision() }

// Until returns what can make rev visible, which it is not now.
func (c *Cache) Until(rev memstore.Revision) Changes { return c.view.Until(rev) }

// WaitUntilFresh waits until rev is visible. timeout is the time that the request has left. The
// error is the 504 of a resourceVersion that is too large (RS-05) or, if timeout ends first, of a
// request timeout (EX-08).
func (c *Cache) WaitUntilFresh(ctx context.Context, timeout time.Duration, rev memstore.Revision) error {
	return c.wait(ctx, timeout, c.view, rev)
}

// WaitUntilStored is WaitUntilFresh for the store instead of the view.
func (c *Cache) WaitUntilStored(ctx context.Context, timeout time.Duration, rev memstore.Revision) error {
	return c.wait(ctx, timeout, currentView{c.store}, rev)
}

func (c *Cache) wait(ctx context.Context, timeout time.Duration, view View, rev memstore.Revision) error {
	if rev <= view.Revision() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, min(timeout, c.settings.MaxWait))
	defer cancel()
	for {
		changes := view.Until(rev)
		if rev <= view.Revision() { // it became visible before Until was called
			return nil
		}
		fired, stop := NewTimer(changes.Delay)
		select {
		case <-changes.View:
		case <-changes.Store:
		case <-fired:
		case <-ctx.Done():
			stop()
			if timeout < c.settings.MaxWait {
				return status.RequestTimeout
			}
			return status.TooLargeResourceVersion(uint64(rev), uint64(view.Revision()))
		}
		stop()
	}
}

// Reinitialize makes the cache unready for d: all watches end, and CheckReady returns an error.
// With 0 the cache is ready immediately.
func (c *Cache) Reinitialize(d time.Duration) {
	now := time.Now()
	// This comes first, so that no watch is opened between the two.
	c.initialized.Store(&initialization{since: now, until: now.Add(d)})
	c.EndWatches()
	c.AllowWatches()
}

// CheckReady returns nil, or the 429 of a cache that is being initialized (RS-31, WA-39). created
// is when the definition of a custom resource began to be as it is, from which its cache
// initializes; for other resources it is zero.
func (c *Cache) CheckReady(created time.Time) error {
	last := c.initialized.Load()
	if c.settings.Initialization > 0 && !created.IsZero() && (last == nil || created.After(last.since)) {
		last = &initialization{since: created, until: created.Add(c.settings.Initialization)}
	}
	if last == nil {
		return nil
	}
	now := time.Now()
	if !now.Before(last.until) {
		return nil
	}
	return status.WatchCacheInitializing(retryAfter(now.Sub(last.since)))
}

// retryAfter returns the seconds after which a client is asked to retry, 1 to 30, which grow with
// the time since the start of the initialization.
func retryAfter(elapsed time.Duration) int {
	const growth = 0.06
	return int(min(max(math.Exp(growth*elapsed.Seconds()), 1), 30))
}

// EndWatches ends all watches without an error. Until AllowWatches is called, new watches end
// immediately.
func (c *Cache) EndWatches() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endWatches()
}

// AllowWatches allows watches again after EndWatches.
func (c *Cache) AllowWatches() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watches.Err() != nil {
		c.watches, c.endWatches = context.WithCancel(context.Background())
	}
}

// OnEndWatches calls end when EndWatches is called. stop ends that.
func (c *Cache) OnEndWatches(end context.CancelFunc) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return context.AfterFunc(c.watches, end)
}
