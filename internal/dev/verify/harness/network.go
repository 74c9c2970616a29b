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
	conns        map[net.Conn]bool
	dial         func(ctx context.Context, network, address string) (net.Conn, error)
}

// NewNetwork makes the clients of a configuration dial through a new Network.
func NewNetwork(c *rest.Config) *Network {
	w := &Network{dial: c.Dial, conns: map[net.Conn]bool{}}
	if w.dial == nil {
		w.dial = (&net.Dialer{}).DialContext
	}
	c.Dial = w.connect
	return w
}

func (w *Network) connect(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	disconnected := w.disconnected
	w.mu.Unlock()
	if disconnected {
		return nil, errors.New("the network is disconnected")
	}
	c, err := w.dial(ctx, network, address)
	if err == nil {
		w.mu.Lock()
		w.conns[c] = true
		w.mu.Unlock()
	}
	return c, err
}

// Disconnect closes the open connections and makes dialing fail.
func (w *Network) Disconnect() { w.closeConnections(true) }

// BreakConnections closes the open connections. New ones can be dialed.
func (w *Network) BreakConnections() { w.closeConnections(false) }

func (w *Network) closeConnections(disconnect bool) {
	w.mu.Lock()
	w.disconnected = disconnect
	conns := w.conns
	w.conns = map[net.Conn]bool{}
	w.mu.Unlock()
	for c := range conns {
		_ = c.Close()
	}
}

// Connections returns the number of connections that were dialed and not closed by the Network.
func (w *Network) Connections() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.conns)
}

// Restore makes dialing possible again after Disconnect.
func (w *Network) Restore() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.disconnected = false
}
