//go:build unix

package controlplane

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ParentEnded returns a channel that is closed when the parent of this process has ended, also if
// it ended before the call. It does not depend on the thread of the parent that started the
// process. The one case that it does not see is a parent that ended before the call in a session
// whose leader is init or a subreaper, as in a container that runs a shell as its first process.
func ParentEnded() <-chan struct{} {
	ended := make(chan struct{})
	parent := os.Getppid()
	if isReparented(parent) {
		close(ended)
		return ended
	}
	go func() {
		defer close(ended)
		if awaitProcess(parent) {
			return
		}
		for os.Getppid() == parent {
			time.Sleep(parentPollInterval)
		}
	}()
	return ended
}

// parentPollInterval is the time between two checks where the end of a process cannot be awaited.
const parentPollInterval = 50 * time.Millisecond

// isReparented reports whether the process that started this one has ended, so that the parent is
// init or a subreaper. A process has the session of the process that started it unless it leads its
// own. The parent is 0 if it is outside of the PID namespace.
func isReparented(parent int) bool {
	if parent == 0 {
		return false
	}
	own, err := unix.Getsid(0)
	if err != nil || own == os.Getpid() {
		return false
	}
	session, err := unix.Getsid(parent)
	return err == nil && session != own
}
