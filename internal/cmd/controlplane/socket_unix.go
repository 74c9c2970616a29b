//go:build unix

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// Listener accepts connections of kube-apiserver processes of the same user.
type Listener struct {
	socket *net.UnixListener
	remove func() error
}

// Listen listens on a new socket.
func Listen() (*Listener, error) {
	socket, remove, err := newSocket()
	if err != nil {
		return nil, fmt.Errorf("listening for kube-apiserver: %w", err)
	}
	return &Listener{socket, remove}, nil
}

// Address returns the name of the socket.
func (l *Listener) Address() string { return l.socket.Addr().String() }

// Close stops listening and removes the socket.
func (l *Listener) Close() error { return errors.Join(l.socket.Close(), l.remove()) }

// Accept returns the next connection of a process of this user. It returns net.ErrClosed after
// Close.
func (l *Listener) Accept() (*Conn, error) {
	for {
		socket, err := l.socket.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return nil, net.ErrClosed
		}
		if err != nil { // too many open files, or a connection that has been aborted
			time.Sleep(acceptRetryInterval)
			continue
		}
		if checkPeer(socket) == nil {
			return newConn(socket), nil
		}
		_ = socket.Close() // a process of another user
	}
}

// acceptRetryInterval is how long Accept waits after an error, as net/http does.
const acceptRetryInterval = 5 * time.Millisecond

// Dial connects to the socket of an etcd process of this user.
func Dial(ctx context.Context, name string) (*Conn, error) {
	if err := checkSocketFile(name); err != nil {
		return nil, err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", name)
	if err != nil {
		return nil, err
	}
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%s is not a Unix socket", name), conn.Close())
	}
	if err := checkPeer(socket); err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	return newConn(socket), nil
}

// checkPeer returns an error if the process at the other end is not one of this user.
func checkPeer(socket *net.UnixConn) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var uid int
	var uidErr error
	if err := raw.Control(func(descriptor uintptr) { uid, uidErr = peerUID(int(descriptor)) }); err != nil {
		return err
	}
	if uidErr != nil {
		return uidErr
	}
	if uid != os.Geteuid() {
		return fmt.Errorf("the etcd process is one of the user %d, not of %d", uid, os.Geteuid())
	}
	return nil
}
