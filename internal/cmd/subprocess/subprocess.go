// Package subprocess runs a command for a program that lasts as long as the command does, as
// env and timeout do: signals reach the command, the exit status is the command's, and the command
// does not outlive the program.
//
// # Signals
//
// SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are forwarded to the command. The terminal sends SIGINT and
// SIGQUIT to all processes in the foreground, also to the command. They are forwarded if this
// process is not in the foreground of its terminal, or has none. A program that runs a command is
// not ended by these signals: it ends after the command.
//
// # The end of the program
//
// On Linux the command is started by a second process of the program, the supervisor. When the
// program ends in any way, such as by SIGKILL, the supervisor kills the command and all processes
// that the command started, also those whose own parents have ended, and removes the directory
// Command.RemoveAll. When the supervisor is killed, the kernel kills the command, and the program
// the rest. After a regular end of the command, processes that it left in the background continue
// to run.
//
// On other systems there is no supervisor, and the command continues to run if the program is ended
// by SIGKILL.
package subprocess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// Exit statuses of commands that do not start, as those of shells.
const (
	NotExecutable = 126
	NotFound      = 127
	// Signaled is added to the number of the signal that ended a command.
	Signaled = 128
)

// Command is a command to run.
type Command struct {
	// Args are the name or path of the program, and its arguments.
	Args []string
	// Env is the environment; nil for that of this process.
	Env []string
	// Stdin, Stdout and Stderr are as those of exec.Cmd.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Supervisor is the command line that calls Supervise with the arguments after these. The first
	// is the path of a program. It is only used on Linux.
	Supervisor []string
	// Kill ends the command by SIGKILL when the context of Run ends, instead of by SIGTERM.
	Kill bool
	// RemoveAll is a directory that is removed if this process is killed; "" for none.
	RemoveAll string
}

// waitDelay is how long the output of processes is copied that continue to run after the command.
const waitDelay = 2 * time.Second

// Run runs the command to its end and returns its exit status, which is Signaled and the number of
// the signal if a signal ended it. When ctx ends without a signal to this process, the command gets
// SIGTERM. The error is that of a command that could not be started; status is then NotFound or
// NotExecutable.
func (c *Command) Run(ctx context.Context) (status int, err error) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, forwarded()...)
	defer signal.Stop(signals)
	if err := context.Cause(ctx); err != nil { // a signal arrived before this function was called
		return Signaled + int(syscall.SIGTERM), err
	}
	path, err := exec.LookPath(c.Args[0])
	if err != nil {
		return lookStatus(err), lookError(c.Args[0], err)
	}
	command, release, err := c.command(path)
	if err != nil {
		return NotExecutable, err
	}
	defer release()
	command.Env, command.Stdin, command.Stdout, command.Stderr = c.Env, c.Stdin, c.Stdout, c.Stderr
	command.WaitDelay = waitDelay
	if err := command.Start(); err != nil {
		return lookStatus(err), lookError(c.Args[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	done := ctx.Done()
	for {
		select {
		case s := <-signals:
			forward(command.Process, s)
		case <-done:
			done = nil
			if errors.Is(context.Cause(ctx), context.Canceled) { // else it is a signal, and forwarded as such
				var end os.Signal = terminate
				if c.Kill {
					end = os.Kill
				}
				_ = command.Process.Signal(end) // it may have ended
			}
		case err := <-ended:
			if command.ProcessState == nil {
				return NotExecutable, err
			}
			c.afterEnd(command.ProcessState)
			return exitStatus(command.ProcessState), nil
		}
	}
}

// lookStatus returns the exit status for a program that cannot be found or executed.
func lookStatus(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return NotFound
	}
	return NotExecutable
}

// lookError returns the reason for which a program cannot be executed.
func lookError(name string, err error) error {
	var inner error
	if e, ok := errors.AsType[*exec.Error](err); ok {
		inner = e.Err
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		inner = e.Err
	}
	switch {
	case inner == nil:
		inner = err
	case errors.Is(inner, exec.ErrNotFound):
		inner = errors.New("command not found")
	}
	return fmt.Errorf("%s: %w", name, inner)
}

// exitStatus returns the exit status of a process as a shell does.
func exitStatus(state *os.ProcessState) int {
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return Signaled + int(s.Signal())
	}
	return state.ExitCode()
}
