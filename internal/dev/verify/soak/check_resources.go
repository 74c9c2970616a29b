package soak

import (
	"fmt"
	goruntime "runtime"
	"time"
)

// resourceUsage is what the process uses while no requests are sent.
type resourceUsage struct {
	goroutines int
	heap       uint64
}

// maxHeapGrowth is how much the heap may grow after the second round. A leak of the garbage of a
// few rounds would be much larger.
const maxHeapGrowth = 32 << 20

// checkResourceUsage checks that there are no more goroutines and not much more memory than after
// the first rounds, and no requests or watches that no client has.
func (s *environment) checkResourceUsage() (complaints []string) {
	for _, g := range s.transports {
		g.next.CloseIdleConnections()
	}
	watchers := len(s.watchers) + len(s.informers) + len(s.kinds) // and those of the recorder
	complaints = append(complaints, s.checkIdle(watchers)...)
	var h resourceUsage
	h.goroutines = goruntime.NumGoroutine()
	if s.round > 1 && !waitUntil(10*time.Second, func() bool { h.goroutines = goruntime.NumGoroutine(); return h.goroutines <= s.baseline.goroutines }) {
		complaints = append(complaints, fmt.Sprintf("leak: %d goroutines, there were %d after the first round", h.goroutines, s.baseline.goroutines))
	}
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	h.heap = m.HeapAlloc
	if s.round > 2 && h.heap > s.baseline.heap+maxHeapGrowth {
		complaints = append(complaints, fmt.Sprintf("leak: %d bytes on the heap, there were %d after the second round", h.heap, s.baseline.heap))
	}
	if s.round <= 2 {
		s.baseline.heap = h.heap
	}
	if s.round == 1 {
		s.baseline.goroutines = h.goroutines
	}
	return complaints
}

// checkIdle checks that the given number of watches is served, and no other request. Watches are
// restarted now and then, so that there may be fewer for a moment, but never more.
func (s *environment) checkIdle(watchers int) (complaints []string) {
	full := false
	for range 8 {
		watches, others := s.activeRequests()
		if watches > watchers || others != 2 {
			return []string{fmt.Sprintf("leak: there should be %d watches, and no request but two for the metrics; there are %d and %d", watchers, watches, others)}
		}
		full = full || watches == watchers
		time.Sleep(30 * time.Millisecond)
	}
	if !full {
		complaints = append(complaints, fmt.Sprintf("uncounted: there should be %d watches, by the metrics there never are", watchers))
	}
	return complaints
}
