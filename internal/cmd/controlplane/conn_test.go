//go:build unix

package controlplane

import (
	"bufio"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// connect returns both ends of a connection.
func connect(t *testing.T) (client, server *Conn) {
	t.Helper()
	l, err := Listen()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	client, err = Dial(t.Context(), l.Address())
	require.NoError(t, err)
	server, err = l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = client.Close(), server.Close() })
	return client, server
}

// The files of a connection are open files of the other process: a listener accepts there, and a
// pipe is written to.
func TestFiles(t *testing.T) {
	client, server := connect(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listener, err := l.(*net.TCPListener).File()
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	require.NoError(t, client.SendFiles(listener, w, w))
	require.NoError(t, client.Send(Request{Method: Serve, Arguments: []string{"--a", "b c"}, Directory: "/d", Environment: map[string]string{"A": "1"}}))
	require.NoError(t, CloseAll(listener, w))
	require.NoError(t, l.Close())

	files, err := server.ReceiveFiles()
	require.NoError(t, err)
	require.Len(t, files, 3)
	var request Request
	require.NoError(t, server.Receive(&request))
	require.Equal(t, Request{Method: Serve, Arguments: []string{"--a", "b c"}, Directory: "/d", Environment: map[string]string{"A": "1"}}, request)

	received, err := net.FileListener(files[0])
	require.NoError(t, err)
	conn, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	accepted, err := received.Accept()
	require.NoError(t, err)
	require.Equal(t, conn.LocalAddr(), accepted.RemoteAddr())
	for _, c := range []io.Closer{conn, accepted, received} {
		require.NoError(t, c.Close())
	}

	_, err = io.WriteString(files[1], "line\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(r).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "line\n", line)
	require.NoError(t, CloseAll(files...))
	require.NoError(t, CloseAll(files...), "closed before")
	_, err = r.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "no descriptor is left open")
}

func TestWithoutFiles(t *testing.T) {
	client, server := connect(t)
	require.NoError(t, client.SendFiles())
	require.NoError(t, client.Send(Request{Method: AwaitEnded}))
	files, err := server.ReceiveFiles()
	require.NoError(t, err)
	require.Empty(t, files)
	var request Request
	require.NoError(t, server.Receive(&request))
	require.Equal(t, AwaitEnded, request.Method)

	require.NoError(t, server.Send(Response{Error: "e", Notes: []string{"n"}}))
	var response Response
	require.NoError(t, client.Receive(&response))
	require.Equal(t, Response{Error: "e", Notes: []string{"n"}}, response)
}

// The end of a connection is seen by both methods, also with messages that have not been read.
func TestEnd(t *testing.T) {
	client, server := connect(t)
	require.False(t, server.HasEnded())
	require.NoError(t, client.SendFiles())
	require.NoError(t, client.Send(Request{Method: Serve}))
	require.False(t, server.HasEnded())
	require.NoError(t, server.Send(Response{}))
	require.NoError(t, client.Close())
	require.True(t, server.HasEnded())
	_, err := server.ReceiveFiles()
	require.NoError(t, err)
	var request Request
	require.NoError(t, server.Receive(&request))
	require.ErrorIs(t, server.Receive(&request), io.EOF)

	client, server = connect(t)
	require.NoError(t, client.Close())
	_, err = server.ReceiveFiles()
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, server.Close())
	require.True(t, server.HasEnded())
}

func TestTooManyFiles(t *testing.T) {
	client, server := connect(t)
	file, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	many := make([]*os.File, 16)
	for i := range many {
		many[i] = file
	}
	require.NoError(t, client.SendFiles(many...))
	_, err = server.ReceiveFiles()
	require.EqualError(t, err, "too many files")
}

func TestClosedListener(t *testing.T) {
	l, err := Listen()
	require.NoError(t, err)
	accepted := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		accepted <- err
	}()
	require.NoError(t, l.Close())
	require.ErrorIs(t, <-accepted, net.ErrClosed)
	_, err = Dial(t.Context(), l.Address())
	require.Error(t, err)
	if name := l.Address(); !strings.HasPrefix(name, "@") {
		require.NoFileExists(t, name)
	}
}

func TestLoopbackHost(t *testing.T) {
	for host, want := range map[string]string{
		"127.0.0.1": "127.0.0.1", "127.0.0.2": "127.0.0.2", "::1": "::1", "localhost": "localhost",
		"0.0.0.0": "127.0.0.1", "::": "127.0.0.1", "": "127.0.0.1", "10.0.0.1": "127.0.0.1", "fd00::1": "::1",
	} {
		got, changed := LoopbackHost(host)
		require.Equal(t, want, got, host)
		require.Equal(t, got != host, changed, host)
	}
}

// The log has the format of Kubernetes components.
func TestLogger(t *testing.T) {
	var text strings.Builder
	log := NewLogger(&text)
	log.Info("Serving", "address", "127.0.0.1:1")
	log.Error(io.EOF, "command failed")
	require.Regexp(t, `^I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ conn_test\.go:\d+\] "Serving" address="127\.0\.0\.1:1"\n`+
		`E\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ conn_test\.go:\d+\] "command failed" err="EOF"\n$`, text.String())
}

// The log of requests has the same format.
func TestRequestLogger(t *testing.T) {
	var text strings.Builder
	NewRequestLogger(&text).Debug("request", "code", 200)
	require.Regexp(t, `^I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ conn_test\.go:\d+\] "request" code=200\n$`, text.String())
}
