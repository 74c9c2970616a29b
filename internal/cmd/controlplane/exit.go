package controlplane

import (
	"errors"
	"io"
	"net"
)

// Exit is an error in a command line that ends the process: what it writes, and its exit status.
type Exit struct {
	Status         int
	Stdout, Stderr string
	// Err is the error that the process logs, or nil.
	Err error
}

// Failure returns the Exit of a process that logs an error.
func Failure(err error) *Exit { return &Exit{Status: 1, Err: err} }

// Error returns the error without the form in which it is written.
func (e *Exit) Error() string {
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case e.Status == 0:
		return "help or version requested"
	}
	return e.Stderr
}

// Unwrap returns the error that the process logs.
func (e *Exit) Unwrap() error { return e.Err }

// Report writes what a process writes for an error, with the function for those that it logs, and
// returns the exit status. An error that is no Exit is one that the process logs.
func Report(err error, stdout, stderr io.Writer, log func(error)) int {
	e, ok := errors.AsType[*Exit](err)
	if !ok {
		e = Failure(err)
	}
	if e.Err != nil {
		log(e.Err)
	}
	_, _ = io.WriteString(stdout, e.Stdout)
	_, _ = io.WriteString(stderr, e.Stderr)
	return e.Status
}

// IgnoreClosed returns err, or nil if what was closed had been closed before.
func IgnoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
