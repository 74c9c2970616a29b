package fakeapi_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// countingListener counts the writes to its connections.
type countingListener struct {
	net.Listener
	writes atomic.Int64
}

func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countingConn{c.(*net.TCPConn), &l.writes}, nil
}

type countingConn struct {
	*net.TCPConn
	writes *atomic.Int64
}

func (c *countingConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.TCPConn.Write(p)
}

// The header of a watch is one write to the connection, and the events that are sent together are
// another. A middleware gets a writer that has what that of net/http has.
func TestJoinedWrites(t *testing.T) {
	l := &countingListener{Listener: newListener(t, ownLoopback())}
	var flusher, hijacker bool
	srv := fakeapi.Start(t, fakeapi.WithListener(l), fakeapi.WithMiddleware(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, flusher = w.(interface {
				http.Flusher
				FlushError() error
			})
			_, hijacker = w.(http.Hijacker)
			next.ServeHTTP(w, r)
		})
	}))
	maps := srv.URL() + "/api/v1/namespaces/default/configmaps"
	const objects = 20
	for i := range objects {
		body := fmt.Sprintf(`{"metadata": {"name": "c%d"}, "data": {"pad": "%s"}}`, i, strings.Repeat("x", 1000))
		created, err := srv.Client().Post(maps, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, created.StatusCode)
		require.NoError(t, created.Body.Close())
	}
	before := l.writes.Load()
	response, err := srv.Client().Get(maps + "?watch=true&resourceVersion=0")
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	for range objects {
		require.True(t, lines.Scan())
		require.Contains(t, lines.Text(), `{"type":"ADDED"`)
	}
	require.EqualValues(t, 2, l.writes.Load()-before)
	require.True(t, flusher && hijacker)
}

// A fault rule can reset a connection whose writes can be joined.
func TestResetConnection(t *testing.T) {
	srv := fakeapi.Start(t)
	rule, err := faults.Parse("when verb(get) do reset")
	require.NoError(t, err)
	_, err = srv.Faults().Add(rule)
	require.NoError(t, err)
	response, err := srv.Client().Get(srv.URL() + "/api/v1/namespaces/default")
	if err == nil {
		_ = response.Body.Close()
	}
	require.ErrorIs(t, err, syscall.ECONNRESET)
}
