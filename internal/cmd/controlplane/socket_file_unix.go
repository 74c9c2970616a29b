//go:build unix && !linux

package controlplane

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// newSocket listens on a socket in a new directory that only the user may enter. The function that
// is returned removes it.
func newSocket() (*net.UnixListener, func() error, error) {
	dir, err := os.MkdirTemp("", "fakeapi-etcd-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() error { return os.RemoveAll(dir) }
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(dir, "etcd.sock")})
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return l, remove, nil
}

// checkSocketFile returns an error if the directory of a socket is not one of the user that only
// the user may enter.
func checkSocketFile(name string) error {
	info, err := os.Lstat(filepath.Dir(name))
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(owner.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is not a directory that only this user may enter", filepath.Dir(name))
	}
	return nil
}

// peerUID returns the user of this process: the directory of the socket is protected instead.
func peerUID(int) (int, error) { return os.Geteuid(), nil }
