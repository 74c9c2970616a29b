package faults_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// newProxy starts a proxy with rules in front of a server.
func newProxy(t *testing.T, base string, transport http.RoundTripper, rules ...string) *testServer {
	t.Helper()
	at, err := url.Parse(base)
	require.NoError(t, err)
	s := &testServer{t: t, set: &faults.Set{}}
	s.add(rules...)
	return s.serve(httptest.NewServer(faults.Proxy(s.set, at, transport)))
}

// TestProxy tests that a watch passes through the proxy without delay, that rules are applied to
// its frames, and that other requests are unchanged.
func TestProxy(t *testing.T) {
	api := newAPI()
	server := httptest.NewServer(http.StripPrefix("/base", api))
	t.Cleanup(server.Close)
	s := newProxy(t, server.URL+"/base", http.DefaultTransport)

	_, body := s.get("/api/v1/nodes/a%2Fb?x=1")
	require.Equal(t, `{"kind":"Answer","path":"/api/v1/nodes/a/b"}`, body)
	resp, body, err := s.do(http.MethodPost, pods)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, resp.StatusCode)
	require.Equal(t, `{"kind":"Pod"}`, body)

	w := s.watch("")
	require.Equal(t, "application/json", w.resp.Header.Get("Content-Type"), "before the first event")
	api.events <- podA
	w.expectLines(podA) // before the next one is sent
	remove := s.add("when event(BOOKMARK) do drop", "when event(ADDED) && name(b) do duplicate")
	api.events <- bookmark
	api.events <- podB
	w.expectLines(podB, podB)
	remove()
	s.add("when event(BOOKMARK) do error(410)")
	api.events <- bookmark
	rest, err := w.readAll()
	require.NoError(t, err)
	require.Contains(t, rest, `"reason":"Expired"`)
	eventually(t, func() bool { return api.finishedWatches.Load() == 1 })

	gone := s.watch("")
	require.NoError(t, gone.resp.Body.Close())
	eventually(t, func() bool { return api.finishedWatches.Load() == 2 })
}

// TestProxyAcceptEncoding tests that the server compresses responses only if the client asks for
// it.
func TestProxyAcceptEncoding(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("Accept-Encoding"))
	}))
	t.Cleanup(server.Close)
	s := newProxy(t, server.URL, http.DefaultTransport)
	for given, want := range map[string]string{"": "identity", "gzip": "gzip"} {
		r := httptest.NewRequest(http.MethodGet, s.url+pods, nil)
		r.RequestURI = ""
		r.Header["Accept-Encoding"] = []string{given}
		resp, err := s.client.Do(r)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, want, string(body))
	}
}

// TestProxyResetCommitted tests that the server has handled the request.
func TestProxyResetCommitted(t *testing.T) {
	api := newAPI()
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	s := newProxy(t, server.URL, http.DefaultTransport, "when verb(create) && during(committed) do reset")
	_, _, err := s.do(http.MethodPost, pods)
	require.Error(t, err)
	require.EqualValues(t, 1, api.created.Load())
}

// TestProxyUnreachableServer tests the response if the server cannot be reached.
func TestProxyUnreachableServer(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	s := newProxy(t, closed.URL, http.DefaultTransport)
	resp, body := s.get(pods)
	require.Equal(t, http.StatusBadGateway, resp.StatusCode)
	require.Contains(t, body, "the fault proxy cannot reach the server: ")
	require.Contains(t, body, `"kind":"Status"`)
}

// upgrade requests another protocol on a new connection and returns the response and the
// connection.
func upgrade(t *testing.T, address, protocol string) (*http.Response, *bufio.ReadWriter) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, "GET "+pods+"/a/exec?command=sh HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: "+protocol+"\r\n\r\n")
	require.NoError(t, err)
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	require.NoError(t, err)
	return resp, bufio.NewReadWriter(r, bufio.NewWriter(conn))
}

// upgradeHandler upgrades the connection and sends all bytes back.
func upgradeHandler(w http.ResponseWriter, r *http.Request) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+r.Header.Get("Upgrade")+"\r\n\r\n")
	_, _ = io.Copy(conn, rw)
}

