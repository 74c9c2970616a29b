package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"example.com/fakeapi/internal/printable"
)

// Exit statuses.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2 // also: the comparison could not be made
)

// command is a subcommand.
type command struct {
	name string
	// arguments has a line for each form of the command, for help.
	arguments string
	// summary is the command's line in the list of commands.
	summary string
	// run runs the command. It returns early, without an error, when ctx ends, unless it waits for
	// another command.
	run func(ctx context.Context, c *call) error
}

// commandList returns the commands in the order of help. The first is the default. A new command is
// a file of its own and a line here.
func commandList() []command {
	return []command{
		{"serve", serveArguments, "serve an API until interrupted (the default)", serve},
		{"exec", execArguments, "run a command with a server, and end the server with it", execCommand},
		{"stress", stressArguments, "run a command, such as go test, once with each ready-made set of faults", stressCommand},
		{"perturb", perturbArguments, "find bugs of a controller: run it and a workload again and again, with one disturbance each", perturbCommand},
		{"proxy", proxyArguments, "put fault rules in front of a real cluster until interrupted", proxy},
		{"access", accessArguments, "print which permissions clients of a running server needed, or compare them with manifests", accessCommand},
		{"run", runArguments, "run scenarios and print their results", runScenarios},
		{"conformance", conformanceArguments, "check whether a server behaves as a Kubernetes API server does", conformanceCommand},
		{"compare", compareArguments, "send the same requests to two servers and print the differences", compareCommand},
		{"envtest-assets", assetsArguments, "make a folder for KUBEBUILDER_ASSETS: this program as kube-apiserver, etcd and kubectl", envtestAssets},
		{"bench", benchArguments, "measure a server: latencies, rates, memory", bench},
		{"version", "", "print the version, and that of the API server it behaves as", printVersion},
	}
}

// forms returns the forms of the command for help.
func (c command) forms() (forms []string) {
	for form := range strings.SplitSeq(c.arguments, "\n") {
		forms = append(forms, strings.TrimSpace("fakeapi "+c.name+" "+form))
	}
	return forms
}

// call is a call of a command: its arguments and outputs.
type call struct {
	command command
	args    []string
	// stdout and stderr receive text. What servers and files contain is not written as it is:
	// control characters are escaped.
	stdout io.Writer
	stderr io.Writer // progress and errors
	// raw is stdout for reports in other formats. raw and rawErr are the streams of other commands.
	raw, rawErr io.Writer
}

// usageError is an invalid command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// errUndecided is an error of a command whose exit status 1 is a result.
type errUndecided struct{ error }

func (e errUndecided) Unwrap() error { return e.error }

// errReported is a failure that has been printed.
var errReported = errors.New("reported")

// run runs the program and returns the exit status. It returns when ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	rawErr := stderr
	stderr = printable.NewWriter(stderr)
	err := dispatch(ctx, &call{args: args, stdout: printable.NewWriter(stdout), stderr: stderr, raw: stdout, rawErr: rawErr})
	exit, isExit := errors.AsType[errExit](err)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, errReported):
		return exitError
	case isExit && exit.error == nil:
		return exit.status
	}
	_, _ = fmt.Fprintln(stderr, errorLine(err))
	if isExit {
		return exit.status
	}
	if errors.As(err, new(usageError)) || errors.As(err, new(errUndecided)) {
		return exitUsage
	}
	return exitError
}

// dispatch finds the command in the arguments of c and runs it.
func dispatch(ctx context.Context, c *call) error {
	all, args := commandList(), c.args
	c.command = all[0]
	if len(args) == 0 {
		return c.command.run(ctx, c)
	}
	name := args[0]
	switch name {
	case superviseName:
		return supervise(args[1:])
	case "help", "-h", "-help", "--help":
		return help(ctx, c, args[1:])
	}
	if strings.HasPrefix(name, "-") {
		return c.command.run(ctx, c)
	}
	c.args = args[1:]
	for _, c.command = range all {
		if c.command.name == name {
			return c.command.run(ctx, c)
		}
	}
	known := []string{"help"}
	for _, one := range all {
		known = append(known, one.name)
	}
	return usageError{fmt.Errorf("unknown command %q%s; see fakeapi help", name, suggest(name, known, strings.Clone))}
}

// prefix is the beginning of error messages. Errors of package fakeapi begin with it as well.
const prefix = "fakeapi: "

// errorLine returns an error as one line.
func errorLine(err error) string {
	text := strings.TrimPrefix(err.Error(), prefix)
	return prefix + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
