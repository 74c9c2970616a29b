package timeline

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// NextOrder returns the order of something that happens now, besides exchanges, frames, decisions
// and notes.
func (r *Recorder) NextOrder() uint64 { return r.pool.order.Add(1) }

// Order returns the order of what happened last. All that has a lower or the same order is in what
// is read from now on.
func (r *Recorder) Order() uint64 { return r.pool.order.Load() }

// RequestsSince returns the exchanges that began after an order, without bodies, frames and
// decisions. It must not be changed.
func (r *Recorder) RequestsSince(order uint64) []Exchange {
	recorded, _ := r.recordings()
	recorded = slices.DeleteFunc(recorded, func(x *recording) bool { return x.order <= order })
	slices.SortFunc(recorded, func(a, b *recording) int { return cmp.Compare(a.seq, b.seq) })
	list := make([]Exchange, len(recorded))
	for i, x := range recorded {
		list[i] = x.withoutContent()
	}
	return list
}

// Changed returns a channel that is closed when a response begins or an exchange ends.
func (r *Recorder) Changed() <-chan struct{} { return r.changes.next() }

// Reset removes the exchanges that have ended, the frames and decisions of the others, and all
// notes. Numbers and orders go on.
func (r *Recorder) Reset() {
	r.notes.reset()
	for _, x := range r.removeEnded() {
		x.reset(&r.pool)
	}
}

// removeEnded removes the exchanges that have ended, and returns the others.
func (r *Recorder) removeEnded() (open []*recording) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ring := slices.Concat(r.ring[r.oldest:], r.ring[:r.oldest])
	r.ring, r.oldest = nil, 0
	for _, x := range ring {
		if x.ended {
			x.dropBodies(&r.pool)
		} else {
			r.ring = append(r.ring, x)
		}
	}
	open = slices.Clone(r.ring)
	for x := range r.running {
		open = append(open, x)
	}
	r.removed = r.seq - uint64(len(open))
	return open
}

// reset removes the frames and the decisions.
func (x *recording) reset(p *bodyPool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.admission = nil
	if x.stream != nil {
		x.stream.drop(len(x.stream.frames), p)
		x.stream.forgotten = 0
	}
}

// changes wakes up those that wait for a change. The zero value is ready to use.
type changes struct {
	waiting atomic.Pointer[chan struct{}] // nil if nothing waits
}

// next returns a channel that is closed at the next change.
func (c *changes) next() <-chan struct{} {
	for {
		if waiting := c.waiting.Load(); waiting != nil {
			return *waiting
		}
		waiting := make(chan struct{})
		if c.waiting.CompareAndSwap(nil, &waiting) {
			return waiting
		}
	}
}

// notify reports a change.
func (c *changes) notify() {
	if c.waiting.Load() == nil {
		return
	}
	if waiting := c.waiting.Swap(nil); waiting != nil {
		close(*waiting)
	}
}
