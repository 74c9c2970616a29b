package fakeapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	goruntime "runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// BenchmarkSize measures requests in a namespace with 1,000 and with 1,000,000 ConfigMaps of 1 KiB:
// a create, a get, a list of one object by its name, a page of 500, and an update up to its event
// at a watch of that object. heap/byte is the heap in bytes for each byte of the objects as JSON.
func BenchmarkSize(b *testing.B) {
	for _, n := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			before := liveHeap()
			srv := fakeapi.Start(b, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutTimeline())
			size := loadKiBConfigMaps(b, srv, n)
			heap := float64(liveHeap()-before) / float64(size)
			serveRequest(b, srv, http.MethodPost, configMapsPath, mediaJSON, mediaJSON, []byte(`{"metadata":{"name":"first"}}`))
			created := 0
			b.Run("create", func(b *testing.B) {
				for b.Loop() {
					created++
					body := fmt.Appendf(nil, `{"metadata":{"name":"new%d"},"data":{"a":"b"}}`, created)
					serveRequest(b, srv, http.MethodPost, configMapsPath, mediaJSON, mediaJSON, body)
				}
				b.ReportMetric(heap, "heap/byte")
			})
			b.Run("get", func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					serveRequest(b, srv, http.MethodGet, numberedPath(i*7919%n), mediaJSON, mediaJSON, nil)
				}
			})
			b.Run("list-one", func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					path := configMapsPath + "?fieldSelector=metadata.name=" + numberedName(i*7919%n)
					serveRequest(b, srv, http.MethodGet, path, mediaJSON, mediaJSON, nil)
				}
			})
			b.Run("page", func(b *testing.B) {
				for b.Loop() {
					serveRequest(b, srv, http.MethodGet, configMapsPath+"?limit=500", mediaJSON, mediaJSON, nil)
				}
			})
			b.Run("watch", func(b *testing.B) { benchWatchOne(b, srv, n/2) })
		})
	}
}

// numberedName returns the name of an object of newKiBConfigMaps.
func numberedName(i int) string { return fmt.Sprintf("m%07d", i) }

func numberedPath(i int) string { return configMapsPath + "/" + numberedName(i) }

// loadKiBConfigMaps loads n ConfigMaps in parts, and returns the size of all in bytes.
func loadKiBConfigMaps(b *testing.B, srv *fakeapi.Server, n int) (size int) {
	const part = 1000
	for first := 0; first < n; first += part {
		objects := make([]runtime.Object, part)
		for i := range objects {
			objects[i] = newKiBConfigMap(numberedName(first + i))
		}
		require.NoError(b, srv.Load(objects...))
	}
	return n * len(serveRequest(b, srv, http.MethodGet, numberedPath(0), mediaJSON, mediaJSON, nil))
}

// benchWatchOne updates an object, and waits for its event at a watch of the object.
func benchWatchOne(b *testing.B, srv *fakeapi.Server, i int) {
	url := fmt.Sprintf("%s%s?watch=1&resourceVersion=%s&fieldSelector=metadata.name=%s", srv.URL(), configMapsPath, srv.ResourceVersion(), numberedName(i))
	watch, err := srv.Client().Get(url)
	require.NoError(b, err)
	defer func() { _ = watch.Body.Close() }()
	events := bufio.NewReader(watch.Body)
	obj := newKiBConfigMap(numberedName(i))
	updates := 0
	for b.Loop() {
		updates++
		obj.Data["update"] = fmt.Sprint(updates)
		body, err := json.Marshal(obj)
		require.NoError(b, err)
		serveRequest(b, srv, http.MethodPut, numberedPath(i), mediaJSON, mediaJSON, body)
		_, err = events.ReadBytes('\n')
		require.NoError(b, err)
	}
}

// liveHeap returns the size of the objects that are in use, in bytes.
func liveHeap() int64 {
	goruntime.GC()
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
