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

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
)

// benchKubeconfig is the environment variable that names a kubeconfig: what
// BenchmarkWrite measures here it measures there, too, and tells how many times
// as fast this server is (x-there).
const benchKubeconfig = "FAKEAPI_BENCH_KUBECONFIG"

// BenchmarkWrite is what a write costs over HTTP, the client included.
func BenchmarkWrite(b *testing.B) {
	there := elsewhere(b)
	for _, w := range writtenTypes() {
		for _, media := range []string{jsonMedia, protobufMedia} {
			for _, op := range w.operations(b, media) {
				for _, clients := range []int{1, 16} {
					name := fmt.Sprintf("%s/%s/%s/clients=%d", w.name, op.name, shortMedia(media), clients)
					var rate float64
					b.Run(name, func(b *testing.B) {
						srv := fakeapi.Start(b)
						rate = target{srv.URL(), srv.Client()}.write(b, w, op, media, clients)
					})
					if there == nil || rate == 0 {
						continue
					}
					b.Run(name+"/there", func(b *testing.B) {
						b.ReportMetric(rate/there.write(b, w, op, media, clients), "x-there")
					})
				}
			}
		}
	}
}

func shortMedia(media string) string {
	if media == protobufMedia {
		return "protobuf"
	}
	return "json"
}

// target is a server that is written to.
type target struct {
	url  string
	http *http.Client
}

// elsewhere is the server of the kubeconfig, nil if none is named. It is left as
// it was: what is created in its namespace default has the label app=bench.
func elsewhere(b *testing.B) *target {
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
	return &target{url.Scheme + "://" + url.Host, client}
}

// write does b.N writes with a number of clients and gives their rate. Each has
// an object of its own; a create makes a new one.
func (s target) write(b *testing.B, w written, op operation, media string, clients int) float64 {
	collection := s.url + w.path
	empty := func() {
		s.send(b, http.MethodDelete, collection+"?labelSelector=app%3Dbench&gracePeriodSeconds=0", jsonMedia, media, nil)
	}
	empty()
	defer empty()
	fixture := op.fixture(b, w)
	for i := 0; i <= clients && (i == 0 || op.name != "create"); i++ { // the first of its type costs more
		url, body := fixture.request(collection, i, 0)
		s.send(b, fixture.method, url, fixture.contentType, media, body)
	}
	b.ReportAllocs()
	b.ResetTimer()
	var next atomic.Int64
	var wg sync.WaitGroup
	for client := 1; client <= clients; client++ {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				url, body := op.request(collection, client, int(n))
				if !s.send(b, op.method, url, op.contentType, media, body) {
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	rate := float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate, "writes/s")
	return rate
}

// send makes a request, which must succeed.
func (s target) send(b *testing.B, method, url, contentType, accept string, body []byte) bool {
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
	answer, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode >= http.StatusBadRequest {
		b.Errorf("%s %s: %s %q %v", method, url, resp.Status, answer, err)
		return false
	}
	return true
}
