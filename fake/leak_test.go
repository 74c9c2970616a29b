package fakeapi_test

import (
	"context"
	"io"
	"net/http"
	"os"
	goruntime "runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// A process that makes a thousand servers, over TCP and in memory, with custom resources and without,
// each closed while a watch is open, ends with as many goroutines, descriptors and bytes as it had
// before. Forks and replicas are among them.
func TestThousandServersLeakNothing(t *testing.T) {
	servers := 1000
	if testing.Short() {
		servers = 200
	}
	definition := definitionOf(t, widgetCRD)
	for i := range 40 { // what is made once in a process is made now
		useServer(t, i, definition)
	}
	before := takeStock(t, stock{})
	for i := range servers {
		useServer(t, i, definition)
	}
	after := takeStock(t, before)
	require.LessOrEqual(t, after.goroutines, before.goroutines)
	require.LessOrEqual(t, after.files, before.files)
	const perServer = 2 << 10 // a server that is kept has 65 KB and more
	require.Less(t, after.heap, before.heap+uint64(servers)*perServer, "bytes on the heap, which were %d", before.heap)
}

// useServer makes a server of one of eight ways, writes and watches, and closes it. Every tenth one
// has a fork and a replica.
func useServer(t *testing.T, i int, definition runtime.Object) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opts := []fakeapi.Option{fakeapi.WithObjects(configMap("there", "1"))}
	watched := limitMaps
	if i%2 == 0 {
		opts = append(opts, fakeapi.InMemory())
	}
	if i%4 < 2 {
		opts = append(opts, fakeapi.WithObjects(definition))
		watched = limitWidgets
	}
	srv, err := fakeapi.New(opts...)
	require.NoError(t, err)
	code, _, answer := send(t, srv, "POST", limitMaps, "application/json", []byte(`{"metadata":{"generateName":"x"}}`))
	require.Equal(t, 201, code, "%s", answer)
	streams := []*http.Response{watchOf(t, ctx, srv, watched+"?watch=1")}
	servers := []*fakeapi.Server{srv}
	if i%10 == 0 {
		fork, err := srv.Fork(fakeapi.InMemory())
		require.NoError(t, err)
		replica, err := srv.Replica(fakeapi.InMemory())
		require.NoError(t, err)
		streams = append(streams, watchOf(t, ctx, fork, watched+"?watch=1"))
		servers = append(servers, fork, replica.Server)
	}
	for _, s := range slices.Backward(servers) {
		require.NoError(t, s.Close())
	}
	for _, stream := range streams {
		_, _ = io.Copy(io.Discard, stream.Body) // it was cut off, and may say so
		_ = stream.Body.Close()
	}
}

// watchOf opens a watch. Unlike openWatch it leaves the closing to its caller: what a test cleans up
// at its end it holds until then.
func watchOf(t *testing.T, ctx context.Context, srv *fakeapi.Server, path string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL()+path, nil)
	require.NoError(t, err)
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	return resp
}

// stock is what a process holds.
type stock struct {
	goroutines, files int
	heap              uint64
}

// takeStock counts once all that ends has ended, as far as there is more than wanted.
func takeStock(t *testing.T, want stock) stock {
	t.Helper()
	s := stock{goroutines: settled(want.goroutines)}
	for range 3 { // finalizers and cleanups run between collections
		goruntime.GC()
	}
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	s.heap = m.HeapAlloc
	open, err := os.ReadDir("/proc/self/fd")
	if goruntime.GOOS == "linux" {
		require.NoError(t, err)
	}
	s.files = len(open)
	return s
}
