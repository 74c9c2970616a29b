package fakeapi

import (
	"context"
	"net"
	"sync"
	"syscall"

	"example.com/fakeapi/fake/internal/memnet"
)

// reopenableListener is a listener that can be shut and opened again on its address, while the
// http.Server above it goes on accepting.
type reopenableListener struct {
	address     net.Addr
	newListener func() (net.Listener, error)

	mu      sync.Mutex // guards all below
	current net.Listener
	closed  bool          // for good
	changed chan struct{} // closed when one of the two above has changed
}

// listenOn opens an entrance: in memory, or on a TCP address.
func listenOn(memory bool, address string) (*reopenableListener, error) {
	e := &reopenableListener{changed: make(chan struct{})}
	e.newListener = func() (net.Listener, error) {
		if memory {
			return memnet.NewListener(), nil
		}
		if e.address != nil {
			address = e.address.String() // of the port that was free
		}
		return net.Listen("tcp", address)
	}
	if err := e.reopen(); err != nil {
		return nil, err
	}
	e.address = e.current.Addr()
	return e, nil
}

// reopen listens, if nobody does. What was closed stays so.
func (e *reopenableListener) reopen() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return net.ErrClosed
	case e.current != nil:
		return nil
	}
	l, err := e.newListener()
	if err != nil {
		return err
	}
	e.setCurrent(l)
	return nil
}

// setCurrent changes the listener. The caller holds the lock.
func (e *reopenableListener) setCurrent(l net.Listener) {
	e.current = l
	close(e.changed)
	e.changed = make(chan struct{})
}

// closeCurrent has connections refused until the next open.
func (e *reopenableListener) closeCurrent() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	old := e.current
	if old == nil {
		return nil
	}
	e.setCurrent(nil)
	return old.Close()
}

// state gives the listener of now, nil if there is none, and what tells of another.
func (e *reopenableListener) state() (l net.Listener, changed <-chan struct{}, closed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.current, e.changed, e.closed
}

// Accept implements net.Listener. It waits while the entrance is shut.
func (e *reopenableListener) Accept() (net.Conn, error) {
	for {
		l, changed, closed := e.state()
		switch {
		case closed:
			return nil, &net.OpError{Op: "accept", Net: e.address.Network(), Addr: e.address, Err: net.ErrClosed}
		case l == nil:
			<-changed
			continue
		}
		c, err := l.Accept()
		if err != nil {
			if now, _, _ := e.state(); now != l {
				continue // it was shut
			}
		}
		return c, err
	}
}

// Close implements net.Listener: it is for good.
func (e *reopenableListener) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	err := e.closeCurrent()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.setCurrent(nil) // also where it was shut before
	return err
}

// Addr implements net.Listener. It stays the same.
func (e *reopenableListener) Addr() net.Addr { return e.address }

// dial connects to an entrance in memory. Shut, it refuses as a socket does.
func (e *reopenableListener) dial(ctx context.Context, network, address string) (net.Conn, error) {
	l, _, _ := e.state()
	if inMemory, ok := l.(*memnet.Listener); ok {
		return inMemory.DialContext(ctx, network, address)
	}
	return nil, &net.OpError{Op: "dial", Net: e.address.Network(), Addr: e.address, Err: syscall.ECONNREFUSED}
}
