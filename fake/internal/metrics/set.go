package metrics

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Recorder is the metrics of one server. Its time begins when it is made.
type Recorder struct {
	begin time.Time
	// objects tells how many there are of each resource.
	objects func() map[schema.GroupResource]int

	requests     series[request, timing]
	aborts       series[Labels, atomic.Int64]
	terminations series[request, atomic.Int64]
	longRunning  series[Labels, atomic.Int64]
	watches      series[schema.GroupVersionResource, WatchEvents]
	reading      atomic.Int64
	writing      atomic.Int64
}

// New makes the metrics of a server that has these objects.
func New(objects func() map[schema.GroupResource]int) *Recorder {
	return &Recorder{begin: time.Now(), objects: objects}
}

// request is what answers are counted by.
type request struct {
	Labels
	code int
}

// RecordRequest counts a request that has been answered with a code after a time.
func (s *Recorder) RecordRequest(l Labels, code int, took time.Duration) {
	s.requests.get(request{l, code}).observe(took.Seconds(), durations())
}

// RecordAbort counts a request whose answer was broken off, or never began.
func (s *Recorder) RecordAbort(l Labels) {
	l.component, l.dryRun = "", ""
	s.aborts.get(l).Add(1)
}

// RecordTermination counts a request that the server has answered with a code because it had
// to defend itself, as by a limit.
func (s *Recorder) RecordTermination(l Labels, code int) {
	l.dryRun = ""
	s.terminations.get(request{l, code}).Add(1)
}

// InFlight is the gauge of those requests that run now.
func (s *Recorder) InFlight(l Labels, longRunning, reading bool) *atomic.Int64 {
	switch {
	case longRunning:
		l.dryRun = ""
		return s.longRunning.get(l)
	case reading:
		return &s.reading
	}
	return &s.writing
}

// WatchEvents gives what counts the events of the watches of a resource. A nil Set gives nil.
func (s *Recorder) WatchEvents(gvr schema.GroupVersionResource) *WatchEvents {
	if s == nil {
		return nil
	}
	return s.watches.get(gvr)
}

// Reset forgets all that was counted. What runs now still does.
func (s *Recorder) Reset() {
	s.requests.reset()
	s.aborts.reset()
	s.terminations.reset()
}

// WatchEvents counts the events of watches.
type WatchEvents struct{ timing }

// Record counts an event of a size in bytes. A nil Watch counts nothing.
func (w *WatchEvents) Record(size int) {
	if w != nil {
		w.observe(float64(size), sizes())
	}
}

// series are values by their labels. A value that is there is found without a lock.
type series[K comparable, V any] struct {
	known atomic.Pointer[map[K]*V]
	mu    sync.Mutex // held by who adds
}

func (s *series[K, V]) all() map[K]*V {
	if known := s.known.Load(); known != nil {
		return *known
	}
	return nil
}

func (s *series[K, V]) get(key K) *V {
	if v := s.all()[key]; v != nil {
		return v
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.all()
	if v := old[key]; v != nil {
		return v
	}
	grown := make(map[K]*V, len(old)+1)
	for k, v := range old {
		grown[k] = v
	}
	grown[key] = new(V)
	s.known.Store(&grown)
	return grown[key]
}

func (s *series[K, V]) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.Store(nil)
}
