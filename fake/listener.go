package fakeapi

import (
	"context"
	"errors"
	"fmt"
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

// WithListener serves on a TCP listener of a loopback address instead of WithAddress. The server
// closes l. After Shutdown, Restart listens on the address of l. Forks and replicas listen on
// addresses of their own. It cannot be combined with WithInMemoryNetwork.
func WithListener(l net.Listener) Option {
	return func(o *options) error {
		if l == nil {
			return errors.New("fakeapi: WithListener needs a listener")
		}
		if address, ok := l.Addr().(*net.TCPAddr); !ok || !address.IP.IsLoopback() {
			return fmt.Errorf("fakeapi: the listener's address %v is not a TCP address of the loopback interface", l.Addr())
		}
		o.listener = l
		return nil
	}
}

// listenOn opens a listener in memory or on a TCP address, or first takes given, which may be nil.
func listenOn(memory bool, address string, given net.Listener) (*reopenableListener, error) {
	r := &reopenableListener{changed: make(chan struct{})}
	r.newListener = func() (net.Listener, error) {
		switch {
		case memory:
			return memnet.NewListener(), nil
		case r.address == nil && given != nil:
			return given, nil
		case r.address != nil:
			address = r.address.String() // with the port that was free
		}
		return net.Listen("tcp", address)
	}
	if err := r.reopen(); err != nil {
		return nil, err
	}
	r.address = r.current.Addr()
	return r, nil
}

// reopen listens unless it already does. After Close it returns net.ErrClosed.
func (r *reopenableListener) reopen() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return net.ErrClosed
	case r.current != nil:
		return nil
	}
	l, err := r.newListener()
	if err != nil {
		return err
	}
	r.setCurrent(l)
	return nil
}

// setCurrent changes the listener. The caller holds mu.
func (r *reopenableListener) setCurrent(l net.Listener) {
	r.current = l
	close(r.changed)
	r.changed = make(chan struct{})
}

// closeCurrent refuses connections until the next reopen.
func (r *reopenableListener) closeCurrent() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.current
	if old == nil {
		return nil
	}
	r.setCurrent(nil)
	return old.Close()
}

// state returns the current listener, or nil, a channel that is closed when the state changes, and
// whether Close was called.
func (r *reopenableListener) state() (l net.Listener, changed <-chan struct{}, closed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current, r.changed, r.closed
}

// Accept implements net.Listener. It waits while there is no current listener.
func (r *reopenableListener) Accept() (net.Conn, error) {
	for {
		l, changed, closed := r.state()
		switch {
		case closed:
			return nil, &net.OpError{Op: "accept", Net: r.address.Network(), Addr: r.address, Err: net.ErrClosed}
		case l == nil:
			<-changed
			continue
		}
		c, err := l.Accept()
		if err == nil {
			return joinWrites(c), nil
		}
		if now, _, _ := r.state(); now == l { // it was not closed
			return nil, err
		}
	}
}

// Close implements net.Listener. The listener cannot be reopened.
func (r *reopenableListener) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	err := r.closeCurrent()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setCurrent(nil) // wakes up Accept also if there was no listener
	return err
}

// Addr implements net.Listener. It does not change.
func (r *reopenableListener) Addr() net.Addr { return r.address }

// dial connects to a listener in memory. Without a current listener it returns ECONNREFUSED.
func (r *reopenableListener) dial(ctx context.Context, network, address string) (net.Conn, error) {
	l, _, _ := r.state()
	if inMemory, ok := l.(*memnet.Listener); ok {
		return inMemory.DialContext(ctx, network, address)
	}
	return nil, &net.OpError{Op: "dial", Net: r.address.Network(), Addr: r.address, Err: syscall.ECONNREFUSED}
}
