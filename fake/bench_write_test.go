package fakeapi_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
)

// benchKubeconfig is the environment variable with a kubeconfig. BenchmarkWrite also measures the
// server of that kubeconfig, alternating, and reports the ratio of the times (x-there).
const benchKubeconfig = "FAKEAPI_BENCH_KUBECONFIG"

// BenchmarkWrite measures writes over HTTP, including the client.
func BenchmarkWrite(b *testing.B) {
	external := externalTarget(b)
	for _, w := range benchTypes() {
		for _, media := range []string{mediaJSON, mediaProtobuf} {
			for _, op := range w.operations(b, media) {
				if op.reuseResponse {
					continue // measured by BenchmarkServe
				}
				for _, clients := range []int{1, 16} {
					name := fmt.Sprintf("%s/%s/%s/clients=%d", w.name, op.name, shortMedia(media), clients)
					job := writeBenchmark{w, op, media, clients}
					b.Run(name, func(b *testing.B) { job.runAlone(b) })
					if external != nil {
						b.Run(name+"/beside", func(b *testing.B) { job.runWithBaseline(b, *external) })
					}
				}
			}
		}
	}
}

// writeBenchmark is an operation with a media type and a number of clients.
type writeBenchmark struct {
	benchType
	op      benchOperation
	media   string
	clients int
}

func (j writeBenchmark) runAlone(b *testing.B) {
	srv := fakeapi.Start(b)
	here := benchTarget{srv.URL(), srv.Client()}
	j.createObjects(b, here)
	b.ReportAllocs()
	b.ResetTimer()
	j.writeRange(b, here, 1, b.N)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
}

// runWithBaseline writes to both servers, alternating, so that both run under the same load of the
// machine.
func (j writeBenchmark) runWithBaseline(b *testing.B, there benchTarget) {
	srv := fakeapi.Start(b)
	here := benchTarget{srv.URL(), srv.Client()}
	j.createObjects(b, here)
	j.createObjects(b, there)
	defer j.deleteObjects(b, there)
	var took [2]time.Duration
	slice := max(b.N/10, j.clients)
	for first := 1; first <= b.N; first += slice {
		for i, s := range []benchTarget{here, there} {
			start := time.Now()
			j.writeRange(b, s, first, min(b.N, first+slice-1))
			took[i] += time.Since(start)
		}
	}
	b.ReportMetric(0, "ns/op") // the sum of both is not meaningful
	b.ReportMetric(float64(b.N)/took[0].Seconds(), "here/s")
	b.ReportMetric(float64(b.N)/took[1].Seconds(), "there/s")
	b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "x-there")
}

func shortMedia(media string) string {
	if media == mediaProtobuf {
		return "protobuf"
	}
	return "json"
}

// benchTarget is a server that is written to.
type benchTarget struct {
	url  string
	http *http.Client
}

// externalTarget returns the server of the kubeconfig, or nil. Objects that are created in its
// namespace default have the label app=bench and are deleted.
func externalTarget(b *testing.B) *benchTarget {
	file := os.Getenv(benchKubeconfig)
	if file == "" {
		return nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", file)
	require.NoError(b, err)
	config.QPS = -1
	client, err := rest.HTTPClientFor(config)
	require.NoError(b, err)
	if transport, ok := client.Transport.(*http.Transport); ok {
		transport.MaxIdleConnsPerHost = 64
	}
	url, _, err := rest.DefaultServerUrlFor(config)
	require.NoError(b, err)
	return &benchTarget{url.Scheme + "://" + url.Host, client}
}

// deleteObjects deletes the objects that were created.
func (j writeBenchmark) deleteObjects(b *testing.B, s benchTarget) {
	s.send(b, http.MethodDelete, s.url+j.path+"?labelSelector=app%3Dbench&gracePeriodSeconds=0", mediaJSON, mediaJSON, nil)
}

// createObjects creates an object for each client, and another one, since the first of its type
// takes longer.
func (j writeBenchmark) createObjects(b *testing.B, s benchTarget) {
	j.deleteObjects(b, s)
	fixture := j.op.fixture(b, j.benchType)
	for i := 0; i <= j.clients && (i == 0 || j.op.name != "create"); i++ {
		url, body := fixture.request(s.url+j.path, i, 0)
		s.send(b, fixture.method, url, fixture.contentType, j.media, body)
	}
}

// writeRange sends the writes with the given numbers by all clients. Each client writes to its own
// object, or creates new ones.
func (j writeBenchmark) writeRange(b *testing.B, s benchTarget, first, last int) {
	var next atomic.Int64
	next.Store(int64(first) - 1)
	var wg sync.WaitGroup
	for client := 1; client <= j.clients; client++ {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(last); n = next.Add(1) {
				url, body := j.op.request(s.url+j.path, client, int(n))
				if !s.send(b, j.op.method, url, j.op.contentType, j.media, body) {
					return
				}
			}
		})
	}
	wg.Wait()
}

// send sends a request and reports whether it succeeded.
func (s benchTarget) send(b *testing.B, method, url, contentType, accept string, body []byte) bool {
	r, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		b.Error(err)
		return false
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Accept", accept)
	r.Header.Set("User-Agent", "bench/1")
	resp, err := s.http.Do(r)
	if err != nil {
		b.Error(err)
		return false
	}
	response, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode >= http.StatusBadRequest {
		b.Errorf("%s %s: %s %q %v", method, url, resp.Status, response, err)
		return false
	}
	return true
}
