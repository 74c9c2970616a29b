package fakeapi_test

import (
	"context"
	"io"
	"math"
	"net/http"
	"os"
	goruntime "runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// A process that creates a thousand servers has no more goroutines, file descriptors and memory
// afterwards. The servers differ in network, TLS, custom resources, webhooks, forks and replicas,
// and are closed with open watches and WebSockets, running controllers and blocked requests.
func TestThousandServersLeakNoResources(t *testing.T) {
	runAlone(t, func(t *testing.T) {
		servers := 1000
		if testing.Short() {
			servers = 200
		}
		u := serverUser{
			widgets: decodeCRD(t, widgetCRD),
			gadgets: decodeCRD(t, gadgetCRD("v1", webhookConversion(startLoopbackWebhook(t, &gadgetWebhook{})))),
			hooks:   newWebhookServer(t),
		}
		want := measureUsage(t, &u.live)
		want.heap = math.MaxUint64
		for i := range 100 { // initializes what is initialized once per process
			u.useServer(t, i)
		}
		const perServer = 2 << 10 // a server that is not freed has at least 65 KB
		want.heap = requireUsage(t, &u.live, want).heap + uint64(servers)*perServer
		for i := range servers {
			u.useServer(t, i)
			goroutines := waitForGoroutines(want.goroutines)
			require.LessOrEqual(t, goroutines, want.goroutines, "goroutines after server %d", i)
		}
		requireUsage(t, &u.live, want)
	})
}

// A server that is not closed, or that something refers to, increases the measured usage.
func TestResourceUsageCountsServer(t *testing.T) {
	runAlone(t, func(t *testing.T) {
		var live atomic.Int64
		useOnce := func() { // initializes what is initialized once per process
			srv, err := fakeapi.New()
			require.NoError(t, err)
			countUntilFreed(srv, &live)
			require.NoError(t, srv.Close())
		}
		limit := resourceUsage{goroutines: goruntime.NumGoroutine(), files: math.MaxInt, heap: math.MaxUint64}
		useOnce()
		before := requireUsage(t, &live, limit) // nothing is left of the first server
		srv, err := fakeapi.New()
		require.NoError(t, err)
		countUntilFreed(srv, &live)
		after := measureUsage(t, &live)
		require.Greater(t, after.goroutines, before.goroutines)
		require.Greater(t, after.heap, before.heap+64<<10)
		require.Equal(t, 1, after.servers)
		if goruntime.GOOS == "linux" {
			require.Greater(t, after.files, before.files)
		}
		require.NoError(t, srv.Close())
		require.Equal(t, 1, measureUsage(t, &live).servers)
		goruntime.KeepAlive(srv)
		before.heap += 64 << 10 // what remains of a process that has used a server once more
		requireUsage(t, &live, before)
	})
}

// serverUser uses servers in different ways.
type serverUser struct {
	widgets, gadgets runtime.Object
	hooks            *webhookServer
	// live is the number of servers that are not freed.
	live atomic.Int64
}

// serverUse is a server with its open watches and requests.
type serverUse struct {
	*testing.T
	live    *atomic.Int64
	hooks   *webhookServer
	ctx     context.Context
	servers []*fakeapi.Server
	open    []io.Closer
}

// useServer creates a server, sends writes, opens watches and closes it. i selects the variant.
func (u *serverUser) useServer(t *testing.T, i int) {
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
	if hasWebhooks(i) {
		opts = append(opts, fakeapi.WithWebhookDialer(u.hooks.dial))
	}
	srv, err := fakeapi.New(opts...)
	require.NoError(t, err)
	countUntilFreed(srv, &u.live)
	run := &serverUse{T: t, live: &u.live, hooks: u.hooks, ctx: ctx, servers: []*fakeapi.Server{srv}}
	run.write(srv, "POST", configMapsPath, `{"metadata":{"generateName":"x"}}`, 201)
	run.watch(srv, watched)
	run.runVariants(i, watched)
	for n, s := range slices.Backward(run.servers) {
		if n == 0 || i%20 == 0 { // otherwise closing the server closes its replica
			require.NoError(t, s.Close())
		}
	}
	for _, open := range run.open {
		if body, is := open.(io.Reader); is {
			_, _ = io.Copy(io.Discard, body) // an error is expected, since the server was closed
		}
		_ = open.Close()
	}
}

// runVariants does what only some of the servers do.
func (u *serverUse) runVariants(i int, watched string) {
	u.Helper()
	srv := u.servers[0]
	if hasWebhooks(i) {
		for range 2 { // the second time it is replaced
			for _, path := range []string{mutatingPath, validatingPath} {
				u.write(srv, "DELETE", path, "", 200)
				u.write(srv, "POST", path, configuration("c", u.hooks.webhook(u, "allow", "")), 201)
			}
			u.write(srv, "POST", configMapsPath, `{"metadata":{"generateName":"x"}}`, 201)
		}
		require.NotEmpty(u, u.hooks.take())
	}
	if i%3 == 0 {
		u.watch(srv, "/api/v1/namespaces")
		u.watch(srv, "/api/v1/watch/pods")
	}
	if i%5 == 2 { // the controllers run while the server is closed
		u.write(srv, "POST", "/api/v1/namespaces", `{"metadata":{"name":"team"}}`, 201)
		u.write(srv, "POST", "/api/v1/namespaces/team/configmaps", `{"metadata":{"name":"m"}}`, 201)
		u.write(srv, "DELETE", "/api/v1/namespaces/default/pods/running", "", 200)
		u.write(srv, "DELETE", "/api/v1/namespaces/team", "", 200)
	}
	if i%10 == 0 {
		fork, err := srv.Fork(fakeapi.WithInMemoryNetwork(), fakeapi.WithWebhookDialer(u.hooks.dial))
		require.NoError(u, err)
		replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
		require.NoError(u, err)
		countUntilFreed(fork, u.live)
		countUntilFreed(replica.Server, u.live)
		u.watch(fork, watched)
		u.watch(replica.Server, watched)
		for _, s := range []*fakeapi.Server{fork, replica.Server} { // some have webhooks
			u.write(s, "POST", configMapsPath, `{"metadata":{"generateName":"x"}}`, 201)
		}
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

// hasWebhooks reports whether a variant has admission webhooks. Those with a conversion webhook
// have no dialer.
func hasWebhooks(i int) bool { return i%9 == 1 && i%20 != 6 }

// write sends a request and checks the code.
func (u *serverUse) write(srv *fakeapi.Server, method, path, body string, want int) {
	u.Helper()
	code, _, response := send(u, srv, method, path, "application/json", []byte(body))
	require.Equal(u, want, code, "%s", response)
}

// watch opens a watch and leaves it open.
func (u *serverUse) watch(srv *fakeapi.Server, path string) {
	u.Helper()
	u.open = append(u.open, startWatch(u.T, u.ctx, srv, path+"?watch=1").Body)
}

// blockRequest starts a request that a fault blocks until the server is closed.
func (u *serverUse) blockRequest(srv *fakeapi.Server) {
	u.Helper()
	_, err := srv.Faults().AddText("blocked: when path(/livez) do hang")
	require.NoError(u, err)
	ended := make(chan struct{})
	r := newRequest(u.T, srv.URL()+"/livez", nil)
	go func() {
		defer close(ended)
		if resp, err := srv.Client().Do(r); err == nil {
			_ = resp.Body.Close()
		}
	}()
	require.Eventually(u, func() bool { return len(srv.Faults().Hits()) > 0 }, time.Minute, time.Millisecond)
	u.open = append(u.open, waitCloser(ended))
}

// waitCloser is a Closer that waits until the channel is closed.
type waitCloser chan struct{}

// Close waits until the channel is closed.
func (a waitCloser) Close() error {
	<-a
	return nil
}

// startWatch opens a watch. Unlike openWatch it does not register a cleanup, which would keep the
// response until the end of the test.
func startWatch(t *testing.T, ctx context.Context, srv *fakeapi.Server, path string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL()+path, nil)
	require.NoError(t, err)
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	return resp
}

// resourceUsage is what a process uses.
type resourceUsage struct {
	goroutines, files int
	servers           int // that are not freed
	heap              uint64
}

// countUntilFreed increases live until the server is freed.
func countUntilFreed(srv *fakeapi.Server, live *atomic.Int64) {
	live.Add(1)
	goruntime.AddCleanup(srv, func(live *atomic.Int64) { live.Add(-1) }, live)
}

// measureUsage measures the usage after garbage collections.
func measureUsage(t *testing.T, live *atomic.Int64) resourceUsage {
	t.Helper()
	for range 3 { // finalizers and cleanups run between garbage collections
		goruntime.GC()
	}
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	open, err := os.ReadDir("/proc/self/fd")
	if goruntime.GOOS == "linux" {
		require.NoError(t, err)
	}
	return resourceUsage{goroutines: goruntime.NumGoroutine(), files: len(open), servers: int(live.Load()), heap: m.HeapAlloc}
}

// requireUsage waits until the usage is not above a limit and returns it. It fails after a minute.
func requireUsage(t *testing.T, live *atomic.Int64, limit resourceUsage) resourceUsage {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		u := measureUsage(t, live)
		if u.goroutines <= limit.goroutines && u.files <= limit.files && u.servers <= limit.servers && u.heap <= limit.heap {
			return u
		}
		require.True(t, time.Now().Before(end), "the usage is %+v, the limit is %+v", u, limit)
	}
}

// waitForGoroutines waits until there are at most want goroutines, but for a minute at most, and
// returns their number.
func waitForGoroutines(want int) int {
	n := goruntime.NumGoroutine()
	for end := time.Now().Add(time.Minute); n > want && time.Now().Before(end); n = goruntime.NumGoroutine() {
		time.Sleep(time.Millisecond)
	}
	return n
}
