package handlers

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"example.com/fakeapi/fake/internal/status"
)

// watchCache is what of a real server's watch cache can be missed: there is none
// here, but clients see when a real one is not ready, and when it ends its watches.
type watchCache struct {
	initializing atomic.Pointer[initialization] // nil while it is ready

	noWatchList atomic.Bool

	mu sync.Mutex // guards all below
	// watches is the life of the watches that are open; end ends them.
	watches    context.Context
	endWatches context.CancelFunc
}

// initialization is a time in which the cache is not ready.
type initialization struct{ since, until time.Time }

func newWatchCache() *watchCache {
	c := &watchCache{}
	c.watches, c.endWatches = context.WithCancel(context.Background())
	return c
}

// ReinitializeCache makes the watch cache be filled anew, which takes a time: all
// watches end, and until then new ones and the lists that the cache would answer are
// refused (RS-31, WA-39). A time of 0 makes it ready at once.
func (a *API) ReinitializeCache(d time.Duration) {
	now := time.Now()
	a.watchCache.initializing.Store(&initialization{since: now, until: now.Add(d)}) // first, so that no watch slips through
	a.EndWatches()
	a.AllowWatches()
}

// EndWatches ends all watches, cleanly, and every new one at once until AllowWatches.
func (a *API) EndWatches() {
	a.watchCache.mu.Lock()
	defer a.watchCache.mu.Unlock()
	a.watchCache.endWatches()
}

// AllowWatches lets watches be opened again after EndWatches.
func (a *API) AllowWatches() {
	a.watchCache.mu.Lock()
	defer a.watchCache.mu.Unlock()
	if a.watchCache.watches.Err() != nil {
		a.watchCache.watches, a.watchCache.endWatches = context.WithCancel(context.Background())
	}
}

// SetWatchList switches streaming lists on or off (SI-12).
func (a *API) SetWatchList(on bool) { a.watchCache.noWatchList.Store(!on) }

func (a *API) hasWatchList() bool { return !a.watchCache.noWatchList.Load() }

// onEnd has end called when the watches of now are ended. Call stop when it is not
// needed any more.
func (c *watchCache) onEnd(end context.CancelFunc) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return context.AfterFunc(c.watches, end)
}

// checkReady is nil, or the 429 of a cache that is being filled. The longer that takes,
// the later a client is to come back: from 1 to 30 seconds.
func (c *watchCache) checkReady() error {
	current := c.initializing.Load()
	if current == nil {
		return nil
	}
	now := time.Now()
	if !now.Before(current.until) {
		c.initializing.CompareAndSwap(current, nil)
		return nil
	}
	const growth = 0.06
	after := math.Exp(growth * now.Sub(current.since).Seconds())
	return status.WatchCacheInitializing(int(min(max(after, 1), 30)))
}

// checkReadyForList is ready for a list: one with a limit and without selectors goes to
// storage instead (RS-31).
func (c *watchCache) checkReadyForList(sel selector, opts *metainternal.ListOptions) error {
	if sel.isEmpty() && opts.Limit > 0 {
		return nil
	}
	return c.checkReady()
}
