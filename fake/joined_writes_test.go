package fakeapi_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
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
// another, also if a middleware wraps the writer.
func TestJoinedWrites(t *testing.T) {
	l := &countingListener{Listener: newListener(t, ownLoopback())}
	var flusher, hijacker bool
	srv := fakeapi.Start(t, fakeapi.WithListener(l), fakeapi.WithMiddleware(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, flusher = w.(http.Flusher)
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
