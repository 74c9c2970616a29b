package fakeapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
)

func TestKubeconfig(t *testing.T) {
	srv := fakeapi.Start(t)
	file, err := srv.Kubeconfig()
	require.NoError(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(file)
	require.NoError(t, err)
	version, err := kubernetes.NewForConfigOrDie(config).Discovery().ServerVersion()
	require.NoError(t, err)
	require.Equal(t, "v1.37.2", version.GitVersion)
}

func TestDefaultNamespaces(t *testing.T) {
	srv := fakeapi.Start(t)
	list, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var names []string
	for _, ns := range list.Items {
		names = append(names, ns.Name)
		require.Equal(t, corev1.NamespaceActive, ns.Status.Phase)
		require.Equal(t, ns.Name, ns.Labels[corev1.LabelMetadataName])
	}
	require.Equal(t, []string{"default", "kube-node-lease", "kube-public", "kube-system"}, names)
}

func TestInvalidOptions(t *testing.T) {
	for want, opt := range map[string]fakeapi.Option{
		`address "0.0.0.0:0" is not a loopback address`:                             fakeapi.WithAddress("0.0.0.0:0"),
		`address "127.0.0.1": address 127.0.0.1: missing port`:                      fakeapi.WithAddress("127.0.0.1"),
		"WithBookmarkInterval: -1s is not positive":                                 fakeapi.WithBookmarkInterval(-time.Second),
		"WithResourceVersionTimeout: 0s is not positive":                            fakeapi.WithResourceVersionTimeout(0),
		"WithNamespaceDeletionDelay: -1s is negative":                               fakeapi.WithNamespaceDeletionDelay(-time.Second),
		"WithAdmissionDelay needs durations that are not negative":                  fakeapi.WithAdmissionDelay(0, -time.Second),
		`"" is not a host name, which has no port and no scheme`:                    fakeapi.WithAllowedHosts("a.test", ""),
		`"a.test:80" is not a host name, which has no port and no scheme`:           fakeapi.WithAllowedHosts("::1", "a.test:80"),
		"the goaway chance -0.5 is not from 0 to 1":                                 fakeapi.WithGoawayChance(-0.5),
		`admission plugin "Nothing" is unknown`:                                     fakeapi.WithAdmissionPlugins("Nothing"),
		"manifests: a.yaml: document 1: Nothing x: /v1, Kind=Nothing is not served": fakeapi.WithManifests(fstest.MapFS{"a.yaml": {Data: []byte("kind: Nothing\napiVersion: v1\nmetadata: {name: x}")}}),
	} {
		srv, err := fakeapi.New(opt)
		require.ErrorContains(t, err, "fakeapi: "+want)
		require.Nil(t, srv)
		failed := &fatalRecorder{TB: t}
		require.Nil(t, fakeapi.Start(failed, opt))
		require.Equal(t, err.Error(), failed.message)
	}
}

func TestPortInUse(t *testing.T) {
	first := fakeapi.Start(t)
	_, err := fakeapi.New(fakeapi.WithAddress(first.URL()[len("http://"):]))
	require.ErrorContains(t, err, "address already in use")
}

// The same seed returns the same uids and generated names.
func TestSeed(t *testing.T) {
	names := func() (out []string) {
		srv := fakeapi.Start(t, fakeapi.WithSeed(7))
		client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
		for range 3 {
			cm, err := client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "g-"}}, metav1.CreateOptions{})
			require.NoError(t, err)
			out = append(out, cm.Name, string(cm.UID))
		}
		return out
	}
	require.Equal(t, names(), names())
}

// openWatch starts a watch with an HTTP request.
func openWatch(t testing.TB, ctx context.Context, srv *fakeapi.Server, path string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL()+path, nil)
	require.NoError(t, err)
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// Close ends running watches immediately.
func TestCloseEndsWatches(t *testing.T) {
	for name, opts := range map[string][]fakeapi.Option{
		"tcp": nil, "memory": {fakeapi.WithInMemoryNetwork()},
		"tls": {fakeapi.WithTLS()}, "tls in memory": {fakeapi.WithTLS(), fakeapi.WithInMemoryNetwork()},
	} {
		t.Run(name, func(t *testing.T) {
			srv, err := fakeapi.New(opts...)
			require.NoError(t, err)
			resp := openWatch(t, t.Context(), srv, "/api/v1/pods?watch=1&resourceVersion="+srv.ResourceVersion())
			require.NoError(t, srv.Close())
			_, _ = io.ReadAll(resp.Body) // returns because the stream has ended
			require.NoError(t, srv.Close())
			_, err = srv.Client().Get(srv.URL() + "/version")
			require.Error(t, err)
		})
	}
}

