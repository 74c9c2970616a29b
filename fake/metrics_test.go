package fakeapi_test

import (
	"bufio"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	prom "github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// scrape reads /metrics and returns the metrics of a family in lines of their labels, unless empty,
// and their value.
func scrape(t *testing.T, srv *fakeapi.Server, name string) []string {
	t.Helper()
	return scrapeAll(t, srv, name)(name)
}

// scrapeAll reads /metrics once and returns a function that returns the metrics of one of the
// families.
func scrapeAll(t *testing.T, srv *fakeapi.Server, names ...string) func(name string) []string {
	t.Helper()
	code, header, body := send(t, srv, "GET", "/metrics", "", nil)
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "text/plain; version=0.0.4; charset=utf-8; escaping=underscores", header.Get("Content-Type"))
	parser := expfmt.NewTextParser(prom.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(familyLines(string(body), names)))
	require.NoError(t, err)
	return func(name string) (lines []string) {
		for _, m := range families[name].GetMetric() {
			lines = append(lines, formatMetric(m))
		}
		slices.Sort(lines)
		return lines
	}
}

// familyLines returns the lines of some families. It saves the time to parse the others.
func familyLines(text string, names []string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(bare, name) }) {
			b.WriteString(line)
		}
	}
	return b.String()
}

func formatMetric(m *dto.Metric) string {
	var words []string
	for _, l := range m.Label {
		if l.GetValue() != "" && l.GetName() != "component" && l.GetName() != "version" {
			words = append(words, l.GetName()+"="+l.GetValue())
		}
	}
	slices.Sort(words)
	value := m.GetCounter().GetValue() + m.GetGauge().GetValue()
	if h := m.GetHistogram(); h != nil {
		value = float64(h.GetSampleCount())
	}
	return strings.Join(append(words, fmt.Sprint(value)), " ")
}

// The metrics count requests by verb, resource and code.
func TestRequestMetrics(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithoutSystemObjects())
	const maps = "/api/v1/namespaces/default/configmaps"
	for _, r := range []struct{ method, path, contentType, body string }{
		{"POST", maps, "", `{"metadata":{"name":"a"}}`},
		{"POST", maps, "", `{"metadata":{"name":"a"}}`},
		{"POST", maps + "?dryRun=All", "", `{"metadata":{"name":"b"}}`},
		{"GET", maps + "/a", "", ""},
		{"HEAD", maps + "/a", "", ""},
		{"GET", maps, "", ""},
		{"GET", "/api/v1/configmaps", "", ""},
		{"PATCH", maps + "/a", "application/apply-patch+yaml", ""},
		{"PATCH", maps + "/a?dryRun=Some", "application/merge-patch+json", "{}"},
		{"GET", "/apis/apps/v1/namespaces/default/deployments/x/scale", "", ""},
		{"GET", "/api/v1/nosuchthings", "", ""},
		{"MAKEUP", maps, "", ""},
		{"GET", "/livez", "", ""},
		{"GET", "/nosuchpath", "", ""},
		{"GET", "/apis/apps", "", ""},
		{"DELETE", maps, "", ""},
	} {
		send(t, srv, r.method, r.path, r.contentType, []byte(r.body))
	}
	require.Equal(t, []string{
		"code=200 resource=configmaps scope=cluster verb=LIST 1",
		"code=200 resource=configmaps scope=namespace verb=DELETE 1",
		"code=200 resource=configmaps scope=namespace verb=LIST 1",
		"code=200 resource=configmaps scope=resource verb=GET 1",
		"code=200 subresource=/apis verb=GET 1",
		"code=200 subresource=/livez verb=GET 1",
		"code=201 dry_run=All resource=configmaps scope=resource verb=POST 1",
		"code=201 resource=configmaps scope=resource verb=POST 1",
		"code=404 group=apps resource=deployments scope=resource subresource=scale verb=GET 1",
		"code=405 resource=configmaps scope=namespace verb=other 1",
		"code=405 resource=configmaps scope=resource verb=GET 1",
		"code=409 resource=configmaps scope=resource verb=POST 1",
		"code=422 dry_run=invalid resource=configmaps scope=resource verb=PATCH 1",
		"code=422 resource=configmaps scope=resource verb=APPLY 1",
	}, slices.DeleteFunc(scrape(t, srv, "apiserver_request_total"), func(line string) bool { return strings.Contains(line, "=/metrics ") }))
	require.Contains(t, scrape(t, srv, "apiserver_request_duration_seconds"), "resource=configmaps scope=resource verb=POST 2", "durations have no code label")
	objects := scrape(t, srv, "apiserver_resource_objects")
	require.Contains(t, objects, "resource=configmaps 0")
	require.Contains(t, objects, "resource=namespaces 4")

	code, _, body := send(t, srv, "DELETE", "/metrics", "", nil)
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "metrics reset\n", string(body))
	require.NotContains(t, strings.Join(scrape(t, srv, "apiserver_request_total"), "\n"), "configmaps")
}

