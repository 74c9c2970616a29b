package memnet

import (
	"context"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDialAndAccept(t *testing.T) {
	l := NewListener()
	accepted := make(chan net.Conn)
	go func() {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- c
	}()
	client, err := l.DialContext(t.Context(), "tcp", "anything:80")
	require.NoError(t, err)
	server := <-accepted
	go func() { _, _ = client.Write([]byte("hello")) }()
	buffer := make([]byte, 5)
	_, err = server.Read(buffer)
	require.NoError(t, err)
	require.Equal(t, "hello", string(buffer))
}

func TestClose(t *testing.T) {
	l := NewListener()
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	_, err := l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = l.DialContext(t.Context(), "", "")
	require.ErrorIs(t, err, net.ErrClosed)
}

func TestDialCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := NewListener().DialContext(ctx, "", "")
	require.ErrorIs(t, err, context.Canceled)
}

// Connections fail as sockets do.
func TestFailures(t *testing.T) {
	l := NewListener()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- c
	}()
	client, err := l.DialContext(t.Context(), "", "")
	require.NoError(t, err)
	require.NoError(t, (<-accepted).Close())
	_, err = client.Write([]byte("x"))
	require.ErrorIs(t, err, syscall.EPIPE)
	_, err = client.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, client.Close())
	_, err = client.Read(make([]byte, 1))
	require.ErrorIs(t, err, net.ErrClosed)
}
