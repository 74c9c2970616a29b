package fakeapi

import (
	"context"
	"net"
	"sync"
	"syscall"

	"example.com/fakeapi/fake/internal/memnet"
)

// reopenableListener is a listener that can be closed and opened again on its address while the
// http.Server continues to accept.
type reopenableListener struct {
	address     net.Addr
	newListener func() (net.Listener, error)

	mu      sync.Mutex // guards the fields below
	current net.Listener
	closed  bool          // permanently, by Close
	changed chan struct{} // closed when current or closed changes
}

// listenOn opens a listener in memory or on a TCP address.
func listenOn(memory bool, address string) (*reopenableListener, error) {
	e := &reopenableListener{changed: make(chan struct{})}
	e.newListener = func() (net.Listener, error) {
		if memory {
			return memnet.NewListener(), nil
		}
		if e.address != nil {
			address = e.address.String() // with the port that was free
		}
		return net.Listen("tcp", address)
	}
	if err := e.reopen(); err != nil {
		return nil, err
	}
	e.address = e.current.Addr()
	return e, nil
}

// reopen listens unless it already does. After Close it returns net.ErrClosed.
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

// setCurrent changes the listener. The caller holds mu.
func (e *reopenableListener) setCurrent(l net.Listener) {
	e.current = l
	close(e.changed)
	e.changed = make(chan struct{})
}

// closeCurrent refuses connections until the next reopen.
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

// state returns the current listener, or nil, a channel that is closed when the state changes, and
// whether Close was called.
func (e *reopenableListener) state() (l net.Listener, changed <-chan struct{}, closed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.current, e.changed, e.closed
}

// Accept implements net.Listener. It waits while there is no current listener.
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
				continue // it was closed
			}
		}
		return c, err
	}
}

// Close implements net.Listener. The listener cannot be reopened.
func (e *reopenableListener) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	err := e.closeCurrent()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.setCurrent(nil) // wakes up Accept also if there was no listener
	return err
}

// Addr implements net.Listener. It does not change.
func (e *reopenableListener) Addr() net.Addr { return e.address }

// dial connects to a listener in memory. Without a current listener it returns ECONNREFUSED.
func (e *reopenableListener) dial(ctx context.Context, network, address string) (net.Conn, error) {
	l, _, _ := e.state()
	if inMemory, ok := l.(*memnet.Listener); ok {
		return inMemory.DialContext(ctx, network, address)
	}
	return nil, &net.OpError{Op: "dial", Net: e.address.Network(), Addr: e.address, Err: syscall.ECONNREFUSED}
}
