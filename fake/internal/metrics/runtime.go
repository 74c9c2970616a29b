package metrics

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"
)

// measure is a metric of Go's runtime by the name that Go's client of Prometheus gives it: the sum of
// what package runtime/metrics, which stops nobody, has under other names.
type measure struct {
	name, help string
	counter    bool
	of         []string
}

// The names that several measures are made of.
const (
	heapObjects  = "/memory/classes/heap/objects:bytes"
	heapUnused   = "/memory/classes/heap/unused:bytes"
	heapFree     = "/memory/classes/heap/free:bytes"
	heapReleased = "/memory/classes/heap/released:bytes"
	tinyAllocs   = "/gc/heap/tiny/allocs:objects"
)

// measures are those that dashboards show.
func measures() []measure {
	return []measure{
		{"go_threads", "Number of OS threads created.", false, []string{"/sched/threads/total:threads"}},
		{"go_memstats_alloc_bytes", "Number of bytes allocated in heap and currently in use.", false, []string{heapObjects}},
		{"go_memstats_alloc_bytes_total", "Total number of bytes allocated in heap until now, even if released already.", true, []string{"/gc/heap/allocs:bytes"}},
		{"go_memstats_frees_total", "Total number of heap objects frees.", true, []string{"/gc/heap/frees:objects", tinyAllocs}},
		{"go_memstats_heap_alloc_bytes", "Number of heap bytes allocated and currently in use.", false, []string{heapObjects}},
		{"go_memstats_heap_idle_bytes", "Number of heap bytes waiting to be used.", false, []string{heapReleased, heapFree}},
		{"go_memstats_heap_inuse_bytes", "Number of heap bytes that are in use.", false, []string{heapObjects, heapUnused}},
		{"go_memstats_heap_objects", "Number of currently allocated objects.", false, []string{"/gc/heap/objects:objects"}},
		{"go_memstats_heap_released_bytes", "Number of heap bytes released to OS.", false, []string{heapReleased}},
		{"go_memstats_heap_sys_bytes", "Number of heap bytes obtained from system.", false, []string{heapObjects, heapUnused, heapReleased, heapFree}},
		{"go_memstats_mallocs_total", "Total number of heap objects allocated, both live and gc-ed.", true, []string{"/gc/heap/allocs:objects", tinyAllocs}},
		{"go_memstats_next_gc_bytes", "Number of heap bytes when next garbage collection will take place.", false, []string{"/gc/heap/goal:bytes"}},
		{"go_memstats_stack_inuse_bytes", "Number of bytes obtained from system for stack allocator in non-CGO environments.", false, []string{"/memory/classes/heap/stacks:bytes"}},
		{"go_memstats_sys_bytes", "Number of bytes obtained from system.", false, []string{"/memory/classes/total:bytes"}},
	}
}

// gatherRuntime asks Go's runtime. What a release of Go does not know is left out.
func gatherRuntime() []*dto.MetricFamily {
	families := []*dto.MetricFamily{
		family(dto.MetricType_GAUGE, "go_info", "Information about the Go environment.", []*dto.Metric{gauge(1, "version", runtime.Version())}),
		// Not /sched/goroutines, which has the runtime's own among them.
		single(dto.MetricType_GAUGE, "go_goroutines", "Number of goroutines that currently exist.", float64(runtime.NumGoroutine())),
		gatherCollections(),
	}
	for _, m := range measures() {
		var sum float64
		samples := make([]metrics.Sample, len(m.of))
		for i, name := range m.of {
			samples[i].Name = name
		}
		metrics.Read(samples)
		known := true
		for _, s := range samples {
			if known = known && s.Value.Kind() == metrics.KindUint64; known {
				sum += float64(s.Value.Uint64())
			}
		}
		kind := dto.MetricType_GAUGE
		if m.counter {
			kind = dto.MetricType_COUNTER
		}
		if known {
			families = append(families, single(kind, m.name, m.help, sum))
		}
	}
	return families
}

// gatherCollections has the pauses of garbage collections.
func gatherCollections() *dto.MetricFamily {
	stats := debug.GCStats{PauseQuantiles: make([]time.Duration, 5)}
	debug.ReadGCStats(&stats)
	summary := &dto.Summary{SampleCount: proto.Uint64(uint64(stats.NumGC)), SampleSum: proto.Float64(stats.PauseTotal.Seconds())}
	for i, pause := range stats.PauseQuantiles {
		quantile := float64(i) / float64(len(stats.PauseQuantiles)-1)
		summary.Quantile = append(summary.Quantile, &dto.Quantile{Quantile: proto.Float64(quantile), Value: proto.Float64(pause.Seconds())})
	}
	return family(dto.MetricType_SUMMARY, "go_gc_duration_seconds",
		"A summary of the wall-time pause (stop-the-world) duration in garbage collection cycles.", []*dto.Metric{{Summary: summary}})
}

// single is a family of one metric without labels.
func single(kind dto.MetricType, name, help string, value float64) *dto.MetricFamily {
	m := gauge(value)
	if kind == dto.MetricType_COUNTER {
		m = counter(value)
	}
	return family(kind, name, help, []*dto.Metric{m})
}
