package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/cmd/subprocess"
)

const execArguments = serverArguments + " -- COMMAND [ARGUMENT]..."

// exitFailedToRun is the exit status of a command that runs another one, if it fails itself, as
// that of env and timeout.
const exitFailedToRun = 125

// errExit is an exit status with an error that is printed first, unless it is nil.
type errExit struct {
	status int
	error
}

func (e errExit) Unwrap() error { return e.error }

// execCommand runs a command with a server.
func execCommand(ctx context.Context, c *call) error {
	var f serverFlags
	args, err := c.parseCommand(f.define)
	if err != nil {
		return err
	}
	status, err := f.exec(ctx, c, args)
	if errors.Is(err, errInterrupted) {
		err = nil
	}
	if err != nil && !errors.As(err, new(usageError)) && status == 0 {
		status = exitFailedToRun
	}
	if status == 0 {
		return err
	}
	return errExit{status, err}
}

// exec starts a server, runs the command to its end, and closes the server. It returns the exit
// status of the command.
func (f *serverFlags) exec(ctx context.Context, c *call, args []string) (status int, err error) {
	if err := f.prepare(c); err != nil {
		return 0, err
	}
	if f.controlAddress == "" {
		f.controlAddress = "127.0.0.1:0"
	}
	report, err := openAccessReport(ctx, f.accessReport)
	if err != nil {
		return 0, err
	}
	defer report.close()
	opts, err := f.options(ctx, c)
	if err != nil {
		return 0, err
	}
	preload()
	s, err := fakeapi.New(opts...)
	if err != nil {
		return 0, explainLoadError(err)
	}
	status, err = f.execOn(ctx, c, s, args)
	failed := err == nil && status != 0
	return status, errors.Join(err, s.Close(), f.audit.close(), report.write(s.Access()), f.finishPage(c, s, failed), f.environment.FinishAccessReport(s))
}

// execOn runs the command with a running server.
func (f *serverFlags) execOn(ctx context.Context, c *call, s *fakeapi.Server, args []string) (status int, err error) {
	file, err := f.writeCredentials(s)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.close()) }()
	if err := f.environment.Announce(s); err != nil {
		return 0, err
	}
	command := c.subprocess(args, map[string]string{"KUBECONFIG": file.path, "FAKEAPI_URL": s.URL(), "FAKEAPI_CONTROL": s.ControlURL()})
	command.RemoveAll = file.dir
	return command.Run(ctx)
}

// finishPage writes the timeline page to the folder FAKEAPI_ARTIFACTS, or, if there is none and the
// command has failed, to that for temporary files. It prints the path if the command has failed.
func (f *serverFlags) finishPage(c *call, s *fakeapi.Server, failed bool) error {
	if !f.server.timeline {
		return nil
	}
	path, err := f.environment.FinishPage(s)
	if path == "" && err == nil && failed {
		path, err = f.environment.WritePage(s, os.TempDir())
	}
	if err == nil && failed {
		_, err = fmt.Fprintf(c.stderr, "%sthe timeline of %s: %s\n", prefix, s.URL(), path)
	}
	return err
}

// subprocess returns a command with the streams of this one, and with environment variables.
func (c *call) subprocess(args []string, variables map[string]string) *subprocess.Command {
	command := &subprocess.Command{Args: args, Env: os.Environ(), Stdin: os.Stdin, Stdout: c.raw, Stderr: c.rawErr}
	for name, value := range variables {
		command.Env = append(command.Env, name+"="+value)
	}
	if exe, err := os.Executable(); err == nil {
		command.Supervisor = []string{exe, superviseName}
	}
	return command
}

// superviseName is the name of the command that is the supervisor of package subprocess. It is not
// in commandList, because only the program itself calls it.
const superviseName = "supervise"

// supervise is the supervisor of package subprocess.
func supervise(args []string) error {
	if status := subprocess.Supervise(args); status != 0 {
		return errExit{status, nil}
	}
	return nil
}

// parseCommand parses flags up to the first other argument, or up to --, and returns the arguments
// after them, of which there is at least one.
func (c *call) parseCommand(define func(*flag.FlagSet)) ([]string, error) {
	flags := flag.NewFlagSet(c.command.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run prints the error
	define(flags)
	err := flags.Parse(c.args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil, errors.Join(c.usage(flags), err)
	case err != nil:
		return nil, c.usageError(unknownFlag(err, flags))
	case flags.NArg() == 0:
		return nil, c.usageError(errors.New("a COMMAND is required"))
	}
	return flags.Args(), nil
}
