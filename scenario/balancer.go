package scenario

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// balancer is the network as one client sees it: a load balancer that leads all of
// its connections to one server.
type balancer struct {
	mu     sync.Mutex // guards all below
	target *apiServer
	conns  map[*balancedConn]struct{}
}

// balancedConn is a connection that a balancer has made and may cut.
type balancedConn struct {
	net.Conn
	balancer *balancer
}

func newBalancer(to *apiServer) *balancer {
	return &balancer{target: to, conns: map[*balancedConn]struct{}{}}
}

// current is the server that new connections lead to.
func (b *balancer) current() *apiServer {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.target
}

// label names the server that requests go to, as the transcript does.
func (b *balancer) label() string { return b.current().label() }

// dial connects to the server of now.
func (b *balancer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	to := b.current()
	dial := to.server.RESTConfig().Dial
	if dial == nil { // on a real network, where only the first server can be
		dial = new(net.Dialer).DialContext
	}
	c, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	tracked := &balancedConn{Conn: c, balancer: b}
	if !b.track(tracked, to) {
		_ = c.Close() // it has led nowhere yet
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNRESET}
	}
	return tracked, nil
}

// track notes a connection, unless it should lead elsewhere by now.
func (b *balancer) track(c *balancedConn, to *apiServer) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.target != to {
		return false
	}
	b.conns[c] = struct{}{}
	return true
}

// switchTo has new connections go to a server, and cuts those that there are.
func (b *balancer) switchTo(to *apiServer) {
	b.mu.Lock()
	b.target = to
	cut := b.conns
	b.conns = map[*balancedConn]struct{}{}
	b.mu.Unlock()
	for c := range cut {
		_ = c.Conn.Close() // one that is closed already says so
	}
}

// closeConns closes the connections that there are.
func (b *balancer) closeConns() { b.switchTo(b.current()) }

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
