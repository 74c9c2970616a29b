// Package memnet is a network in memory: a listener whose connections are
// pipes. It has no file descriptor, so a server on it can live in a
// testing/synctest bubble, where a goroutine that waits for a real socket would
// keep time from passing.
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

// Listener hands the server's ends of pipes to Accept and the clients' ends to
// Dial.
type Listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// NewListener makes a listener. Make it inside the bubble that shall use it.
func NewListener() *Listener {
	return &Listener{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Accept waits for the next connection. After Close it gives net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, &net.OpError{Op: "accept", Net: "memory", Addr: l.Addr(), Err: net.ErrClosed}
	}
}

// Close ends Accept and refuses new connections; those that exist stay open.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr names the network.
func (l *Listener) Addr() net.Addr { return addr{} }

// DialContext connects to the listener. The network and the address are
// ignored; the signature is that of net.Dialer.
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

// conn is one end of a pipe that fails as a socket does, so that clients which
// tell failures apart take it for one: a write to a peer that has gone is a broken
// pipe, and anything on an end that was closed here is net.ErrClosed.
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
