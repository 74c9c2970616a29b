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
	down atomic.Pointer[downtime] // nil while it is ready

	noWatchList atomic.Bool

	mu sync.Mutex // guards all below
	// watches is the life of the watches that are open; end ends them.
	watches context.Context
	end     context.CancelFunc
}

// downtime is a time in which the cache is not ready.
type downtime struct{ since, until time.Time }

func newWatchCache() *watchCache {
	c := &watchCache{}
	c.watches, c.end = context.WithCancel(context.Background())
	return c
}

// CacheNotReady makes the watch cache be filled anew, which takes a time: all
// watches end, and until then new ones and the lists that the cache would answer are
// refused (RS-31, WA-39). A time of 0 makes it ready at once.
func (a *API) CacheNotReady(d time.Duration) {
	now := time.Now()
	a.cache.down.Store(&downtime{since: now, until: now.Add(d)}) // first, so that no watch slips through
	a.EndWatches()
	a.AdmitWatches()
}

// EndWatches ends all watches, cleanly, and every new one at once until AdmitWatches.
func (a *API) EndWatches() {
	a.cache.mu.Lock()
	defer a.cache.mu.Unlock()
	a.cache.end()
}

// AdmitWatches lets watches be opened again after EndWatches.
func (a *API) AdmitWatches() {
	a.cache.mu.Lock()
	defer a.cache.mu.Unlock()
	if a.cache.watches.Err() != nil {
		a.cache.watches, a.cache.end = context.WithCancel(context.Background())
	}
}

// SetWatchList switches streaming lists on or off (SI-12).
func (a *API) SetWatchList(on bool) { a.cache.noWatchList.Store(!on) }

func (a *API) hasWatchList() bool { return !a.cache.noWatchList.Load() }

// bind has end called when the watches of now are ended. Call stop when it is not
// needed any more.
func (c *watchCache) bind(end context.CancelFunc) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return context.AfterFunc(c.watches, end)
}

// ready is nil, or the 429 of a cache that is being filled. The longer that takes,
// the later a client is to come back: from 1 to 30 seconds.
func (c *watchCache) ready() error {
	down := c.down.Load()
	if down == nil {
		return nil
	}
	now := time.Now()
	if !now.Before(down.until) {
		c.down.CompareAndSwap(down, nil)
		return nil
	}
	const growth = 0.06
	after := math.Exp(growth * now.Sub(down.since).Seconds())
	return status.WatchCacheInitializing(int(min(max(after, 1), 30)))
}

// readyFor is ready for a list: one with a limit and without selectors goes to
// storage instead (RS-31).
func (c *watchCache) readyFor(sel selector, opts *metainternal.ListOptions) error {
	if sel.all() && opts.Limit > 0 {
		return nil
	}
	return c.ready()
}
