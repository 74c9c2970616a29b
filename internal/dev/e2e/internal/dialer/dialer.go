// Package dialer provides a dialer for one client of the server that a test can disconnect and
// restore.
package dialer

import (
	"context"
	"errors"
	"net"
	"sync"

	"k8s.io/client-go/rest"
)

// errDisconnected is the error of a dial while the client is disconnected.
var errDisconnected = errors.New("the client is disconnected")

// Dialer dials the connections of one client. Make one with Wrap. Its methods may be called from
// any goroutine.
type Dialer struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu    sync.Mutex // never held while a connection is used
	cut   bool
	tries int // refused dials
	conns map[*conn]bool
}

// Wrap sets config.Dial to a new, connected Dialer, which dials with the previous config.Dial or
// with net.Dialer.
func Wrap(config *rest.Config) *Dialer {
	l := &Dialer{dial: config.Dial, conns: make(map[*conn]bool)}
	if l.dial == nil {
		l.dial = new(net.Dialer).DialContext
	}
	config.Dial = l.connect
	return l
}

// Cut closes all connections and refuses new ones until Restore.
func (l *Dialer) Cut() {
	l.mu.Lock()
	l.cut = true
	broken := l.conns
	l.conns = make(map[*conn]bool)
	l.mu.Unlock()
	for c := range broken {
		_ = c.Conn.Close()
	}
}

// Restore allows the client to connect again.
func (l *Dialer) Restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
}

// RefusedDials returns the number of refused dials.
func (l *Dialer) RefusedDials() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tries
}

func (l *Dialer) connect(ctx context.Context, network, address string) (net.Conn, error) {
	if !l.isConnected() {
		return nil, errDisconnected
	}
	raw, err := l.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, dialer: l}
	if !l.add(c) {
		_ = raw.Close()
		return nil, errDisconnected
	}
	return c, nil
}

// isConnected reports whether dials are allowed. If not, it counts a refused dial.
func (l *Dialer) isConnected() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		l.tries++
	}
	return !l.cut
}

// add registers a connection. If Cut was called after the dial started, it counts a refused dial
// and returns false.
func (l *Dialer) add(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		l.tries++
		return false
	}
	l.conns[c] = true
	return true
}

// conn is a connection that is removed from its Dialer when it is closed.
type conn struct {
	net.Conn
	dialer *Dialer
}

func (c *conn) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.conns, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}
