// Package memnet is an in-memory network: a listener whose connections are pipes. It uses no file
// descriptors, so a server on it can run in a testing/synctest bubble, where waiting for a real
// socket stops virtual time.
package memnet

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

// Listener is a net.Listener. Each dial creates a pipe and passes one end to Accept.
type Listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// NewListener returns a listener. Create it inside the bubble that uses it.
func NewListener() *Listener {
	return &Listener{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Accept waits for the next connection. After Close it returns net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, &net.OpError{Op: "accept", Net: "memory", Addr: l.Addr(), Err: net.ErrClosed}
	}
}

// Close ends Accept and refuses new connections. Open connections stay open.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr returns the address, which only names the network.
func (l *Listener) Addr() net.Addr { return addr{} }

// DialContext connects to the listener. It ignores the network and the address. Its signature is
// that of net.Dialer.DialContext.
func (l *Listener) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- &conn{Conn: server}:
		return &conn{Conn: client}, nil
	case <-l.done:
		return nil, &net.OpError{Op: "dial", Net: "memory", Addr: l.Addr(), Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// conn is one end of a pipe. Its errors are those of a socket, because clients examine them: a
// write to a closed peer is EPIPE, and any operation on a closed end is net.ErrClosed.
type conn struct {
	net.Conn
	closed atomic.Bool
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, c.translateError("read", err)
}

func (c *conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, c.translateError("write", err)
}

func (c *conn) Close() error {
	c.closed.Store(true)
	return c.Conn.Close()
}

func (c *conn) translateError(op string, err error) error {
	if !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	cause := error(syscall.EPIPE)
	if c.closed.Load() {
		cause = net.ErrClosed
	}
	return &net.OpError{Op: op, Net: "memory", Addr: addr{}, Err: cause}
}

type addr struct{}

func (addr) Network() string { return "memory" }
func (addr) String() string  { return "fakeapi.memory:80" }
