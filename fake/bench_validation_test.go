package fakeapi_test

import (
	"testing"
	"time"

	fakeapi "example.com/fakeapi/fake"
)

// BenchmarkValidation measures writes of objects whose validation is long. x-without is the ratio
// to the same writes on a server without validation, which it measures in turns.
func BenchmarkValidation(b *testing.B) {
	for _, w := range benchTypes() {
		if w.name != "Pod" && w.name != "Deployment" {
			continue
		}
		for _, op := range w.operations(b, mediaJSON) {
			if op.name == "create" || op.name == "update" {
				b.Run(w.name+"/"+op.name, func(b *testing.B) { benchValidation(b, w, op) })
			}
		}
	}
}

func benchValidation(b *testing.B, w benchType, op benchOperation) {
	servers := [2]*fakeapi.Server{
		fakeapi.Start(b, fakeapi.WithInMemoryNetwork()),
		fakeapi.Start(b, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutValidation()),
	}
	var took [2]time.Duration
	write := func(i, n int) {
		path, body := op.request(w.path, 1, n)
		start := time.Now()
		serveRequest(b, servers[i], op.method, path, op.contentType, mediaJSON, body)
		took[i] += time.Since(start)
	}
	fixture := op.fixture(b, w)
	for _, srv := range servers {
		path, body := fixture.request(w.path, 1, 0)
		serveRequest(b, srv, fixture.method, path, fixture.contentType, mediaJSON, body)
	}
	took = [2]time.Duration{}
	n := 1 // the object that was created
	for b.Loop() {
		n++
		write(0, n)
		b.StopTimer()
		write(1, n)
		b.StartTimer()
	}
	b.ReportMetric(float64(took[0])/float64(took[1]), "x-without")
}
