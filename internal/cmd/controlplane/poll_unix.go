//go:build unix

package controlplane

import (
	"errors"

	"golang.org/x/sys/unix"
)

// isHungUp reports whether the other end of a socket is closed.
func isHungUp(descriptor int) bool {
	for {
		polled := []unix.PollFd{{Fd: int32(descriptor)}} // POLLHUP and POLLERR are always reported
		n, err := unix.Poll(polled, 0)
		if !errors.Is(err, unix.EINTR) {
			return err != nil || n > 0
		}
	}
}
