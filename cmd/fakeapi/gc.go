package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	fakeapi "example.com/fakeapi/fake"
)

const (
	// minGarbage is how many bytes are allocated at least between two garbage collections. Without
	// it a server with few objects collects each few hundred writes, which takes a tenth of its
	// processor time. With twice as much the first requests of a process take up to half as long
	// again in a virtual machine, because they use memory for the first time.
	minGarbage = 32 << 20
	// defaultGCPercent is the default of GOGC.
	defaultGCPercent = 100
	// liveHeap is the metric of the bytes that the last collection has left.
	liveHeap = "/gc/heap/live:bytes"
)

// delayCollections makes the garbage collector start when the heap has grown by minGarbage, or has
// doubled if that is later, so that a large heap has the limits that Go has for it. If the
// environment variable GOGC is set, it does nothing.
func delayCollections() {
	if os.Getenv("GOGC") != "" {
		return
	}
	percent := defaultGCPercent
	var adjust func()
	adjust = func() {
		live := []metrics.Sample{{Name: liveHeap}}
		metrics.Read(live)
		// SetGCPercent stops all goroutines, so small differences are left.
		if next := gcPercent(live[0].Value.Uint64()); next < percent*9/10 || next > percent*11/10 {
			percent = next
			debug.SetGCPercent(next)
		}
		// The cleanup of an unreachable object runs after the next collection.
		runtime.AddCleanup(new([16]byte), func(f func()) { f() }, adjust)
	}
	adjust()
}

// preload initializes in the background what the first write needs; see fakeapi.Preload. It
// collects the garbage of this, so that the first writes use memory that the process has
// already.
func preload() {
	go func() {
		fakeapi.Preload()
		runtime.GC()
	}()
}

// gcPercent returns the GOGC for a number of live bytes. The collector counts 4 MiB for a heap that
// is smaller.
func gcPercent(live uint64) int {
	const smallest = 4 << 20
	return int(max(uint64(minGarbage)*100/max(live, smallest), defaultGCPercent))
}
