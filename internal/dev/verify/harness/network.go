package harness

import (
	"context"
	"errors"
	"net"
	"sync"

	"k8s.io/client-go/rest"
)

// Network is the network of a client. It can be disconnected, which closes the open connections and
// makes dialing fail until Restore is called.
type Network struct {
	mu           sync.Mutex
	disconnected bool
	refused      int // dials
	conns        map[net.Conn]bool
	dial         func(ctx context.Context, network, address string) (net.Conn, error)
}

// NewNetwork makes the clients of a configuration dial through a new Network.
func NewNetwork(c *rest.Config) *Network {
	n := &Network{dial: c.Dial, conns: map[net.Conn]bool{}}
	if n.dial == nil {
		n.dial = (&net.Dialer{}).DialContext
	}
	c.Dial = n.connect
	return n
}

func (n *Network) connect(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := n.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.disconnected {
		n.refused++
		_ = c.Close()
		return nil, errors.New("the network is disconnected")
	}
	n.conns[c] = true
	return c, nil
}

// Disconnect closes the open connections and makes dialing fail.
func (n *Network) Disconnect() { n.closeConnections(true) }

// BreakConnections closes the open connections. New ones can be dialed.
func (n *Network) BreakConnections() { n.closeConnections(false) }

func (n *Network) closeConnections(disconnect bool) {
	n.mu.Lock()
	n.disconnected = disconnect
	conns := n.conns
	n.conns = map[net.Conn]bool{}
	n.mu.Unlock()
	for c := range conns {
		_ = c.Close()
	}
}

// Connections returns the number of connections that were dialed and not closed by the Network.
func (n *Network) Connections() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.conns)
}

// RefusedDials returns the number of dials that failed because of Disconnect.
func (n *Network) RefusedDials() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.refused
}

// Restore makes dialing possible again after Disconnect.
func (n *Network) Restore() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.disconnected = false
}
