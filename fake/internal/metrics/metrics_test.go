package metrics

import (
	"bufio"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"runtime"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// scrape returns the metric families of a Recorder by name.
func scrape(t *testing.T, r *Recorder) map[string]*dto.MetricFamily {
	t.Helper()
	request := httptest.NewRequest("GET", "/metrics", nil)
	request.Header.Set("Accept", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
	w := httptest.NewRecorder()
	r.ServeHTTP(w, request)
	decoder := expfmt.NewDecoder(bufio.NewReader(w.Body), expfmt.NewFormat(expfmt.TypeProtoDelim))
	families := make(map[string]*dto.MetricFamily)
	for {
		var f dto.MetricFamily
		err := decoder.Decode(&f)
		if errors.Is(err, io.EOF) {
			return families
		}
		require.NoError(t, err)
		families[f.GetName()] = &f
	}
}

func newRecorder() *Recorder {
	return New(func() map[schema.GroupResource]int { return map[schema.GroupResource]int{{Resource: "pods"}: 7} })
}

func TestProcessMetrics(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the names are those of Linux")
	}
	begin := time.Now()
	r := newRecorder()
	started := time.Now()
	before := scrape(t, r)
	for _, name := range []string{
		"go_gc_duration_seconds", "go_goroutines", "go_info", "go_memstats_alloc_bytes", "go_memstats_alloc_bytes_total",
		"go_memstats_frees_total", "go_memstats_heap_alloc_bytes", "go_memstats_heap_idle_bytes", "go_memstats_heap_inuse_bytes",
		"go_memstats_heap_objects", "go_memstats_heap_released_bytes", "go_memstats_heap_sys_bytes", "go_memstats_mallocs_total",
		"go_memstats_next_gc_bytes", "go_memstats_stack_inuse_bytes", "go_memstats_sys_bytes", "go_threads",
		"process_cpu_seconds_total", "process_max_fds", "process_open_fds", "process_resident_memory_bytes",
		"process_virtual_memory_bytes", "process_virtual_memory_max_bytes",
	} {
		require.Contains(t, before, name)
	}
	value := func(families map[string]*dto.MetricFamily, name string) float64 {
		return families[name].Metric[0].GetGauge().GetValue()
	}
	start := value(before, "process_start_time_seconds")
	require.GreaterOrEqual(t, start, float64(begin.Unix()), "the start of the server, not of the process")
	require.LessOrEqual(t, start, float64(started.Unix()+1))

	var open []*os.File
	for range 20 {
		f, err := os.Open(os.DevNull)
		require.NoError(t, err)
		open = append(open, f)
	}
	after := scrape(t, r)
	require.GreaterOrEqual(t, value(after, "process_open_fds"), value(before, "process_open_fds")+20)
	for _, f := range open {
		require.NoError(t, f.Close())
	}
}

func TestReset(t *testing.T) {
	r := newRecorder()
	l := Labels{verb: "GET", resource: "pods"}
	r.InFlight(l, true, true).Inc()
	r.WatchEvents(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Record(100)
	for range 2 {
		r.RecordRequest(l, 200, time.Second)
		r.RecordRequest(l, 404, time.Millisecond)
		r.RecordAbort(l)
		r.RecordTermination(l, 429)
		families := scrape(t, r)
		require.Len(t, families["apiserver_request_total"].Metric, 2)
		require.Equal(t, 1.0, families["apiserver_request_total"].Metric[0].GetCounter().GetValue())
		require.Len(t, families["apiserver_request_duration_seconds"].Metric, 1)
		require.EqualValues(t, 2, families["apiserver_request_duration_seconds"].Metric[0].GetHistogram().GetSampleCount())
		require.InDelta(t, 1.001, families["apiserver_request_duration_seconds"].Metric[0].GetHistogram().GetSampleSum(), 1e-9)
		require.Contains(t, families, "apiserver_request_aborts_total")
		require.Contains(t, families, "apiserver_request_terminations_total")

		r.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("DELETE", "/metrics", nil))
		families = scrape(t, r)
		for _, name := range []string{
			"apiserver_request_total", "apiserver_request_duration_seconds", "apiserver_request_aborts_total", "apiserver_request_terminations_total",
		} {
			require.NotContains(t, families, name)
		}
		require.Equal(t, 1.0, families["apiserver_longrunning_requests"].Metric[0].GetGauge().GetValue())
		require.Equal(t, 1.0, families["apiserver_watch_events_total"].Metric[0].GetCounter().GetValue())
		require.EqualValues(t, 7, families["apiserver_resource_objects"].Metric[0].GetGauge().GetValue())
	}
}

// Histograms have native buckets (KEP-5808) besides the classic ones.
func TestNativeHistograms(t *testing.T) {
	r := newRecorder()
	r.RecordRequest(Labels{verb: "GET", resource: "pods"}, 200, time.Second)
	r.WatchEvents(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Record(100)
	r.RecordWebhook(WebhookCall{Name: "a.example.com", Duration: time.Second})
	families := scrape(t, r)
	for _, name := range []string{
		"apiserver_request_duration_seconds", "apiserver_watch_events_sizes", "apiserver_admission_webhook_admission_duration_seconds",
	} {
		h := families[name].Metric[0].GetHistogram()
		require.NotEmpty(t, h.GetBucket(), name)
		require.NotZero(t, h.GetSchema(), name)
		require.NotEmpty(t, h.GetPositiveSpan(), name)
	}
}
