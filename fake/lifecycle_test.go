package fakeapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// Drain makes /readyz fail. Shutdown ends watches and refuses connections. After Restart the server
// has all its objects, and an informer resumes.
func TestShutdownAndRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("a", "0")))
		replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		var s handlerLog
		informer := startInformer(t, srv.RESTConfig(), &s)
		maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
		w, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: srv.ResourceVersion()})
		require.NoError(t, err)

		srv.Drain()
		code, header, body := send(t, srv, "GET", "/readyz", "", nil)
		require.Equal(t, http.StatusInternalServerError, code)
		require.Equal(t, "text/plain; charset=utf-8", header.Get("Content-Type"))
		require.Equal(t, "[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]etcd-readiness ok\n[+]informer-sync ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n", string(body))
		code, _, body = send(t, srv, "GET", "/readyz/shutdown", "", nil)
		require.Equal(t, http.StatusInternalServerError, code)
		require.Equal(t, "internal server error: process is shutting down\n", string(body))
		for _, path := range []string{"/livez", "/healthz", "/readyz/ping", "/readyz?exclude=shutdown", "/api/v1/pods"} {
			code, _, _ := send(t, srv, "GET", path, "", nil)
			require.Equal(t, http.StatusOK, code, path)
		}
		requireNoEvent(t, w)

		start := time.Now()
		require.NoError(t, srv.Shutdown())
		require.Less(t, time.Since(start), 5*time.Second, "no request delays the shutdown")
		_, open := <-w.ResultChan()
		require.False(t, open)
		_, err = srv.Client().Get(srv.URL() + "/livez")
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		require.NoError(t, srv.Load(configMap("b", "0")))
		replicaMaps := kubernetes.NewForConfigOrDie(replica.RESTConfig()).CoreV1().ConfigMaps("default")
		setValue(t, replicaMaps, "1") // the replica is not shut down

		time.Sleep(10 * time.Minute)
		require.NoError(t, srv.Restart(30*time.Second))
		_, err = maps.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err, "client-go retries after Retry-After until the server has started")
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, "1", getValue(t, maps, ""))
		require.Equal(t, srv.ResourceVersion(), cachedVersions(informer)["a"])
		code, _, _ = send(t, srv, "GET", "/readyz", "", nil)
		require.Equal(t, http.StatusOK, code)
	})
}

// A starting server serves only its health checks.
func TestStartup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		require.NoError(t, srv.Restart(30*time.Second))
		for _, path := range []string{"/apis", "/api/v1/pods", "/version", "/nonsense"} {
			code, header, body := send(t, srv, "GET", path, "", nil)
			require.Equal(t, http.StatusServiceUnavailable, code, path)
			require.Equal(t, "5", header.Get("Retry-After"))
			require.Equal(t, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the request has been made before all known HTTP paths have been installed, please try again","reason":"ServiceUnavailable","details":{"retryAfterSeconds":5},"code":503}`, strings.TrimSpace(string(body)))
		}
		code, _, body := send(t, srv, "GET", "/readyz", "", nil)
		require.Equal(t, http.StatusInternalServerError, code)
		require.Contains(t, string(body), "[-]informer-sync failed: reason withheld\n[+]shutdown ok\n")
		code, _, _ = send(t, srv, "GET", "/livez", "", nil)
		require.Equal(t, http.StatusOK, code)

		_, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).Discovery().ServerVersion()
		require.NoError(t, err, "client-go retries until the server has started")
		require.NoError(t, srv.Restart(time.Hour))
		require.NoError(t, srv.Restart(0))
		code, _, body = send(t, srv, "GET", "/version", "", nil)
		require.Equal(t, http.StatusOK, code)
		require.True(t, json.Valid(body))
	})
}

