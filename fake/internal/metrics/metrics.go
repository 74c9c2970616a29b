package metrics

import (
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Recorder has the metrics of one server. Its start time is when it is made.
type Recorder struct {
	begin   time.Time
	objects func() map[schema.GroupResource]int

	requests     *prometheus.CounterVec
	durations    *prometheus.HistogramVec
	aborts       *prometheus.CounterVec
	terminations *prometheus.CounterVec
	deprecated   *prometheus.GaugeVec
	longRunning  *prometheus.GaugeVec
	inFlight     *prometheus.GaugeVec
	watchEvents  *prometheus.CounterVec
	eventSizes   *prometheus.HistogramVec

	readOnly, mutating prometheus.Gauge // of inFlight

	answered labelCache[requestKey, requestMetrics]
	handler  func() http.Handler
	// admission returns the metrics of admission, which are made when they are needed: most servers of
	// tests have neither webhooks nor policies.
	admission func() *admissionMetrics
}

// requestKey identifies the metrics of requests with the same labels and status code.
type requestKey struct {
	Labels
	code int
}

// requestMetrics are the metrics that every finished request changes.
type requestMetrics struct {
	total    prometheus.Counter
	duration prometheus.Observer
}

// New returns the metrics of a server. objects returns the number of objects of each resource in
// the store.
func New(objects func() map[schema.GroupResource]int) *Recorder {
	r := &Recorder{
		begin: time.Now(), objects: objects,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_total",
			Help: "[STABLE] Requests by verb, dry run, resource, scope, component and status code.",
		}, requestLabels("component", "dry_run", "code")),
		durations: newHistogramVec(prometheus.HistogramOpts{
			Name:    "apiserver_request_duration_seconds",
			Help:    "[STABLE] Duration of requests in seconds by verb, dry run, resource, scope and component.",
			Buckets: []float64{0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60},
		}, requestLabels("component", "dry_run")),
		aborts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_aborts_total",
			Help: "[ALPHA] Requests whose response was aborted.",
		}, requestLabels()),
		terminations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_terminations_total",
			Help: "[ALPHA] Requests that the server terminated in self-defense.",
		}, requestLabels("component", "code")),
		deprecated: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "apiserver_requested_deprecated_apis",
			Help: "[STABLE] Deprecated types that have been requested, by resource and the release that removes it.",
		}, append(gvrLabels(), "subresource", "removed_release")),
		longRunning: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "apiserver_longrunning_requests",
			Help: "[STABLE] Active watches and other long-running requests.",
		}, requestLabels("component")),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "apiserver_current_inflight_requests",
			Help: "[STABLE] Active requests that are not long-running, by kind.",
		}, []string{"request_kind"}),
		watchEvents: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_watch_events_total",
			Help: "[BETA] Events sent to watches.",
		}, gvrLabels()),
		eventSizes: newHistogramVec(prometheus.HistogramOpts{
			Name:    "apiserver_watch_events_sizes",
			Help:    "[BETA] Sizes of the events sent to watches, in bytes.",
			Buckets: prometheus.ExponentialBuckets(1<<10, 2, 8),
		}, gvrLabels()),
	}
	r.readOnly, r.mutating = r.inFlight.WithLabelValues("readOnly"), r.inFlight.WithLabelValues("mutating")
	r.handler = sync.OnceValue(r.newHandler)
	r.admission = sync.OnceValue(newAdmissionMetrics)
	return r
}

// newHistogramVec returns a histogram that also has native buckets, as those of a server with the
// feature NativeHistograms of v1.37 have. Only clients that accept protobuf receive these.
func newHistogramVec(opts prometheus.HistogramOpts, labels []string) *prometheus.HistogramVec {
	opts.NativeHistogramBucketFactor, opts.NativeHistogramMaxBucketNumber = 1.1, 160
	return prometheus.NewHistogramVec(opts, labels)
}

// newHandler returns the handler for reading the metrics. It is made for the first scrape, because
// most servers of tests have none and the collectors of the process take longer to make than the
// rest of the Recorder.
func (r *Recorder) newHandler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		r.requests, r.durations, r.aborts, r.terminations, r.deprecated, r.longRunning, r.inFlight, r.watchEvents, r.eventSizes,
		newObjectCollector(r.objects),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewGoCollector(),
	)
	for _, v := range r.admission().vectors() {
		registry.MustRegister(v)
	}
	gather := func() ([]*dto.MetricFamily, error) {
		families, err := registry.Gather()
		for _, f := range families {
			if f.GetName() == "process_start_time_seconds" {
				f.Metric[0].Gauge.Value = proto.Float64(float64(r.begin.UnixNano()) / 1e9)
			}
		}
		return families, err
	}
	return promhttp.HandlerFor(prometheus.GathererFunc(gather), promhttp.HandlerOpts{DisableCompression: true, ProcessStartTime: r.begin})
}