// TestProxyUpgrades tests that upgrades pass over HTTP/1.1, also with rules for watches, and fail
// with a reason over HTTP/2.
func TestProxyUpgrades(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(upgradeHandler))
	t.Cleanup(server.Close)
	s := newProxy(t, server.URL, http.DefaultTransport, "when event(ADDED) do drop")
	for _, protocol := range []string{"websocket", "SPDY/3.1"} {
		resp, rw := upgrade(t, s.url, protocol)
		require.Equal(t, http.StatusSwitchingProtocols, resp.StatusCode)
		_, err := rw.WriteString("hello\n")
		require.NoError(t, err)
		require.NoError(t, rw.Flush())
		line, err := rw.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "hello\n", line)
	}

	secure := httptest.NewUnstartedServer(http.HandlerFunc(upgradeHandler))
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	resp, _ := upgrade(t, newProxy(t, secure.URL, secure.Client().Transport).url, "SPDY/3.1")
	require.Equal(t, http.StatusBadGateway, resp.StatusCode)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), "Upgrade")
}

// TestProxyInformer tests an informer behind the proxy: it misses a dropped event and relists after
// a 410.
func TestProxyInformer(t *testing.T) {
	srv := fakeapi.Start(t)
	s := newProxy(t, srv.URL(), srv.Client().Transport)
	maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	create := func(name string) {
		_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	create("first")
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: s.url, QPS: -1})
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"))
	informer := factory.Core().V1().ConfigMaps().Informer()
	factory.Start(t.Context().Done())
	t.Cleanup(factory.Shutdown) // the context of the test is canceled before
	require.True(t, cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced))
	knows := func(name string) bool {
		_, ok, _ := informer.GetStore().GetByKey("default/" + name)
		return ok
	}
	require.True(t, knows("first"))

	s.add("lost: when event(ADDED) && name(second) && first(1) do drop", "gone: when event(ADDED) && name(fourth) && first(1) do error(410)")
	create("second")
	create("third")
	eventually(t, func() bool { return knows("third") })
	require.False(t, knows("second"))
	create("fourth")
	eventually(t, func() bool { return knows("second") && knows("fourth") })
	var applied []string
	for _, h := range s.set.Hits() {
		applied = append(applied, h.Rule.Name)
	}
	require.Equal(t, []string{"lost", "gone"}, applied)
}

// framesTransport is a RoundTripper that responds to a watch with a number of frames.
type framesTransport int

func (n framesTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("watch") == "" {
		return nil, errors.New("watches only")
	}
	read, write := io.Pipe()
	go func() {
		for range n {
			if _, err := io.WriteString(write, podA); err != nil {
				return
			}
		}
		_ = write.Close()
	}()
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: read,
	}, nil
}

// BenchmarkProxyFrame measures one frame of a watch in the proxy: without rules, with rules that
// cannot match it, and with a rule that is evaluated for it. "pipe" is the transport alone.
func BenchmarkProxyFrame(b *testing.B) {
	for name, rules := range map[string]string{"none": "", "others": "when verb(list) do status(410)", "evaluated": "when event(DELETED) do drop"} {
		b.Run(name, func(b *testing.B) {
			var set faults.Set
			_, err := set.AddText(rules)
			require.NoError(b, err)
			proxy := faults.Proxy(&set, &url.URL{Scheme: "http", Host: "server"}, framesTransport(b.N))
			r := httptest.NewRequest(http.MethodGet, pods+"?watch=1", nil)
			b.ReportAllocs()
			b.ResetTimer()
			proxy.ServeHTTP(flushableDiscardWriter{discardWriter{http.Header{}}}, r)
		})
	}
	b.Run("pipe", func(b *testing.B) {
		resp, err := framesTransport(b.N).RoundTrip(httptest.NewRequest(http.MethodGet, pods+"?watch=1", nil))
		require.NoError(b, err)
		buffer := make([]byte, 32<<10)
		b.ReportAllocs()
		b.ResetTimer()
		for err == nil {
			_, err = resp.Body.Read(buffer)
		}
	})
}

// flushableDiscardWriter is a discardWriter with Flush.
type flushableDiscardWriter struct{ discardWriter }

func (flushableDiscardWriter) Flush() {}
