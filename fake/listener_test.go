package fakeapi_test

import (
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

func newListener(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// A server serves on a given listener, closes it, and listens on its address again after a
// shutdown.
func TestWithListener(t *testing.T) {
	l := newListener(t, ownLoopback())
	srv := fakeapi.Start(t, fakeapi.WithListener(l), fakeapi.WithAllowedHosts("api.example.com"))
	require.Equal(t, "http://"+l.Addr().String(), srv.URL())
	get := func(host string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL()+"/version", http.NoBody)
		require.NoError(t, err)
		request.Host = host
		response, err := srv.Client().Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	require.Equal(t, http.StatusOK, get("api.example.com"))
	require.Equal(t, http.StatusForbidden, get("rebound.example.com"))

	require.NoError(t, srv.Shutdown())
	_, err := net.Dial("tcp", l.Addr().String())
	require.Error(t, err)
	require.NoError(t, srv.Restart(0))
	require.Equal(t, http.StatusOK, get(""))

	fork, err := srv.Fork()
	require.NoError(t, err)
	require.NotEqual(t, srv.URL(), fork.URL())
	require.NoError(t, fork.Close())
	replica, err := srv.Replica()
	require.NoError(t, err)
	require.NotEqual(t, srv.URL(), replica.URL())

	require.NoError(t, srv.Close())
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}

func TestInvalidListener(t *testing.T) {
	_, err := fakeapi.New(fakeapi.WithListener(nil))
	require.ErrorContains(t, err, "fakeapi: WithListener needs a listener")
	_, err = fakeapi.New(fakeapi.WithListener(newListener(t, "0.0.0.0:0")))
	require.ErrorContains(t, err, "is not a TCP address of the loopback interface")
	l := newListener(t, "127.0.0.1:0")
	_, err = fakeapi.New(fakeapi.WithListener(l), fakeapi.WithInMemoryNetwork())
	require.ErrorContains(t, err, "fakeapi: WithListener and WithInMemoryNetwork exclude each other")
	_, err = fakeapi.New(fakeapi.WithListener(l), fakeapi.WithYAML("x"))
	require.Error(t, err)
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}
