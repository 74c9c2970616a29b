package metrics

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"
)

// gather puts the families together, sorted by their names.
func (s *Recorder) gather() []*dto.MetricFamily {
	families := []*dto.MetricFamily{
		s.gatherRequests(), s.gatherDurations(), s.gatherAborts(), s.gatherTerminations(), s.gatherLongRunning(),
		family(dto.MetricType_GAUGE, "apiserver_current_inflight_requests", "[STABLE] Requests that are being served now, by their kind.", []*dto.Metric{
			gauge(float64(s.writing.Load()), "request_kind", "mutating"),
			gauge(float64(s.reading.Load()), "request_kind", "readOnly"),
		}),
		s.gatherEvents(), s.gatherEventSizes(), s.gatherObjects(),
		single(dto.MetricType_GAUGE, "process_start_time_seconds", "When the server began, in seconds since the epoch.", float64(s.begin.UnixNano())/1e9),
	}
	families = append(append(families, gatherProcess()...), gatherRuntime()...)
	families = slices.DeleteFunc(families, func(f *dto.MetricFamily) bool { return len(f.Metric) == 0 })
	slices.SortFunc(families, func(a, b *dto.MetricFamily) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return families
}

func (s *Recorder) gatherRequests() *dto.MetricFamily {
	var all []*dto.Metric
	for r, t := range s.requests.all() {
		all = append(all, counter(float64(t.count()), append(r.pairs(), "component", r.component, "dry_run", r.dryRun, "code", strconv.Itoa(r.code))...))
	}
	return family(dto.MetricType_COUNTER, "apiserver_request_total", "[STABLE] Requests, by what they were for and the code of the answer.", all)
}

// gatherDurations has the times of all codes together.
func (s *Recorder) gatherDurations() *dto.MetricFamily {
	sums := make(map[Labels]*timing)
	for r, t := range s.requests.all() {
		if sums[r.Labels] == nil {
			sums[r.Labels] = new(timing)
		}
		sums[r.Labels].add(t)
	}
	var all []*dto.Metric
	for l, t := range sums {
		all = append(all, t.metric(durations(), append(l.pairs(), "component", l.component, "dry_run", l.dryRun)...))
	}
	return family(dto.MetricType_HISTOGRAM, "apiserver_request_duration_seconds", "[STABLE] How long requests took, in seconds, by what they were for.", all)
}

func (s *Recorder) gatherAborts() *dto.MetricFamily {
	var all []*dto.Metric
	for l, n := range s.aborts.all() {
		all = append(all, counter(float64(n.Load()), l.pairs()...))
	}
	return family(dto.MetricType_COUNTER, "apiserver_request_aborts_total", "[ALPHA] Requests whose answer was broken off or never began.", all)
}

func (s *Recorder) gatherTerminations() *dto.MetricFamily {
	var all []*dto.Metric
	for r, n := range s.terminations.all() {
		all = append(all, counter(float64(n.Load()), append(r.pairs(), "component", r.component, "code", strconv.Itoa(r.code))...))
	}
	return family(dto.MetricType_COUNTER, "apiserver_request_terminations_total", "[ALPHA] Requests that the server has ended in self-defense.", all)
}

func (s *Recorder) gatherLongRunning() *dto.MetricFamily {
	var all []*dto.Metric
	for l, n := range s.longRunning.all() {
		all = append(all, gauge(float64(n.Load()), append(l.pairs(), "component", l.component)...))
	}
	return family(dto.MetricType_GAUGE, "apiserver_longrunning_requests", "[STABLE] Watches and other long requests that run now.", all)
}

func (s *Recorder) gatherEvents() *dto.MetricFamily {
	var all []*dto.Metric
	for gvr, w := range s.watches.all() {
		all = append(all, counter(float64(w.count()), "group", gvr.Group, "version", gvr.Version, "resource", gvr.Resource))
	}
	return family(dto.MetricType_COUNTER, "apiserver_watch_events_total", "[BETA] Events sent to watches.", all)
}

func (s *Recorder) gatherEventSizes() *dto.MetricFamily {
	var all []*dto.Metric
	for gvr, w := range s.watches.all() {
		all = append(all, w.metric(sizes(), "group", gvr.Group, "version", gvr.Version, "resource", gvr.Resource))
	}
	return family(dto.MetricType_HISTOGRAM, "apiserver_watch_events_sizes", "[BETA] Sizes of the events sent to watches, in bytes.", all)
}

func (s *Recorder) gatherObjects() *dto.MetricFamily {
	var all []*dto.Metric
	for gr, n := range s.objects() {
		all = append(all, gauge(float64(n), "group", gr.Group, "resource", gr.Resource))
	}
	return family(dto.MetricType_GAUGE, "apiserver_resource_objects", "[ALPHA] Objects in the store, by resource.", all)
}

// pairs are the labels that all metrics of requests have.
func (l Labels) pairs() []string {
	return []string{"verb", l.verb, "group", l.group, "version", l.version, "resource", l.resource, "subresource", l.subresource, "scope", l.scope}
}

// family sorts its metrics by their labels: a page reads the same each time.
func family(kind dto.MetricType, name, help string, metrics []*dto.Metric) *dto.MetricFamily {
	slices.SortFunc(metrics, func(a, b *dto.Metric) int {
		return slices.CompareFunc(a.Label, b.Label, func(x, y *dto.LabelPair) int { return strings.Compare(x.GetValue(), y.GetValue()) })
	})
	return &dto.MetricFamily{Name: proto.String(name), Help: proto.String(help), Type: kind.Enum(), Metric: metrics}
}

// labeled is a metric with labels given in pairs.
func labeled(pairs []string) *dto.Metric {
	m := &dto.Metric{}
	for i := 0; i < len(pairs); i += 2 {
		m.Label = append(m.Label, &dto.LabelPair{Name: proto.String(pairs[i]), Value: proto.String(pairs[i+1])})
	}
	slices.SortFunc(m.Label, func(a, b *dto.LabelPair) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return m
}

func counter(v float64, pairs ...string) *dto.Metric {
	m := labeled(pairs)
	m.Counter = &dto.Counter{Value: proto.Float64(v)}
	return m
}

func gauge(v float64, pairs ...string) *dto.Metric {
	m := labeled(pairs)
	m.Gauge = &dto.Gauge{Value: proto.Float64(v)}
	return m
}

// metric is the histogram with these ends of its buckets.
func (t *timing) metric(ends []float64, pairs ...string) *dto.Metric {
	m := labeled(pairs)
	m.Histogram = &dto.Histogram{SampleSum: proto.Float64(math.Float64frombits(t.sum.Load()))}
	var n uint64
	for i, end := range ends {
		n += t.buckets[i].Load()
		m.Histogram.Bucket = append(m.Histogram.Bucket, &dto.Bucket{CumulativeCount: proto.Uint64(n), UpperBound: proto.Float64(end)})
	}
	m.Histogram.SampleCount = proto.Uint64(n + t.buckets[len(ends)].Load())
	return m
}
