package fakeapi_test

import (
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// BenchmarkAdmissionWebhooks measures updates of a ConfigMap over HTTP for which webhooks are
// called, on a network in memory, and beside them the same updates on a server without webhooks.
// The webhooks run in the process too: x-without is the ratio of the times, and more-allocs and
// more-B is what an update allocates more, client and webhooks included.
func BenchmarkAdmissionWebhooks(b *testing.B) {
	for _, bench := range []struct {
		name, path, hook string
		hooks            int
	}{
		{name: "absent"},
		{"unmatched=100", validatingPath, "other", 100},
		{"validating=1", validatingPath, "allow", 1},
		{"validating=10", validatingPath, "allow", 10},
		{"mutating=1", mutatingPath, "label", 1},
		{"mutating=10", mutatingPath, "label", 10},
	} {
		b.Run(bench.name, func(b *testing.B) {
			h := newWebhookServer(b)
			h.review("label", func(*admissionRequest) *admissionResponse {
				return patchResponse(`[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`)
			})
			var hooks []string
			for i := range bench.hooks {
				more := fmt.Sprintf(`"name":"n%d.example.com"`, i)
				if bench.hook == "other" {
					more += `,"rules":[` + rule("*", "", "v1", "secrets") + `]`
				}
				hooks = append(hooks, h.webhook(b, bench.hook, more))
			}
			with := newWebhookBenchmark(b, fakeapi.WithWebhookDialer(h.dial))
			without := newWebhookBenchmark(b)
			if len(hooks) > 0 {
				with.send(b, http.MethodPost, with.url+bench.path, mediaJSON, mediaJSON, []byte(configuration("c", hooks...)))
			}
			with.updates(b, 10)
			without.updates(b, 10)
			wantCalls := 0
			if bench.hook != "other" {
				wantCalls = bench.hooks * 10
			}
			require.Len(b, h.take(), wantCalls)
			with.took, with.allocs, with.bytes = 0, 0, 0
			without.took, without.allocs, without.bytes = 0, 0, 0
			b.ResetTimer()
			const slice = 20
			for first := 0; first < b.N; first += slice {
				n := min(slice, b.N-first)
				with.updates(b, n)
				h.take()
				without.updates(b, n)
			}
			n := float64(b.N)
			b.ReportMetric(0, "ns/op") // the sum of both is not meaningful
			b.ReportMetric(float64(with.took.Microseconds())/n, "µs/write")
			b.ReportMetric(with.took.Seconds()/without.took.Seconds(), "x-without")
			b.ReportMetric(float64(int64(with.allocs-without.allocs))/n, "more-allocs")
			b.ReportMetric(float64(int64(with.bytes-without.bytes))/n, "more-B")
		})
	}
}

// webhookBenchmark is a server with a ConfigMap, and what its updates have cost.
type webhookBenchmark struct {
	benchTarget
	count         int
	took          time.Duration
	allocs, bytes uint64
}

func newWebhookBenchmark(b *testing.B, opts ...fakeapi.Option) *webhookBenchmark {
	b.Helper()
	srv := fakeapi.Start(b, append(opts, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(newConfigMap("a")))...)
	return &webhookBenchmark{benchTarget: benchTarget{srv.URL(), srv.Client()}}
}

// updates updates the ConfigMap n times.
func (w *webhookBenchmark) updates(b *testing.B, n int) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	for range n {
		w.count++
		body := fmt.Sprintf(`{"metadata":{"name":"a"},"data":{"count":"%d"}}`, w.count)
		w.send(b, http.MethodPut, w.url+configMapsPath+"/a", mediaJSON, mediaJSON, []byte(body))
	}
	w.took += time.Since(begin)
	runtime.ReadMemStats(&after)
	w.allocs += after.Mallocs - before.Mallocs
	w.bytes += after.TotalAlloc - before.TotalAlloc
}
