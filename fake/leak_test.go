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
func TestThousandServersLeakNoResources(t *testing.T) {
	servers := 1000
	if testing.Short() {
		servers = 200
	}
	u := serverUser{widgets: decodeCRD(t, widgetCRD), gadgets: decodeCRD(t, gadgetCRD("v1", webhookConversion(startLoopbackWebhook(t, &gadgetWebhook{}))))}
	for i := range 100 { // what is made once in a process is made now
		u.useServer(t, i)
	}
	before := measureUsage(t, resourceUsage{})
	for i := range servers {
		u.useServer(t, i)
	}
	after := measureUsage(t, before)
	require.LessOrEqual(t, after.goroutines, before.goroutines)
	require.LessOrEqual(t, after.files, before.files)
	const perServer = 2 << 10 // a server that is kept has 65 KB and more
	require.Less(t, after.heap, before.heap+uint64(servers)*perServer, "bytes on the heap, which were %d", before.heap)
}

// The stock notices what a single server would leave behind.
func TestResourceUsageCountsServer(t *testing.T) {
	before := measureUsage(t, resourceUsage{}) // once those of other tests have ended
	srv, err := fakeapi.New()
	require.NoError(t, err)
	after := measureUsage(t, resourceUsage{goroutines: 1 << 20})
	require.Greater(t, after.goroutines, before.goroutines)
	require.Greater(t, after.heap, before.heap+32<<10)
	if goruntime.GOOS == "linux" {
		require.Greater(t, after.files, before.files)
	}
	require.NoError(t, srv.Close())
	require.LessOrEqual(t, measureUsage(t, before).goroutines, before.goroutines)
}

// serverUser uses servers, each in another way than the one before.
type serverUser struct{ widgets, gadgets runtime.Object }

// serverUse is one server with what is open on it.
type serverUse struct {
	*testing.T
	ctx     context.Context
	servers []*fakeapi.Server
	open    []io.Closer
}

// useServer makes a server, writes, watches and closes it while all that is going on.
func (u serverUser) useServer(t *testing.T, i int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opts := []fakeapi.Option{fakeapi.WithObjects(configMap("there", "1"), newPod("running", func(p *corev1.Pod) { p.Spec.NodeName = "n" }))}
	watched := configMapsPath
	if i%2 == 0 {
		opts = append(opts, fakeapi.WithInMemoryNetwork())
	}
	if i%7 == 3 {
		opts = append(opts, fakeapi.WithTLS())
	}
	if i%4 < 2 {
		opts = append(opts, fakeapi.WithObjects(u.widgets))
		watched = widgetsPath
	}
	if i%20 == 6 {
		opts = append(opts, fakeapi.WithObjects(u.gadgets))
	}
	srv, err := fakeapi.New(opts...)
	require.NoError(t, err)
	run := &serverUse{T: t, ctx: ctx, servers: []*fakeapi.Server{srv}}
	run.write(srv, "POST", configMapsPath, `{"metadata":{"generateName":"x"}}`, 201)
	run.watch(srv, watched)
	run.runVariants(i, watched)
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

// runVariants does what a share of the servers has to do beside.
func (u *serverUse) runVariants(i int, watched string) {
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
		ws, err := dialWebSocket(u.T, srv, configMapsPath+"?watch=1", "*/*")
		require.NoError(u, err)
		u.open = append(u.open, ws)
	}
	if i%20 == 6 {
		u.write(srv, "POST", "/apis/example.com/v1/namespaces/default/gadgets", gadgetJSON("v1", "g", 1), 201)
		u.write(srv, "GET", "/apis/example.com/v2/namespaces/default/gadgets", "", 200)
		u.watch(srv, "/apis/example.com/v2/gadgets")
	}
	if i%11 == 4 {
		u.blockRequest(srv)
	}
}

// write makes a request.
func (u *serverUse) write(srv *fakeapi.Server, method, path, body string, want int) {
	u.Helper()
	code, _, answer := send(u, srv, method, path, "application/json", []byte(body))
	require.Equal(u, want, code, "%s", answer)
}

// watch opens a watch that is left open.
func (u *serverUse) watch(srv *fakeapi.Server, path string) {
	u.Helper()
	u.open = append(u.open, startWatch(u.T, u.ctx, srv, path+"?watch=1").Body)
}

// blockRequest begins a request that a fault never lets end.
func (u *serverUse) blockRequest(srv *fakeapi.Server) {
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
	u.open = append(u.open, waitCloser(ended))
}

// waitCloser is something that is closed when it has ended by itself.
type waitCloser chan struct{}

// Close waits for the end.
func (a waitCloser) Close() error {
	<-a
	return nil
}

// startWatch opens a watch. Unlike openWatch it leaves the closing to its caller: what a test cleans up
// at its end it holds until then.
func startWatch(t *testing.T, ctx context.Context, srv *fakeapi.Server, path string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL()+path, nil)
	require.NoError(t, err)
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	return resp
}

// resourceUsage is what a process holds.
type resourceUsage struct {
	goroutines, files int
	heap              uint64
}

// measureUsage counts once all that ends has ended, as far as there is more than wanted.
func measureUsage(t *testing.T, want resourceUsage) resourceUsage {
	t.Helper()
	s := resourceUsage{goroutines: waitForGoroutines(want.goroutines)}
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
