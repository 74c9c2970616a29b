package controlplane

import (
	"crypto/rand"
	"net"

	"golang.org/x/sys/unix"
)

// newSocket listens on an abstract socket, which ends with the process.
func newSocket() (*net.UnixListener, func() error, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: "@fakeapi-etcd-" + rand.Text()})
	return l, func() error { return nil }, err
}

// checkSocketFile does nothing: the peer of an abstract socket is checked by checkPeer.
func checkSocketFile(string) error { return nil }

// peerUID returns the user of the process at the other end of a socket.
func peerUID(descriptor int) (int, error) {
	credentials, err := unix.GetsockoptUcred(descriptor, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(credentials.Uid), nil
}
