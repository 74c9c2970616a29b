package metrics

import (
	"math"
	"sort"
	"sync/atomic"
)

// durations are the upper ends of the buckets of times, in seconds.
func durations() []float64 {
	return durationBuckets[:]
}

var durationBuckets = [...]float64{
	0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
}

// sizes are those of the buckets of events, in bytes.
func sizes() []float64 { return sizeBuckets[:] }

var sizeBuckets = [...]float64{1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10}

// timing is a histogram. The last bucket is for what is above all of them.
type timing struct {
	buckets [len(durationBuckets) + 1]atomic.Uint64
	sum     atomic.Uint64 // the bits of a float64
}

func (t *timing) observe(v float64, ends []float64) {
	at := 0
	if v > ends[0] { // most are not
		at = sort.SearchFloat64s(ends, v)
	}
	t.buckets[at].Add(1)
	for {
		old := t.sum.Load()
		if t.sum.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+v)) {
			return
		}
	}
}

// add adds another histogram, which may be running.
func (t *timing) add(other *timing) {
	for i := range t.buckets {
		t.buckets[i].Add(other.buckets[i].Load())
	}
	t.sum.Store(math.Float64bits(math.Float64frombits(t.sum.Load()) + math.Float64frombits(other.sum.Load())))
}

// count is how often something was observed.
func (t *timing) count() (n uint64) {
	for i := range t.buckets {
		n += t.buckets[i].Load()
	}
	return n
}
