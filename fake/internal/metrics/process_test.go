package metrics

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
)

// The name of a program may be anything, and hold what ends it.
func TestReadStat(t *testing.T) {
	var p process
	const stat = "7 (a) b) (c) S 1 2 3 4 5 6 7 8 9 10 250 150 13 14 15 16 17 18 19 2048 3 21 22\n"
	require.NoError(t, p.readStat([]byte(stat)))
	require.Equal(t, process{cpuSeconds: 4, virtual: 2048, resident: 3 * float64(os.Getpagesize())}, p)
	require.Error(t, p.readStat([]byte("7 (a) S 1 2")))
	require.Error(t, p.readStat(nil))
	require.Error(t, p.readStat([]byte("7 (a) S 1 2 3 4 5 6 7 8 9 10 x 150 13 14 15 16 17 18 19 2048 3 21 22\n")))
}

func TestReadLimits(t *testing.T) {
	var p process
	require.NoError(t, p.readLimits([]byte("Limit                     Soft Limit           Hard Limit           Units     \n"+
		"Max open files            1024                 4096                 files     \n"+
		"Max address space         unlimited            unlimited            bytes     \n")))
	require.Equal(t, process{maxFiles: 1024, maxVirtual: 1 << 64}, p)
	require.Error(t, p.readLimits([]byte("Max open files            x\n")))
}

// What the process has is told as it is: more files, goroutines and memory show.
func TestProcessIsTold(t *testing.T) {
	debug.FreeOSMemory() // so that what others have left is not what grows
	before := values(t)
	if runtime.GOOS == "linux" {
		require.Contains(t, before, "process_cpu_seconds_total") // which is 0 at first: it is told in hundredths
		for _, name := range []string{"process_max_fds", "process_open_fds", "process_resident_memory_bytes", "process_virtual_memory_bytes", "process_virtual_memory_max_bytes"} {
			require.Positive(t, before[name], name)
		}
		require.Greater(t, before["process_virtual_memory_bytes"], before["process_resident_memory_bytes"])
	}
	for _, m := range measures() {
		require.Contains(t, before, m.name)
	}
	require.InDelta(t, runtime.NumGoroutine(), before["go_goroutines"], 2)

	end := make(chan struct{})
	for range 100 {
		go func() { <-end }()
	}
	var files []*os.File
	for range 10 {
		f, err := os.Open(os.DevNull)
		require.NoError(t, err)
		files = append(files, f)
	}
	held := make([]byte, 64<<20)
	for i := range held {
		held[i] = 1
	}
	after := values(t)
	require.InDelta(t, before["go_goroutines"]+100, after["go_goroutines"], 2)
	require.Greater(t, after["go_memstats_heap_inuse_bytes"], before["go_memstats_heap_inuse_bytes"]+32<<20)
	if runtime.GOOS == "linux" {
		require.InDelta(t, before["process_open_fds"]+10, after["process_open_fds"], 2)
		require.Greater(t, after["process_resident_memory_bytes"], before["process_resident_memory_bytes"]+32<<20)
	}
	runtime.KeepAlive(held)
	close(end)
	for _, f := range files {
		require.NoError(t, f.Close())
	}
}

// values are the metrics of the process and the runtime that have one value.
func values(t *testing.T) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	for _, f := range append(gatherProcess(), gatherRuntime()...) {
		require.Len(t, f.Metric, 1)
		switch m := f.Metric[0]; f.GetType() {
		case dto.MetricType_COUNTER:
			found[f.GetName()] = m.GetCounter().GetValue()
		case dto.MetricType_GAUGE:
			found[f.GetName()] = m.GetGauge().GetValue()
		default:
			require.Equal(t, "go_gc_duration_seconds", f.GetName())
			require.Len(t, m.GetSummary().GetQuantile(), 5)
		}
	}
	return found
}
