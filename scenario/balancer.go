package scenario

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// balancer emulates a load balancer in front of one client. It connects the client to one server at
// a time.
type balancer struct {
	mu     sync.Mutex // guards all below
	target *apiServer
	// refusing is true after the client has crashed.
	refusing bool
	conns    map[*balancedConn]struct{}
}

// balancedConn is a connection made by a balancer.
type balancedConn struct {
	net.Conn
	balancer *balancer
}

func newBalancer(to *apiServer) *balancer {
	return &balancer{target: to, conns: map[*balancedConn]struct{}{}}
}

// current returns the server for new connections.
func (b *balancer) current() *apiServer {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.target
}

// label returns the label of the current server in the transcript.
func (b *balancer) label() string { return b.current().label() }

// dial connects to the current server.
func (b *balancer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	to := b.current()
	dial := to.server.RESTConfig().Dial
	if dial == nil { // a real network, which has only the first server
		dial = new(net.Dialer).DialContext
	}
	c, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	tracked := &balancedConn{Conn: c, balancer: b}
	if !b.track(tracked, to) {
		_ = c.Close() // it was never used
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNRESET}
	}
	return tracked, nil
}

// track adds a connection, and reports false if the balancer has switched to another server or
// refuses connections.
func (b *balancer) track(c *balancedConn, to *apiServer) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.target != to || b.refusing {
		return false
	}
	b.conns[c] = struct{}{}
	return true
}

// switchTo directs new connections to a server and closes the existing ones.
func (b *balancer) switchTo(to *apiServer) { b.closeConnsAfter(func() { b.target = to }) }

// refuse closes all connections and refuses new ones.
func (b *balancer) refuse() { b.closeConnsAfter(func() { b.refusing = true }) }

// closeConns closes all connections.
func (b *balancer) closeConns() { b.closeConnsAfter(func() {}) }

// closeConnsAfter makes a change with mu held and closes all connections that were made before it.
func (b *balancer) closeConnsAfter(change func()) {
	b.mu.Lock()
	change()
	conns := b.conns
	b.conns = map[*balancedConn]struct{}{}
	b.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close() // the only error is that it is closed already
	}
}

// Close implements net.Conn.
func (c *balancedConn) Close() error {
	c.balancer.untrack(c)
	return c.Conn.Close()
}

func (b *balancer) untrack(c *balancedConn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.conns, c)
}
