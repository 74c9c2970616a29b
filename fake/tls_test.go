package fakeapi_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/verify/harness"
)

// protocol returns the HTTP version of a response to the server's client.
func protocol(t *testing.T, srv *fakeapi.Server) string {
	t.Helper()
	resp, err := srv.Client().Get(srv.URL() + "/version")
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	return resp.Proto
}

// All addresses serve TLS and HTTP/2.
func TestTLS(t *testing.T) {
	for name, opts := range map[string][]fakeapi.Option{
		"port":    nil,
		"address": {fakeapi.WithAddress("127.0.0.2:0")},
		"name":    {fakeapi.WithAddress("localhost:0")},
		"memory":  {fakeapi.WithInMemoryNetwork()},
	} {
		t.Run(name, func(t *testing.T) {
			srv := fakeapi.Start(t, append(opts, fakeapi.WithTLS())...)
			require.Regexp(t, "^https://", srv.URL())
			require.Equal(t, "HTTP/2.0", protocol(t, srv))
			namespaces, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			require.Len(t, namespaces.Items, 4)
		})
	}
	require.Equal(t, "HTTP/1.1", protocol(t, fakeapi.Start(t)))
	require.Nil(t, fakeapi.Start(t).CACertificate())
}

// The certificate is valid for the names by which clients in a cluster reach the API server.
func TestTLSNamesOfTheKubernetesService(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTLS(), fakeapi.WithServiceClusterIPRange("10.0.0.0/24"), fakeapi.WithAllowedHosts("other.example.com"))
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(srv.CACertificate()))
	for _, name := range []string{
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "10.0.0.1",
		"localhost", "127.0.0.1", "other.example.com",
	} {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(srv.URL(), "https://"), &tls.Config{RootCAs: pool, ServerName: name})
		require.NoError(t, err, name)
		require.NoError(t, conn.Close())
	}
}

func TestTLSKubeconfig(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTLS())
	file, err := srv.Kubeconfig()
	require.NoError(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(file)
	require.NoError(t, err)
	require.Equal(t, srv.CACertificate(), config.CAData)
	_, err = kubernetes.NewForConfigOrDie(config).Discovery().ServerVersion()
	require.NoError(t, err)
}

// A client that supports only HTTP/1.1 is served. One that does not trust the CA or does not use
// TLS is not.
func TestTLSWithOtherClients(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTLS())
	get := func(config *tls.Config, url string) (*http.Response, error) {
		transport := &http.Transport{TLSClientConfig: config}
		defer transport.CloseIdleConnections()
		resp, err := (&http.Client{Transport: transport}).Get(url)
		if err == nil {
			_ = resp.Body.Close()
		}
		return resp, err
	}
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(srv.CACertificate()))
	resp, err := get(&tls.Config{RootCAs: pool, NextProtos: []string{"http/1.1"}}, srv.URL()+"/version")
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1", resp.Proto)
	require.Equal(t, http.StatusOK, resp.StatusCode)

	_, err = get(&tls.Config{RootCAs: x509.NewCertPool()}, srv.URL()+"/version")
	require.ErrorAs(t, err, new(x509.UnknownAuthorityError))

	resp, err = get(nil, strings.Replace(srv.URL(), "https", "http", 1)+"/version")
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, resp.StatusCode)
}

// The client of an in-memory server uses no proxy from the environment.
func TestInMemoryNetworkIgnoresProxy(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTLS(), fakeapi.WithInMemoryNetwork())
	r := httptest.NewRequest(http.MethodGet, srv.URL(), nil)
	proxy, err := srv.RESTConfig().Proxy(r)
	require.NoError(t, err)
	require.Nil(t, proxy)
	require.Equal(t, "HTTP/2.0", protocol(t, srv))
}

// A replica has the certificate authority of its server.
func TestReplicaTLS(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTLS())
	replica, err := srv.Replica(fakeapi.WithAddress("127.0.0.3:0"))
	require.NoError(t, err)
	require.Equal(t, "HTTP/2.0", protocol(t, replica.Server))
	require.Equal(t, srv.CACertificate(), replica.CACertificate())
	config := srv.RESTConfig()
	config.Host = replica.URL()
	_, err = kubernetes.NewForConfigOrDie(config).Discovery().ServerVersion()
	require.NoError(t, err)
	replica, err = fakeapi.Start(t).Replica(fakeapi.WithTLS())
	require.NoError(t, err)
	require.Equal(t, "HTTP/2.0", protocol(t, replica.Server), "of a server without TLS")
}

// Over HTTP/2 on virtual time, events of a watch arrive immediately, and the watch ends exactly at
// its timeout.
func TestWatchOverHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTLS())
		config := srv.RESTConfig()
		network := harness.NewNetwork(config)
		client := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
		start := time.Now()
		seconds := int64(3600)
		w, err := client.Watch(t.Context(), metav1.ListOptions{TimeoutSeconds: &seconds})
		require.NoError(t, err)
		for i := range 10 {
			time.Sleep(time.Minute)
			created, err := client.Create(t.Context(), configMap(fmt.Sprint("n", i), "1"), metav1.CreateOptions{})
			require.NoError(t, err)
			event := <-w.ResultChan()
			require.Equal(t, created.UID, event.Object.(metav1.Object).GetUID())
			require.Equal(t, time.Duration(i+1)*time.Minute, time.Since(start))
		}
		_, open := <-w.ResultChan()
		require.False(t, open)
		require.Equal(t, time.Hour, time.Since(start))
		require.Equal(t, 1, network.Connections(), "requests share the connection of the watch")
	})
}

