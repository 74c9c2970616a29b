package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

// webhookNetwork is a network in memory between a fake and webhooks, for testing/synctest bubbles.
// Its addresses are ports of 127.0.0.1, and other ports refuse connections.
type webhookNetwork struct {
	mu        sync.Mutex // guards listeners
	listeners []*pipeListener
}

// firstPort is the port of the first listener. The next ones follow.
const firstPort = 20001

// listen opens a listener.
func (n *webhookNetwork) listen() (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := &pipeListener{
		address: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: firstPort + len(n.listeners)}, conns: make(chan net.Conn), closed: make(chan struct{}),
	}
	n.listeners = append(n.listeners, l)
	return l, nil
}

// dial connects to a listener.
func (n *webhookNetwork) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if l := n.listener(address); l != nil {
		toServer, ofClient := net.Pipe()
		toClient, ofServer := net.Pipe()
		select {
		case l.conns <- newBufferedConn(ofClient, toClient):
			return newBufferedConn(ofServer, toServer), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.closed:
		}
	}
	to, err := net.ResolveTCPAddr(network, address)
	if err != nil {
		return nil, err
	}
	return nil, &net.OpError{Op: "dial", Net: network, Addr: to, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

// listener returns the listener at an address, or nil.
func (n *webhookNetwork) listener(address string) *pipeListener {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.listeners {
		if l.address.String() == address {
			return l
		}
	}
	return nil
}

// pipeListener is a listener whose connections are pipes.
type pipeListener struct {
	address net.Addr
	conns   chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

// Accept implements net.Listener.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *pipeListener) Addr() net.Addr { return l.address }

// bufferedConn is an end of a connection whose writes do not wait for the reader, as those to a
// socket. TLS depends on it: a client that refuses a certificate writes before it has read
// everything. Reads use the embedded connection.
type bufferedConn struct {
	net.Conn
	writes chan []byte

	mu     sync.Mutex // guards closed
	closed bool
}

// newBufferedConn returns a connection that reads from one pipe and writes to another one.
func newBufferedConn(from, to net.Conn) *bufferedConn {
	b := &bufferedConn{Conn: from, writes: make(chan []byte, 1000)}
	go func() {
		defer func() { _ = to.Close() }()
		for data := range b.writes {
			if _, err := to.Write(data); err != nil { // the other end is closed
				break
			}
		}
	}()
	return b
}

// Write implements net.Conn.
func (b *bufferedConn) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, net.ErrClosed
	}
	select {
	case b.writes <- bytes.Clone(data):
		return len(data), nil
	default:
		return 0, errors.New("the reader is too slow")
	}
}

// SetDeadline implements net.Conn. Writes do not wait.
func (b *bufferedConn) SetDeadline(t time.Time) error { return b.SetReadDeadline(t) }

// SetWriteDeadline implements net.Conn.
func (b *bufferedConn) SetWriteDeadline(time.Time) error { return nil }

// Close implements net.Conn. The other end still reads what was written before.
func (b *bufferedConn) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	close(b.writes)
	return b.Conn.Close()
}

// configInMemory starts a fake without sockets, for a testing/synctest bubble, and returns a
// configuration for it. It calls the webhook of the suite in memory, too.
func configInMemory(t *testing.T, options ...fakeapi.Option) conformance.Config {
	config, _ := configWithNetwork(t, options...)
	return config
}

// configWithNetwork is like configInMemory, and also returns the network of the webhooks.
func configWithNetwork(t *testing.T, options ...fakeapi.Option) (conformance.Config, *webhookNetwork) {
	network := &webhookNetwork{}
	srv := fakeapi.Start(t, append([]fakeapi.Option{fakeapi.WithInMemoryNetwork(), fakeapi.WithWebhookDialer(network.dial)}, options...)...)
	config := configOf(srv)
	config.ListenWebhook = network.listen
	return config, network
}