// Shutdown waits for running requests. A request that does not end is aborted and reported.
func TestShutdownWaitsForRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("a", "0")))
		_, err := srv.Faults().AddText("when verb(list) do delay(3s)\nwhen verb(get) do hang")
		require.NoError(t, err)
		maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
		listed := make(chan error)
		go func() {
			_, err := maps.List(t.Context(), metav1.ListOptions{})
			listed <- err
		}()
		synctest.Wait()
		start := time.Now()
		require.NoError(t, srv.Shutdown())
		require.Equal(t, 3*time.Second, time.Since(start))
		require.NoError(t, <-listed)

		require.NoError(t, srv.Restart(0))
		got := make(chan error)
		go func() {
			_, err := srv.Client().Get(srv.URL() + "/api/v1/namespaces/default/configmaps/a")
			got <- err
		}()
		synctest.Wait()
		require.ErrorContains(t, srv.Shutdown(), "fakeapi: shutdown: still open: GET /api/v1/namespaces/default/configmaps/a (for 5s)")
		require.Error(t, <-got)
	})
}

// ownLoopback returns a loopback address of which no other process uses ports, so that a server can
// have the same port after a restart. Only Linux and Windows have more than one.
func ownLoopback() string {
	if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		return "127.0.0.1:0"
	}
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d:0", 1+pid>>16, pid>>8&255, pid&255)
}

// On a real socket the address is the same after a restart.
func TestRestartOnSameAddress(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithAddress(ownLoopback()))
	url := srv.URL()
	for range 3 {
		code, _, _ := send(t, srv, "GET", "/livez", "", nil)
		require.Equal(t, http.StatusOK, code)
		require.NoError(t, srv.Shutdown())
		require.NoError(t, srv.Shutdown(), "a second Shutdown has no effect")
		_, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		require.NoError(t, srv.Restart(0))
		require.Equal(t, url, srv.URL())
	}
	require.NoError(t, srv.Shutdown())
	other, err := net.Listen("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	require.ErrorContains(t, srv.Restart(0), "address already in use")
	require.NoError(t, other.Close())
	require.NoError(t, srv.Restart(0))
	_, err = kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Pods("default").Get(t.Context(), "none", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}

// A server that was shut down can be closed, and not be restarted then.
func TestCloseAfterShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := fakeapi.New(fakeapi.WithInMemoryNetwork(), fakeapi.WithFaults(faults.DropBookmarks()))
		require.NoError(t, err)
		require.NoError(t, srv.Shutdown())
		require.NoError(t, srv.Close())
		require.NoError(t, srv.Close())
		require.ErrorIs(t, srv.Restart(0), net.ErrClosed)
		_, err = srv.Client().Get(srv.URL() + "/livez")
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	})
}

// Shutdown closes connections without a request. One whose first request arrives a moment later is
// served.
func TestShutdownWithNewConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		dial := func() net.Conn {
			c, err := srv.RESTConfig().Dial(t.Context(), "tcp", strings.TrimPrefix(srv.URL(), "http://"))
			require.NoError(t, err)
			t.Cleanup(func() { _ = c.Close() })
			return c
		}
		silent, late := dial(), dial()
		synctest.Wait()
		start := time.Now()
		done := make(chan error)
		go func() { done <- srv.Shutdown() }()

		time.Sleep(50 * time.Millisecond)
		_, err := late.Write([]byte("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"))
		require.NoError(t, err)
		response, err := io.ReadAll(late)
		require.NoError(t, err)
		require.Contains(t, string(response), "HTTP/1.1 200 OK")
		require.NoError(t, <-done)
		require.Equal(t, 100*time.Millisecond, time.Since(start))
		_, err = silent.Read(make([]byte, 1))
		require.Error(t, err)
	})
}

// So it is with TLS, where a new connection may not even have begun the handshake.
func TestShutdownWithNewTLSConnection(t *testing.T) {
	shutdown := func() time.Duration {
		srv := fakeapi.Start(t, fakeapi.WithTLS())
		c, err := net.Dial("tcp", strings.TrimPrefix(srv.URL(), "https://"))
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		code, _, _ := send(t, srv, "GET", "/livez", "", nil) // the connection before it has been accepted
		require.Equal(t, http.StatusOK, code)
		start := time.Now()
		require.NoError(t, srv.Shutdown())
		return time.Since(start)
	}
	// Each shutdown that waits for the connection takes five seconds. On a busy machine, one may take
	// as long that does not.
	fastest := shutdown()
	for range 4 {
		if fastest < 4*time.Second {
			break
		}
		fastest = min(fastest, shutdown())
	}
	require.Less(t, fastest, 4*time.Second)
}
