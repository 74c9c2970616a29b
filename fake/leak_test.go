package fakeapi_test

import (
	"context"
	"io"
	"net/http"
	"os"
	goruntime "runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// A process that makes a thousand servers ends with as many goroutines, descriptors and bytes as it had
// before: over TCP and in memory, in plain text and over TLS, with custom resources and without, some
// with a conversion webhook, with forks and replicas, each closed while watches are open, WebSockets among
// them, while controllers work and while a fault holds a request up.
func TestThousandServersLeakNothing(t *testing.T) {
	servers := 1000
	if testing.Short() {
		servers = 200
	}
	u := user{widgets: definitionOf(t, widgetCRD), gadgets: definitionOf(t, gadgetCRD("v1", webhook(loopbackHook(t, &gadgetHook{}))))}
	for i := range 100 { // what is made once in a process is made now
		u.useServer(t, i)
	}
	before := takeStock(t, stock{})
	for i := range servers {
		u.useServer(t, i)
	}
	after := takeStock(t, before)
	require.LessOrEqual(t, after.goroutines, before.goroutines)
	require.LessOrEqual(t, after.files, before.files)
	const perServer = 2 << 10 // a server that is kept has 65 KB and more
	require.Less(t, after.heap, before.heap+uint64(servers)*perServer, "bytes on the heap, which were %d", before.heap)
}

// The stock notices what a single server would leave behind.
func TestStockNoticesAServer(t *testing.T) {
	before := takeStock(t, stock{}) // once those of other tests have ended
	srv, err := fakeapi.New()
	require.NoError(t, err)
	after := takeStock(t, stock{goroutines: 1 << 20})
	require.Greater(t, after.goroutines, before.goroutines)
	require.Greater(t, after.heap, before.heap+32<<10)
	if goruntime.GOOS == "linux" {
		require.Greater(t, after.files, before.files)
	}
	require.NoError(t, srv.Close())
	require.LessOrEqual(t, takeStock(t, before).goroutines, before.goroutines)
}

// user uses servers, each in another way than the one before.
type user struct{ widgets, gadgets runtime.Object }

// use is one server with what is open on it.
type use struct {
	*testing.T
	ctx     context.Context
	servers []*fakeapi.Server
	open    []io.Closer
}

// useServer makes a server, writes, watches and closes it while all that is going on.
func (u user) useServer(t *testing.T, i int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opts := []fakeapi.Option{fakeapi.WithObjects(configMap("there", "1"), podOf("running", func(p *corev1.Pod) { p.Spec.NodeName = "n" }))}
	watched := limitMaps
	if i%2 == 0 {
		opts = append(opts, fakeapi.WithInMemoryNetwork())
	}
	if i%7 == 3 {
		opts = append(opts, fakeapi.WithTLS())
	}
	if i%4 < 2 {
		opts = append(opts, fakeapi.WithObjects(u.widgets))
		watched = limitWidgets
	}
	if i%20 == 6 {
		opts = append(opts, fakeapi.WithObjects(u.gadgets))
	}
	srv, err := fakeapi.New(opts...)
	require.NoError(t, err)
	run := &use{T: t, ctx: ctx, servers: []*fakeapi.Server{srv}}
	run.write(srv, "POST", limitMaps, `{"metadata":{"generateName":"x"}}`, 201)
	run.watch(srv, watched)
	run.share(i, watched)
	for n, s := range slices.Backward(run.servers) {
		if n == 0 || i%20 == 0 { // otherwise the first one closes its replica
			require.NoError(t, s.Close())
		}
	}
	for _, open := range run.open {
		if body, is := open.(io.Reader); is {
			_, _ = io.Copy(io.Discard, body) // it was cut off, and may say so
		}
		_ = open.Close()
	}
}

// share does what a share of the servers has to do beside.
func (u *use) share(i int, watched string) {
	u.Helper()
	srv := u.servers[0]
	if i%3 == 0 {
		u.watch(srv, "/api/v1/namespaces")
		u.watch(srv, "/api/v1/watch/pods")
	}
	if i%5 == 2 { // its controllers are at work when it is closed
		u.write(srv, "POST", "/api/v1/namespaces", `{"metadata":{"name":"team"}}`, 201)
		u.write(srv, "POST", "/api/v1/namespaces/team/configmaps", `{"metadata":{"name":"m"}}`, 201)
		u.write(srv, "DELETE", "/api/v1/namespaces/default/pods/running", "", 200)
		u.write(srv, "DELETE", "/api/v1/namespaces/team", "", 200)
	}
	if i%10 == 0 {
		fork, err := srv.Fork(fakeapi.WithInMemoryNetwork())
		require.NoError(u, err)
		replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
		require.NoError(u, err)
		u.watch(fork, watched)
		u.watch(replica.Server, watched)
		u.servers = append(u.servers, replica.Server)
		require.NoError(u, fork.Close())
	}
	if i%18 == 5 && i%7 != 3 { // over TCP, without TLS
		ws, err := dialSocket(u.T, srv, limitMaps+"?watch=1", "*/*")
		require.NoError(u, err)
		u.open = append(u.open, ws)
	}
	if i%20 == 6 {
		u.write(srv, "POST", "/apis/example.com/v1/namespaces/default/gadgets", gadget("v1", "g", 1), 201)
		u.write(srv, "GET", "/apis/example.com/v2/namespaces/default/gadgets", "", 200)
		u.watch(srv, "/apis/example.com/v2/gadgets")
	}
	if i%11 == 4 {
		u.hang(srv)
	}
}

// write makes a request.
func (u *use) write(srv *fakeapi.Server, method, path, body string, want int) {
	u.Helper()
	code, _, answer := send(u, srv, method, path, "application/json", []byte(body))
	require.Equal(u, want, code, "%s", answer)
}

// watch opens a watch that is left open.
func (u *use) watch(srv *fakeapi.Server, path string) {
	u.Helper()
	u.open = append(u.open, watchOf(u.T, u.ctx, srv, path+"?watch=1").Body)
}

// hang begins a request that a fault never lets end.
func (u *use) hang(srv *fakeapi.Server) {
	u.Helper()
	_, err := srv.Faults().AddText("held: when path(/livez) do hang")
	require.NoError(u, err)
	ended := make(chan struct{})
	r := newRequest(u.T, srv.URL()+"/livez", nil)
	go func() {
		defer close(ended)
		if resp, err := srv.Client().Do(r); err == nil {
			_ = resp.Body.Close()
		}
	}()
	require.Eventually(u, func() bool { return len(srv.Faults().Hits()) > 0 }, 10*time.Second, time.Millisecond)
	u.open = append(u.open, awaited(ended))
}

// awaited is something that is closed when it has ended by itself.
type awaited chan struct{}

// Close waits for the end.
func (a awaited) Close() error {
	<-a
	return nil
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
