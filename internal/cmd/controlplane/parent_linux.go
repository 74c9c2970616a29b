package controlplane

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// awaitProcess waits until the parent of this process has ended. It returns false if it cannot.
func awaitProcess(parent int) bool {
	descriptor, err := unix.PidfdOpen(parent, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(descriptor) }()
	if os.Getppid() != parent { // the descriptor may be that of a later process with this number
		return true
	}
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(descriptor), Events: unix.POLLIN}}, -1)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
