package soak

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"example.com/fakeapi/internal/dev/verify/harness"
)

// activeRequests returns the number of watches and of other requests that the server and the
// replica are serving, as their metrics report it.
func (e *environment) activeRequests() (watches, others int) {
	for _, srv := range e.servers() {
		metrics := scrape(e.t, srv, "apiserver_longrunning_requests", "apiserver_current_inflight_requests")
		for _, line := range metrics("apiserver_longrunning_requests") {
			watches += int(metricValue(line))
		}
		for _, line := range metrics("apiserver_current_inflight_requests") {
			others += int(metricValue(line))
		}
	}
	return watches, others
}

// metricValue returns the value at the end of a line that scrape returned.
func metricValue(line string) float64 {
	n, err := strconv.ParseFloat(line[strings.LastIndex(line, " ")+1:], 64)
	if err != nil {
		panic(err) // formatMetric has written it
	}
	return n
}

// checkMetrics checks that the metrics count every write that was sent as completed or aborted, and
// the number of stored objects.
func (e *environment) checkMetrics(there map[string][]harness.Object) (violations []string) {
	counted := map[string]float64{}
	var objects []string // the same for the server and the replica
	for _, srv := range e.servers() {
		metrics := scrape(e.t, srv, "apiserver_request_total", "apiserver_request_aborts_total", "apiserver_resource_objects")
		objects = metrics("apiserver_resource_objects")
		for _, name := range []string{"apiserver_request_total", "apiserver_request_aborts_total"} {
			for _, line := range metrics(name) {
				labels := metricLabels(line)
				counted[httpMethod(labels["verb"])+" "+labels["resource"]] += metricValue(line)
			}
		}
	}
	for _, k := range e.kinds {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			what := method + " " + k.Plural
			if sent := e.sent.Count(what); int(counted[what]) != sent {
				violations = append(violations, fmt.Sprintf("wrong metric: %d requests %s were sent, the metrics have %v", sent, what, counted[what]))
			}
		}
		for _, line := range objects {
			if labels := metricLabels(line); labels["resource"] == k.Plural && int(metricValue(line)) != len(there[k.Name]) {
				violations = append(violations, fmt.Sprintf("wrong metric: there are %d %s: %s", len(there[k.Name]), k.Plural, line))
			}
		}
	}
	return violations
}

func metricLabels(line string) map[string]string {
	labels := map[string]string{}
	for _, word := range strings.Fields(line) {
		name, value, _ := strings.Cut(word, "=")
		labels[name] = value
	}
	return labels
}

// httpMethod returns the method for the verb label of a metric.
func httpMethod(verb string) string {
	switch verb {
	case "APPLY":
		return http.MethodPatch
	case "DELETECOLLECTION":
		return http.MethodDelete
	}
	return verb
}
