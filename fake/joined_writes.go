package fakeapi

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
)

// tcpConn is what net/http and the fault rules use of a *net.TCPConn.
type tcpConn interface {
	net.Conn
	CloseWrite() error
	SetLinger(seconds int) error
}

// joiningConn is a TCP connection that can join several writes into one. Each write is a system
// call, which costs more than all else that the server does for an event of a watch.
type joiningConn struct {
	tcpConn
	joined *bytes.Buffer // writes are appended to it; nil if writes are not joined
}

// joinWrites adds the joining of writes to a TCP connection.
func joinWrites(c net.Conn) net.Conn {
	if tcp, ok := c.(tcpConn); ok {
		return &joiningConn{tcpConn: tcp}
	}
	return c
}

// Write implements net.Conn.
func (c *joiningConn) Write(p []byte) (int, error) {
	if c.joined != nil {
		return c.joined.Write(p)
	}
	return c.tcpConn.Write(p)
}

// joiningConnKey is the key of the *joiningConn in the context of a request.
type joiningConnKey struct{}

// withJoiningConn adds the connection to the context of its requests. It is the ConnContext of the
// http.Server. Writes of TLS are not joined: they are not those of one request.
func withJoiningConn(ctx context.Context, c net.Conn) context.Context {
	if joining, ok := c.(*joiningConn); ok {
		return context.WithValue(ctx, joiningConnKey{}, joining)
	}
	return ctx
}

// withJoinedWrites joins what net/http writes to the connection for a large write of a watch: 4 KiB
// that begin with the size of the chunk, the rest, and the line break after the chunk.
func withJoinedWrites(next http.Handler) http.Handler {
	buffers := &sync.Pool{New: func() any { return new(bytes.Buffer) }}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.RawQuery, "watch") {
			if c, ok := r.Context().Value(joiningConnKey{}).(*joiningConn); ok {
				w = &joiningWriter{w, c, buffers}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// joiningWriter is the http.ResponseWriter of a watch.
type joiningWriter struct {
	http.ResponseWriter
	conn    *joiningConn
	buffers *sync.Pool // of *bytes.Buffer
}

// Smaller writes are one write to the connection anyway. Copying larger ones costs more than a few
// system calls.
const (
	minJoined = 3 << 10
	maxJoined = 256 << 10
)

// Write implements io.Writer.
func (w *joiningWriter) Write(p []byte) (int, error) {
	if len(p) < minJoined || len(p) > maxJoined {
		return w.ResponseWriter.Write(p)
	}
	joined := w.buffers.Get().(*bytes.Buffer)
	defer w.buffers.Put(joined)
	joined.Reset()
	w.conn.joined = joined
	n, err := w.ResponseWriter.Write(p)
	if err == nil {
		err = w.FlushError()
	}
	w.conn.joined = nil
	if err == nil {
		_, err = w.conn.Write(joined.Bytes())
	}
	return n, err
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w *joiningWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher.
func (w *joiningWriter) Flush() { _ = w.FlushError() }

// FlushError is Flush for http.ResponseController.
func (w *joiningWriter) FlushError() error {
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack implements http.Hijacker.
func (w *joiningWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w.ResponseWriter).Hijack()
}
