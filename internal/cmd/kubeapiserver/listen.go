//go:build unix

package kubeapiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"example.com/fakeapi/internal/cmd/controlplane"
)

// listen listens on the address of --bind-address and --secure-port, or on the loopback address
// instead.
func (p *process) listen(ctx context.Context) (*net.TCPListener, error) {
	host, changed := controlplane.LoopbackHost(p.flags.BindAddress.String())
	address := net.JoinHostPort(host, strconv.Itoa(p.flags.SecurePort))
	config := net.ListenConfig{Control: p.flags.setSocketOptions}
	l, err := config.Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) && p.awaitEnded(ctx) == nil {
		l, err = config.Listen(ctx, "tcp", address)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to create listener: failed to listen on %s: %w", address, err)
	}
	if changed {
		p.log.Info("Listening on a loopback address only", "bind-address", p.flags.BindAddress.String(), "address", l.Addr().String())
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%s is not a TCP address", address), l.Close())
	}
	return tcp, nil
}

// setSocketOptions sets the socket options of --permit-address-sharing and --permit-port-sharing.
func (f *Flags) setSocketOptions(_, _ string, socket syscall.RawConn) error {
	var options []int
	if f.PermitAddressSharing {
		options = append(options, unix.SO_REUSEADDR)
	}
	if f.PermitPortSharing {
		options = append(options, unix.SO_REUSEPORT)
	}
	var optionErr error
	err := socket.Control(func(descriptor uintptr) {
		for _, option := range options {
			optionErr = errors.Join(optionErr, unix.SetsockoptInt(int(descriptor), unix.SOL_SOCKET, option, 1))
		}
	})
	return errors.Join(err, optionErr)
}

// awaitEnded waits until the etcd process has closed the ports of kube-apiserver processes that
// have been killed.
func (p *process) awaitEnded(ctx context.Context) error {
	conn, err := p.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := errors.Join(conn.SendFiles(), conn.Send(controlplane.Request{Method: controlplane.AwaitEnded})); err != nil {
		return err
	}
	var response controlplane.Response
	return conn.Receive(&response)
}
