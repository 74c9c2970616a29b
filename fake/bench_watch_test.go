package fakeapi_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// BenchmarkListPart measures a list of a tenth of 10,000 objects, by namespace and by label, which
// filters all of them.
func BenchmarkListPart(b *testing.B) {
	objects := newKiBConfigMaps(10_000)
	srv := fakeapi.Start(b)
	for i, obj := range objects {
		cm := obj.(interface {
			SetNamespace(string)
			SetLabels(map[string]string)
		})
		cm.SetNamespace("n" + strconv.Itoa(i%10))
		cm.SetLabels(map[string]string{"tenth": strconv.Itoa(i % 10)})
	}
	require.NoError(b, srv.Load(objects...))
	b.Run("namespace", func(b *testing.B) { benchGET(b, srv, "/api/v1/namespaces/n3/configmaps") })
	b.Run("selector", func(b *testing.B) { benchGET(b, srv, "/api/v1/configmaps?labelSelector=tenth%3D3") })
}

// readLines reads a number of lines of a stream and closes it.
func readLines(b *testing.B, client *http.Client, url string, n int) {
	resp := getUncompressed(b, client, url)
	defer func() { _ = resp.Body.Close() }()
	r := bufio.NewReaderSize(resp.Body, 64<<10)
	for n > 0 {
		_, err := r.ReadSlice('\n')
		switch err {
		case nil:
			n--
		case bufio.ErrBufferFull:
		default:
			b.Fatal(err)
		}
	}
}

// newStreamServer returns a server that writes a body and flushes it.
func newStreamServer(body []byte) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
		_ = http.NewResponseController(w).Flush()
	}))
}

// captureLines returns a number of lines of a stream.
func captureLines(b *testing.B, client *http.Client, url string, n int) []byte {
	resp, err := client.Get(url)
	require.NoError(b, err)
	defer func() { _ = resp.Body.Close() }()
	var body []byte
	r := bufio.NewReader(resp.Body)
	for range n {
		line, err := r.ReadBytes('\n')
		require.NoError(b, err)
		body = append(body, line...)
	}
	return body
}

// BenchmarkWatchList measures a streaming list of 10,000 objects up to its bookmark, and a bare
// handler that writes the same bytes.
func BenchmarkWatchList(b *testing.B) {
	const n = 10_000
	srv := fakeapi.Start(b, fakeapi.WithObjects(newKiBConfigMaps(n)...))
	readEventsUntil(b, srv, "/api/v1/configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", n+1)
}

// BenchmarkWatchFromOldRevision measures a watch that starts 1,000 changes ago until it has caught
// up.
func BenchmarkWatchFromOldRevision(b *testing.B) {
	srv := fakeapi.Start(b)
	past := srv.ResourceVersion()
	require.NoError(b, srv.Load(newKiBConfigMaps(1000)...))
	readEventsUntil(b, srv, "/api/v1/configmaps?watch=1&resourceVersion="+past, 1000)
}

func readEventsUntil(b *testing.B, srv *fakeapi.Server, path string, n int) {
	body := captureLines(b, srv.Client(), srv.URL()+path, n)
	bare := newStreamServer(body)
	defer bare.Close()
	run := func(name string, client *http.Client, url string) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				readLines(b, client, url, n)
			}
		})
	}
	run("server", srv.Client(), srv.URL()+path)
	run("bare", bare.Client(), bare.URL)
}

// BenchmarkFanout measures one write until each of many watchers has read its event, on the
// in-memory network. With slow, another watcher never reads.
func BenchmarkFanout(b *testing.B) {
	for _, watchers := range []int{1, 100, 10_000} {
		b.Run("watchers="+strconv.Itoa(watchers), func(b *testing.B) { benchFanout(b, watchers, false) })
	}
	b.Run("watchers=100/slow", func(b *testing.B) { benchFanout(b, 100, true) })
}

func benchFanout(b *testing.B, watchers int, slow bool) {
	write := startFanout(b, watchers, slow)
	b.ResetTimer()
	for range b.N {
		write()
	}
	b.ReportMetric(float64(b.N*watchers)/b.Elapsed().Seconds(), "events/s")
}

// startFanout opens watchers and returns a function that writes once and waits until all have read
// the event.
func startFanout(b *testing.B, watchers int, slow bool, opts ...fakeapi.Option) func() {
	body, err := json.Marshal(newKiBConfigMap("one"))
	require.NoError(b, err)
	srv := fakeapi.Start(b, append(opts, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(newKiBConfigMap("one")))...)
	var got sync.WaitGroup
	url := srv.URL() + "/api/v1/configmaps?watch=1&resourceVersion=" + srv.ResourceVersion()
	open := func() io.ReadCloser {
		resp, err := srv.Client().Get(url)
		require.NoError(b, err)
		b.Cleanup(func() { _ = resp.Body.Close() })
		return resp.Body
	}
	if slow {
		open()
	}
	for range watchers {
		events := open()
		go func() {
			buffer := make([]byte, 4096)
			for {
				n, err := events.Read(buffer)
				for range bytes.Count(buffer[:n], []byte("\n")) {
					got.Done()
				}
				if err != nil {
					return
				}
			}
		}()
	}
	item, i := srv.URL()+"/api/v1/namespaces/default/configmaps/one", 0
	return func() {
		i++
		got.Add(watchers)
		one := bytes.ReplaceAll(body, []byte(strings.Repeat("v", 8)), []byte(fmt.Sprintf("%08d", i)))
		post(b, srv.Client(), http.MethodPut, item, one, http.StatusOK)
		got.Wait()
	}
}