// A connection has up to a hundred concurrent requests. Clients open another one for more.
func TestMaxConcurrentStreams(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTLS())
	config := srv.RESTConfig()
	dials := countDials(config)
	client := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
	for i := range 101 {
		w, err := client.Watch(t.Context(), metav1.ListOptions{ResourceVersion: srv.ResourceVersion()})
		require.NoError(t, err)
		defer w.Stop()
		require.Equal(t, 1+i/100, dials())
	}
}

// unresponsiveConn is a connection whose client stops reading once unresponsive is closed.
type unresponsiveConn struct {
	net.Conn
	unresponsive, done chan struct{}
	once               sync.Once
}

func (c *unresponsiveConn) Read(p []byte) (int, error) {
	select {
	case <-c.unresponsive:
		<-c.done
		return 0, net.ErrClosed
	default:
		return c.Conn.Read(p)
	}
}

func (c *unresponsiveConn) Close() error {
	c.once.Do(func() { close(c.done) })
	return c.Conn.Close()
}

// A client that does not read its stream or its connection delays neither writers nor other streams
// nor Close. The fastest Close of three is fast; others may be slowed down by the machine.
func TestSlowHTTP2Clients(t *testing.T) {
	fastest := time.Hour
	for i := 0; i < 3 && fastest >= 4*time.Second; i++ {
		fastest = min(fastest, closeWithSlowHTTP2Clients(t))
	}
	require.Less(t, fastest, 4*time.Second, "Close does not wait for unresponsive clients")
}

// closeWithSlowHTTP2Clients writes to a server with slow clients, and returns how long Close takes.
func closeWithSlowHTTP2Clients(t *testing.T) time.Duration {
	t.Helper()
	srv, err := fakeapi.New(fakeapi.WithTLS())
	require.NoError(t, err)
	openWatch(t, t.Context(), srv, "/api/v1/configmaps?watch=1") // never read

	unresponsive := make(chan struct{})
	transport := srv.Client().Transport.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return &unresponsiveConn{Conn: conn, unresponsive: unresponsive, done: make(chan struct{})}, err
	}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get(srv.URL() + "/api/v1/configmaps?watch=1")
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	close(unresponsive)

	client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	value := strings.Repeat("v", 1<<20)
	for i := range 20 { // more than the window of a stream and the buffers of a socket
		_, err := client.Create(t.Context(), configMap(fmt.Sprint("n", i), value), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	require.Equal(t, "HTTP/2.0", protocol(t, srv))
	start := time.Now()
	require.NoError(t, srv.Close())
	return time.Since(start)
}

// Shutdown ends watches over HTTP/2 cleanly and closes connections within the second that net/http
// waits after a GOAWAY.
func TestShutdownOverHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTLS())
		stream := openWatch(t, t.Context(), srv, "/api/v1/configmaps?watch=1&resourceVersion="+srv.ResourceVersion())
		start := time.Now()
		require.NoError(t, srv.Shutdown())
		require.LessOrEqual(t, time.Since(start), time.Second)
		rest, err := io.ReadAll(stream.Body)
		require.NoError(t, err)
		require.Empty(t, rest)
		_, err = srv.Client().Get(srv.URL() + "/version")
		require.Error(t, err)
		require.NoError(t, srv.Restart(0))
		require.Equal(t, "HTTP/2.0", protocol(t, srv))
	})
}

// An idle HTTP/2 connection does not delay Shutdown.
func TestShutdownOfIdleHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTLS())
		require.Equal(t, "HTTP/2.0", protocol(t, srv))
		synctest.Wait() // the connection is idle
		start := time.Now()
		require.NoError(t, srv.Shutdown())
		require.Zero(t, time.Since(start))
		synctest.Wait() // the client has noticed, and does not use the connection again
		require.NoError(t, srv.Restart(0))
		require.Equal(t, "HTTP/2.0", protocol(t, srv))
	})
}

// An idle client over TLS does not delay Close. The in-memory network has no buffer, so that a
// close_notify would wait until the client reads it.
func TestCloseWithIdleClientOverTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := fakeapi.New(fakeapi.WithInMemoryNetwork(), fakeapi.WithTLS())
		require.NoError(t, err)
		config := srv.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		config.ServerName = "localhost"
		raw, err := srv.RESTConfig().Dial(t.Context(), "", "")
		require.NoError(t, err)
		conn := tls.Client(raw, config)
		_, err = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, resp.StatusCode)
		_, err = io.ReadAll(resp.Body)
		require.NoError(t, err)
		synctest.Wait() // the connection is idle
		start := time.Now()
		require.NoError(t, srv.Close())
		require.Zero(t, time.Since(start))
		require.NoError(t, raw.Close())
	})
}