// The metrics count watches while they run, their events, requests that a fault aborts, and
// requests that a limit terminates.
func TestErrorMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithLimits(fakeapi.Limits{MaxRequestsInFlight: 2}))
		_, err := srv.Faults().AddText(`
			lost: when verb(create) && during(committed) do reset
			slow: when path(/livez) do delay(10s)
			busy: when verb(delete) do status(503)`)
		require.NoError(t, err)
		watch := openWatch(t, t.Context(), srv, "/api/v1/configmaps?watch=1&timeoutSeconds=30&resourceVersion="+srv.ResourceVersion())
		const maps = "/api/v1/namespaces/default/configmaps"
		_, err = srv.Client().Post(srv.URL()+maps, "application/json", strings.NewReader(`{"metadata":{"name":"a"}}`))
		require.Error(t, err)
		send(t, srv, "DELETE", maps+"/a", "", nil)
		go send(t, srv, "GET", "/livez", "", nil)
		synctest.Wait()
		require.Equal(t, []string{"resource=configmaps scope=cluster verb=WATCH 1"}, scrape(t, srv, "apiserver_longrunning_requests"))
		require.Equal(t, []string{"request_kind=mutating 0", "request_kind=readOnly 2"}, scrape(t, srv, "apiserver_current_inflight_requests"), "one of them is the scrape")
		require.Equal(t, []string{"resource=configmaps 1"}, scrape(t, srv, "apiserver_watch_events_total"))
		require.Equal(t, []string{"resource=configmaps 1"}, scrape(t, srv, "apiserver_watch_events_sizes"))
		require.Equal(t, []string{"resource=configmaps scope=resource verb=POST 1"}, scrape(t, srv, "apiserver_request_aborts_total"))
		require.Contains(t, scrape(t, srv, "apiserver_request_total"), "code=503 resource=configmaps scope=resource verb=DELETE 1")

		go send(t, srv, "GET", "/livez", "", nil)
		synctest.Wait()
		code, _, _ := send(t, srv, "GET", "/api/v1/pods?limit=1", "", nil)
		require.Equal(t, http.StatusTooManyRequests, code)
		time.Sleep(time.Minute)
		require.Len(t, readEvents(watch.Body), 1)
		require.Equal(t, []string{"code=429 resource=pods scope=cluster verb=LIST 1"}, scrape(t, srv, "apiserver_request_terminations_total"))
		require.Equal(t, []string{"resource=configmaps scope=cluster verb=WATCH 0"}, scrape(t, srv, "apiserver_longrunning_requests"))
		require.Contains(t, scrape(t, srv, "apiserver_request_total"), "code=200 resource=configmaps scope=cluster verb=WATCH 1")
	})
}

// The metrics are served as protobuf if the client accepts it. Like a real server, the server does
// not support OpenMetrics.
func TestMetricsFormats(t *testing.T) {
	srv := fakeapi.Start(t)
	code, header, body := getWithAccept(t, srv, "GET", "/metrics", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, header.Get("Content-Type"), "application/vnd.google.protobuf")
	require.NotEmpty(t, header.Get("Process-Start-Time-Unix"))
	var family dto.MetricFamily
	require.NoError(t, expfmt.NewDecoder(bufio.NewReader(strings.NewReader(body)), expfmt.NewFormat(expfmt.TypeProtoDelim)).Decode(&family))
	require.Equal(t, "apiserver_current_inflight_requests", family.GetName())

	_, header, body = getWithAccept(t, srv, "POST", "/metrics", "application/openmetrics-text;version=1.0.0")
	require.Contains(t, header.Get("Content-Type"), "text/plain; version=0.0.4")
	require.Contains(t, body, "# TYPE apiserver_request_total counter\n")
	require.Contains(t, body, `apiserver_request_total{code="200",component="",dry_run="",group="",resource="",scope="",subresource="/metrics",verb="GET",version=""} 1`+"\n")
	require.Contains(t, body, `apiserver_request_duration_seconds_bucket{component="",dry_run="",group="",resource="",scope="",subresource="/metrics",verb="GET",version="",le="60"} 1`+"\n")
}

// Deprecated types that were requested have a gauge, with the release that removes them.
func TestMetricsOfDeprecatedTypes(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRuntimeConfig(map[string]string{"certificates.k8s.io/v1beta1": "true"}))
	send(t, srv, "GET", "/api/v1/pods", "", nil)
	require.Empty(t, scrape(t, srv, "apiserver_requested_deprecated_apis"))
	send(t, srv, "GET", "/api/v1/endpoints", "", nil)
	send(t, srv, "GET", "/api/v1/namespaces/default/endpoints/nothing", "", nil)
	send(t, srv, "GET", "/apis/certificates.k8s.io/v1beta1/clustertrustbundles", "", nil)
	want := []string{"group=certificates.k8s.io removed_release=1.40 resource=clustertrustbundles 1", "resource=endpoints 1"}
	require.Equal(t, want, scrape(t, srv, "apiserver_requested_deprecated_apis"))
	send(t, srv, "DELETE", "/metrics", "", nil)
	require.Empty(t, scrape(t, srv, "apiserver_requested_deprecated_apis"))
}

// Concurrent requests are all counted.
func TestConcurrentMetrics(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	done := make(chan struct{})
	for range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 50 {
				send(t, srv, "GET", "/api/v1/namespaces/default", "", nil)
			}
		}()
	}
	for range 8 {
		<-done
	}
	require.Contains(t, scrape(t, srv, "apiserver_request_total"), "code=200 resource=namespaces scope=resource verb=GET 400")
}