// ServeHTTP serves /metrics: DELETE resets the metrics of requests, any other method reads. Clients
// that accept the protobuf format of Prometheus receive it, others receive text; OpenMetrics is not
// served, as on a real server.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method == http.MethodDelete {
		r.Reset()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "metrics reset\n")
		return
	}
	r.handler().ServeHTTP(w, request)
}

// Reset removes the metrics of requests that have ended and those of admission. Those of active
// requests and of watch events stay.
func (r *Recorder) Reset() {
	r.requests.Reset()
	r.durations.Reset()
	r.aborts.Reset()
	r.terminations.Reset()
	r.deprecated.Reset()
	r.answered.reset()
	for _, v := range r.admission().vectors() {
		v.Reset()
	}
}

// RecordRequest records a request that was answered with a status code after a duration.
func (r *Recorder) RecordRequest(l Labels, code int, duration time.Duration) {
	m := r.answered.get(requestKey{l, code}, r.newRequestMetrics)
	m.total.Inc()
	m.duration.Observe(duration.Seconds())
}

func (r *Recorder) newRequestMetrics(a requestKey) *requestMetrics {
	return &requestMetrics{
		total:    r.requests.WithLabelValues(a.values(a.component, a.dryRun, strconv.Itoa(a.code))...),
		duration: r.durations.WithLabelValues(a.values(a.component, a.dryRun)...),
	}
}

// RecordAbort records a request whose response was aborted before it was complete.
func (r *Recorder) RecordAbort(l Labels) {
	r.aborts.WithLabelValues(l.values()...).Inc()
}

// RecordTermination records a request that the server answered with a status code in self-defense,
// such as at a limit.
func (r *Recorder) RecordTermination(l Labels, code int) {
	r.terminations.WithLabelValues(l.values(l.component, strconv.Itoa(code))...).Inc()
}

// RecordDeprecated records a request for a deprecated type, which a release removes, "" if that is
// not planned. It does nothing for a nil Recorder.
func (r *Recorder) RecordDeprecated(gvr schema.GroupVersionResource, subresource, removedRelease string) {
	if r != nil {
		r.deprecated.WithLabelValues(gvr.Group, gvr.Version, gvr.Resource, subresource, removedRelease).Set(1)
	}
}

// InFlight returns the gauge that counts an active request.
func (r *Recorder) InFlight(l Labels, longRunning, readOnly bool) prometheus.Gauge {
	switch {
	case longRunning:
		return r.longRunning.WithLabelValues(l.values(l.component)...)
	case readOnly:
		return r.readOnly
	}
	return r.mutating
}

// WatchEvents returns the metrics of the watch events of a resource. A nil Recorder returns nil.
func (r *Recorder) WatchEvents(gvr schema.GroupVersionResource) *WatchEvents {
	if r == nil {
		return nil
	}
	return &WatchEvents{
		total: r.watchEvents.WithLabelValues(gvr.Group, gvr.Version, gvr.Resource),
		sizes: r.eventSizes.WithLabelValues(gvr.Group, gvr.Version, gvr.Resource),
	}
}

// WatchEvents are the metrics of the watch events of a resource.
type WatchEvents struct {
	total prometheus.Counter
	sizes prometheus.Observer
}

// Record records an event of a size in bytes. It does nothing for a nil WatchEvents.
func (w *WatchEvents) Record(size int) {
	if w != nil {
		w.total.Inc()
		w.sizes.Observe(float64(size))
	}
}

// objectCollector collects the numbers of objects in the store.
type objectCollector struct {
	objects func() map[schema.GroupResource]int
	desc    *prometheus.Desc
}

func newObjectCollector(objects func() map[schema.GroupResource]int) *objectCollector {
	return &objectCollector{objects, prometheus.NewDesc("apiserver_resource_objects", "[ALPHA] Objects in the store, by resource.", []string{"group", "resource"}, nil)}
}

// Describe implements prometheus.Collector.
func (c *objectCollector) Describe(descs chan<- *prometheus.Desc) { descs <- c.desc }

// Collect implements prometheus.Collector.
func (c *objectCollector) Collect(metrics chan<- prometheus.Metric) {
	for gr, n := range c.objects() {
		metrics <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(n), gr.Group, gr.Resource)
	}
}

// labelCache caches the metrics of label sets.
type labelCache[K comparable, V any] struct {
	mu     sync.RWMutex
	values map[K]*V
}

// get returns the value of a key, which it adds with create if it is missing.
func (c *labelCache[K, V]) get(key K, create func(K) *V) *V {
	c.mu.RLock()
	v := c.values[key]
	c.mu.RUnlock()
	if v != nil {
		return v
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if v := c.values[key]; v != nil {
		return v
	}
	if c.values == nil {
		c.values = map[K]*V{}
	}
	v = create(key)
	c.values[key] = v
	return v
}

// reset empties the cache.
func (c *labelCache[K, V]) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values = nil
}
