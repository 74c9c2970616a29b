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
	mu   sync.Mutex // guards all below
	to   *door
	open map[*balanced]struct{}
}

// balanced is a connection that a balancer has made and may cut.
type balanced struct {
	net.Conn
	by *balancer
}

func newBalancer(to *door) *balancer {
	return &balancer{to: to, open: map[*balanced]struct{}{}}
}

// now is the server that new connections lead to.
func (b *balancer) now() *door {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.to
}

// where names the server that requests go to, as the transcript does.
func (b *balancer) where() string { return b.now().label() }

// dial connects to the server of now.
func (b *balancer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	to := b.now()
	dial := to.server.RESTConfig().Dial
	if dial == nil { // on a real network, where only the first server can be
		dial = new(net.Dialer).DialContext
	}
	c, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	made := &balanced{Conn: c, by: b}
	if !b.keep(made, to) {
		_ = c.Close() // it has led nowhere yet
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNRESET}
	}
	return made, nil
}

// keep notes a connection, unless it should lead elsewhere by now.
func (b *balancer) keep(c *balanced, to *door) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.to != to {
		return false
	}
	b.open[c] = struct{}{}
	return true
}

// lead has new connections go to a server, and cuts those that there are.
func (b *balancer) lead(to *door) {
	b.mu.Lock()
	b.to = to
	cut := b.open
	b.open = map[*balanced]struct{}{}
	b.mu.Unlock()
	for c := range cut {
		_ = c.Conn.Close() // one that is closed already says so
	}
}

// cut closes the connections that there are.
func (b *balancer) cut() { b.lead(b.now()) }

// Close implements net.Conn.
func (c *balanced) Close() error {
	c.by.forget(c)
	return c.Conn.Close()
}

func (b *balancer) forget(c *balanced) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, c)
}
