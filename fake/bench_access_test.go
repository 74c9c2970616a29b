package fakeapi_test

import (
	"net/http/httptest"
	"testing"
	"time"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/fake/internal/accesslog"
	"example.com/fakeapi/internal/requestinfo"
)

// BenchmarkAccess measures the record of an access that is in the report already, and compares it
// with a GET of a ConfigMap without a network. percent is its part of the GET.
func BenchmarkAccess(b *testing.B) {
	const path = "/api/v1/namespaces/default/configmaps/a"
	srv := fakeapi.Start(b, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("a", "0")))
	r := requestinfo.WithRequestInfo(httptest.NewRequest("GET", path, nil))
	log := accesslog.New()
	record := func() {
		info := requestinfo.FromRequest(r)
		log.Record(r.Context(), accesslog.Action{
			User: "system:admin", UserAgent: r.UserAgent(), Verb: info.Verb, Resource: info.Resource, Namespace: info.Namespace,
		}, info.Name, true, "")
	}
	var recording, serving time.Duration
	for b.Loop() {
		start := time.Now()
		for range 100 {
			record()
		}
		recording += time.Since(start)
		start = time.Now()
		for range 100 {
			srv.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
		}
		serving += time.Since(start)
	}
	b.ReportMetric(0, "ns/op") // the sum of both is not meaningful
	b.ReportMetric(float64(recording.Nanoseconds())/float64(100*b.N), "ns/record")
	b.ReportMetric(float64(serving.Nanoseconds())/float64(100*b.N), "ns/get")
	b.ReportMetric(100*recording.Seconds()/serving.Seconds(), "percent")
}
