package handlers

import (
	"sync"
	"sync/atomic"
	"time"

	"example.com/fakeapi/fake/internal/watchcache"
)

// A watch of a collection that many clients watch pauses between its writes to the client while the
// store is written faster than the watch follows, so that it sends the events of a pause with one
// write. A write to the client costs 5 to 10 µs of processor time, more than all else that the
// server does for an event. An event that is alone is sent at once.
const (
	manyWatches   = 16                    // with fewer watches of the collection there are no pauses
	pausePerWatch = 50 * time.Microsecond // multiplied by the watches of the collection
	maxPause      = 100 * time.Millisecond
)

// openWatches counts the open watches of each collection: those of a resource in all namespaces,
// and those in each namespace. The zero value is ready for use.
type openWatches struct {
	mu     sync.Mutex
	counts map[string]*atomic.Int64 // by the prefixes of the collections that are watched
}

// add counts a watch of the collection with a prefix until done is called. count is the number of
// its open watches.
func (o *openWatches) add(prefix string) (count *atomic.Int64, done func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	count = o.counts[prefix]
	if count == nil {
		count = new(atomic.Int64)
		if o.counts == nil {
			o.counts = map[string]*atomic.Int64{}
		}
		o.counts[prefix] = count
	}
	count.Add(1)
	return count, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if count.Add(-1) == 0 {
			delete(o.counts, prefix)
		}
	}
}

// pauseAfterWrite returns how long a watch of a collection with a number of open watches pauses.
func pauseAfterWrite(watches int64) time.Duration {
	if watches < manyWatches {
		return 0
	}
	return min(time.Duration(watches)*pausePerWatch, maxPause)
}

// pause waits, if the stream is behind, until the pause after its last write is over or ctx is
// done.
func (s *stream) pause() {
	if !s.behind || !s.api.settings.WatchPauses {
		return
	}
	length := pauseAfterWrite(s.watches.Load())
	if length == 0 {
		return
	}
	over, stop := watchcache.NewTimer(length - time.Since(s.written))
	defer stop()
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-s.ctx.Done():
	}
}
