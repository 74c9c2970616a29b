//go:build unix

package subprocess

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminate is the signal for a command that has to end.
const terminate = syscall.SIGTERM

// forwarded returns the signals that are forwarded.
func forwarded() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}
}

// forward sends a signal to a process, unless it was sent by the terminal, which sent it to that
// process, too.
func forward(to *os.Process, s os.Signal) {
	if isFromTerminal(s) {
		return
	}
	_ = to.Signal(s) // the process may have ended
}

// isFromTerminal reports whether the terminal has probably sent a signal: it is one that keys send,
// and this process is in the foreground of its terminal.
func isFromTerminal(s os.Signal) bool {
	if s != syscall.SIGINT && s != syscall.SIGQUIT {
		return false
	}
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer func() { _ = terminal.Close() }() // it was only asked
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
