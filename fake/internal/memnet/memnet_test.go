package memnet

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDialAndAccept(t *testing.T) {
	l := Listen()
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
	l := Listen()
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	_, err := l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = l.DialContext(t.Context(), "", "")
	require.ErrorIs(t, err, net.ErrClosed)
}

func TestDialGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Listen().DialContext(ctx, "", "")
	require.ErrorIs(t, err, context.Canceled)
}
