package fakeapi

import (
	"context"
	"net"
	"sync"
	"syscall"

	"example.com/fakeapi/fake/internal/memnet"
)

// entrance is a listener that can be shut and opened again on its address, while the
// http.Server above it goes on accepting.
type entrance struct {
	address net.Addr
	reopen  func() (net.Listener, error)

	mu      sync.Mutex // guards all below
	current net.Listener
	closed  bool          // for good
	moved   chan struct{} // closed when one of the two above has changed
}

// listenOn opens an entrance: in memory, or on a TCP address.
func listenOn(memory bool, address string) (*entrance, error) {
	e := &entrance{moved: make(chan struct{})}
	e.reopen = func() (net.Listener, error) {
		if memory {
			return memnet.NewListener(), nil
		}
		if e.address != nil {
			address = e.address.String() // of the port that was free
		}
		return net.Listen("tcp", address)
	}
	if err := e.open(); err != nil {
		return nil, err
	}
	e.address = e.current.Addr()
	return e, nil
}

// open listens, if nobody does. What was closed stays so.
func (e *entrance) open() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return net.ErrClosed
	case e.current != nil:
		return nil
	}
	l, err := e.reopen()
	if err != nil {
		return err
	}
	e.set(l)
	return nil
}

// set changes the listener. The caller holds the lock.
func (e *entrance) set(l net.Listener) {
	e.current = l
	close(e.moved)
	e.moved = make(chan struct{})
}

// shut has connections refused until the next open.
func (e *entrance) shut() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	old := e.current
	if old == nil {
		return nil
	}
	e.set(nil)
	return old.Close()
}

// look gives the listener of now, nil if there is none, and what tells of another.
func (e *entrance) look() (l net.Listener, moved <-chan struct{}, closed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.current, e.moved, e.closed
}

// Accept implements net.Listener. It waits while the entrance is shut.
func (e *entrance) Accept() (net.Conn, error) {
	for {
		l, moved, closed := e.look()
		switch {
		case closed:
			return nil, &net.OpError{Op: "accept", Net: e.address.Network(), Addr: e.address, Err: net.ErrClosed}
		case l == nil:
			<-moved
			continue
		}
		c, err := l.Accept()
		if err != nil {
			if now, _, _ := e.look(); now != l {
				continue // it was shut
			}
		}
		return c, err
	}
}

// Close implements net.Listener: it is for good.
func (e *entrance) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	err := e.shut()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.set(nil) // also where it was shut before
	return err
}

// Addr implements net.Listener. It stays the same.
func (e *entrance) Addr() net.Addr { return e.address }

// dial connects to an entrance in memory. Shut, it refuses as a socket does.
func (e *entrance) dial(ctx context.Context, network, address string) (net.Conn, error) {
	l, _, _ := e.look()
	if memory, ok := l.(*memnet.Listener); ok {
		return memory.DialContext(ctx, network, address)
	}
	return nil, &net.OpError{Op: "dial", Net: e.address.Network(), Addr: e.address, Err: syscall.ECONNREFUSED}
}
