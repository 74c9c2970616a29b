// Package line is the network between one client and the server, as something
// that a test can cut and mend.
package dialer

import (
	"context"
	"errors"
	"net"
	"sync"

	"k8s.io/client-go/rest"
)

// errDisconnected is what a client gets that dials while the line is cut.
var errDisconnected = errors.New("the line is cut")

// Dialer is a client's network. Make one with Through; it may be cut and mended
// from any goroutine.
type Dialer struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu    sync.Mutex // never held while a connection is used
	cut   bool
	tries int // dials refused
	conns map[*conn]bool
}

// Wrap makes config reach its server over a new line, in working order. It
// works for every kind of server: what config.Dial was goes on to do the dialling.
func Wrap(config *rest.Config) *Dialer {
	l := &Dialer{dial: config.Dial, conns: make(map[*conn]bool)}
	if l.dial == nil {
		l.dial = new(net.Dialer).DialContext
	}
	config.Dial = l.connect
	return l
}

// Cut breaks all connections and refuses new ones until Mend.
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

// Restore lets the client connect again.
func (l *Dialer) Restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
}

// RefusedDials counts the dials that were refused so far: how often the client has
// tried in vain.
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
	c := &conn{Conn: raw, line: l}
	if !l.add(c) {
		_ = raw.Close()
		return nil, errDisconnected
	}
	return c, nil
}

// isConnected counts a dial as refused if the line is cut.
func (l *Dialer) isConnected() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		l.tries++
	}
	return !l.cut
}

// add refuses a connection that was dialled just before the cut.
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

// conn leaves its line when the client closes it.
type conn struct {
	net.Conn
	line *Dialer
}

func (c *conn) Close() error {
	c.line.mu.Lock()
	delete(c.line.conns, c)
	c.line.mu.Unlock()
	return c.Conn.Close()
}
