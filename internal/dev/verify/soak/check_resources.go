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

// checkResourceUsage checks that there are no requests or watches that no client has, and, unless
// other environments run at the same time, no more goroutines and not much more memory than after
// the first rounds.
func (e *environment) checkResourceUsage() (violations []string) {
	for _, transport := range e.transports {
		transport.next.CloseIdleConnections()
	}
	watchers := len(e.watchers) + len(e.informers) + len(e.kinds) // and those of the recorder
	violations = append(violations, e.checkIdle(watchers)...)
	if e.sharesProcess {
		return violations
	}
	var usage resourceUsage
	usage.goroutines = goruntime.NumGoroutine()
	ended := func() bool {
		usage.goroutines = goruntime.NumGoroutine()
		return usage.goroutines <= e.baseline.goroutines
	}
	if e.round > 1 && !waitUntil(10*time.Second, ended) {
		violations = append(violations, e.outsideBubble(func() []string { // where goroutines of earlier checks may still end
			if waitUntil(time.Minute, ended) {
				return nil
			}
			return []string{fmt.Sprintf("leak: %d goroutines, there were %d after the first round", usage.goroutines, e.baseline.goroutines)}
		})...)
	}
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	usage.heap = m.HeapAlloc
	if e.round > 2 && usage.heap > e.baseline.heap+maxHeapGrowth {
		violations = append(violations, fmt.Sprintf("leak: %d bytes on the heap, there were %d after the second round", usage.heap, e.baseline.heap))
	}
	if e.round <= 2 {
		e.baseline.heap = usage.heap
	}
	if e.round == 1 {
		e.baseline.goroutines = usage.goroutines
	}
	return violations
}

// checkIdle checks that the given number of watches is served, and no other request. Watches are
// restarted now and then, so that there may be fewer for a moment, but never more.
func (e *environment) checkIdle(watchers int) (violations []string) {
	full := false
	for range 8 {
		watches, others := e.activeRequests()
		if watches > watchers || others != 2 {
			return []string{fmt.Sprintf("leak: expected are %d watches and 2 other requests, there are %d and %d", watchers, watches, others)}
		}
		full = full || watches == watchers
		time.Sleep(30 * time.Millisecond)
	}
	if !full {
		violations = append(violations, fmt.Sprintf("missing: the metrics never report the %d watches that there are", watchers))
	}
	return violations
}
