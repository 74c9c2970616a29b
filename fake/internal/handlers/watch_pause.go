package handlers

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/watchcache"
)

// A watch of a resource that many clients watch pauses between its writes to the client while the
// store is written faster than the watch follows, so that it sends the events of a pause with one
// write. A write to the client costs 5 to 10 µs of processor time, more than all else that the
// server does for an event. An event that is alone is sent at once.
const (
	manyWatches   = 16                    // with fewer watches of the resource there are no pauses
	pausePerWatch = 50 * time.Microsecond // multiplied by the watches of the resource
	maxPause      = 100 * time.Millisecond
)

// openWatches counts the open watches of each resource. The zero value is ready for use.
type openWatches struct {
	mu     sync.Mutex
	counts map[schema.GroupResource]*atomic.Int64 // of the resources that are watched
}

// add counts a watch of a resource until done is called. count is the number of its open watches.
func (o *openWatches) add(of schema.GroupResource) (count *atomic.Int64, done func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	count = o.counts[of]
	if count == nil {
		count = new(atomic.Int64)
		if o.counts == nil {
			o.counts = map[schema.GroupResource]*atomic.Int64{}
		}
		o.counts[of] = count
	}
	count.Add(1)
	return count, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if count.Add(-1) == 0 {
			delete(o.counts, of)
		}
	}
}

// pauseAfterWrite returns how long a watch of a resource with a number of open watches pauses.
func pauseAfterWrite(watches int64) time.Duration {
	if watches < manyWatches {
		return 0
	}
	return min(time.Duration(watches)*pausePerWatch, maxPause)
}

// pause waits, if the stream is behind, until the pause after its last write is over or ctx is done.
func (s *stream) pause(ctx context.Context) {
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
	case <-ctx.Done():
	}
}