// Servers leave no goroutines.
func TestServersLeakNoGoroutines(t *testing.T) {
	runAlone(t, func(t *testing.T) {
		before := runtime.NumGoroutine()
		one := func(opts ...fakeapi.Option) {
			srv, err := fakeapi.New(opts...)
			require.NoError(t, err)
			resp := openWatch(t, t.Context(), srv, "/api/v1/pods?watch=1")
			require.NoError(t, srv.Close())
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			require.LessOrEqual(t, waitForGoroutines(before), before)
		}
		for range 100 {
			one()
			one(fakeapi.WithInMemoryNetwork())
			one(fakeapi.WithInMemoryNetwork(), fakeapi.WithTLS())
		}
	})
}

// watchEvent is a watch event in JSON.
type watchEvent struct {
	Type   string
	Object struct {
		metav1.TypeMeta
		Metadata metav1.ObjectMeta
		Code     int
		Reason   metav1.StatusReason
	}
}

// readEvents reads a stream to its end.
func readEvents(body io.Reader) (events []watchEvent) {
	decoder := json.NewDecoder(body)
	for {
		var e watchEvent
		if err := decoder.Decode(&e); err != nil {
			return events
		}
		events = append(events, e)
	}
}

// On virtual time a watch receives bookmarks at the interval and ends exactly after timeoutSeconds.
func TestWatchTimeoutAndBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		start := time.Now()
		resp := openWatch(t, t.Context(), srv, "/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=600&resourceVersion="+srv.ResourceVersion())
		events := readEvents(resp.Body)
		require.Equal(t, 10*time.Minute, time.Since(start))
		require.Len(t, events, 10) // one a minute, the last just before the end
		for _, e := range events {
			require.Equal(t, "BOOKMARK", e.Type)
			require.Equal(t, "Pod", e.Object.Kind)
			require.Equal(t, srv.ResourceVersion(), e.Object.Metadata.ResourceVersion)
			require.Empty(t, e.Object.Metadata.Annotations)
		}
	})
}

// A read at a future resourceVersion waits for it and fails after three seconds.
func TestReadsOfFutureRevisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
		start := time.Now()
		code, header, body := send(t, srv, "GET", "/api/v1/namespaces/default/configmaps?resourceVersion=1005", "", nil)
		require.Equal(t, 504, code, "%s", body)
		require.Equal(t, "1", header.Get("Retry-After"))
		require.Equal(t, 3*time.Second, time.Since(start))

		done := make(chan error)
		go func() {
			_, err := client.List(t.Context(), metav1.ListOptions{ResourceVersion: "1005"})
			done <- err
		}()
		time.Sleep(2 * time.Second)
		created, err := client.Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{})
		require.NoError(t, err)
		require.Equal(t, "1005", created.ResourceVersion)
		require.NoError(t, <-done)
		require.Equal(t, 5*time.Second, time.Since(start))
	})
}

// History expires by age: after five minutes, a watch from before the last change returns 410.
func TestHistoryMaxAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		old := srv.ResourceVersion()
		client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
		_, err := client.Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{})
		require.NoError(t, err)
		from := func() []watchEvent {
			return readEvents(openWatch(t, t.Context(), srv, "/api/v1/configmaps?watch=1&timeoutSeconds=1&resourceVersion="+old).Body)
		}
		time.Sleep(4 * time.Minute)
		events := from()
		require.Len(t, events, 1)
		require.Equal(t, "ADDED", events[0].Type)
		time.Sleep(2 * time.Minute)
		events = from()
		require.Len(t, events, 1)
		require.Equal(t, "ERROR", events[0].Type)
		require.Equal(t, 410, events[0].Object.Code)
		require.Equal(t, metav1.StatusReasonExpired, events[0].Object.Reason)
	})
}

// closingTB is a TB that keeps its failures and the function that closes its server.
type closingTB struct {
	failures
	end func()
}

func (c *closingTB) Cleanup(f func()) { c.end = f }

// A server that does not close fails its test with the requests that are left.
func TestStartReportsOpenRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &closingTB{}
		srv := fakeapi.Start(tb, fakeapi.WithInMemoryNetwork(), fakeapi.WithMiddleware(func(http.Handler) http.Handler {
			return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Minute) })
		}))
		go srv.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/livez", nil))
		synctest.Wait()
		tb.end()
		require.Equal(t, []string{"fakeapi: closing the server: still open: GET /livez (for 5s)"}, tb.texts)
		time.Sleep(time.Minute) // until the request has ended
	})
}

// ServeHTTP serves a client request, which has no body and another form of the URL.
func TestServeHTTPOfClientRequest(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	for method, want := range map[string]int{http.MethodGet: http.StatusOK, http.MethodPut: http.StatusBadRequest} {
		r, err := http.NewRequest(method, "http://fakeapi.test/api/v1/namespaces/default", nil)
		require.NoError(t, err)
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, r)
		require.Equal(t, want, w.Code, w.Body)
		require.Nil(t, r.Body, "the request of the caller is not changed")
	}
}

// A response to a request whose body was not read keeps the connection open for a moment. Close
// waits for it, so that the synctest bubble can end.
func TestCloseAfterIgnoredBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		code, _, _ := send(t, srv, "POST", "/api/v1/namespaces/default/configmaps", "application/json", make([]byte, 4<<20))
		require.Equal(t, 413, code)
	})
}
