package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// The exit statuses.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2 // and what could not be compared
)

// command is a word that can follow "fakeapi".
type command struct {
	name string
	// arguments is what help shows behind the name: a line for each way to call it.
	arguments string
	// summary is one line for the list of commands.
	summary string
	// run does it. It ends early, without an error, when ctx does.
	run func(ctx context.Context, c *call) error
}

// commandList are shown by help in this order, and the first is what runs when none
// is named. A new command is a file of its own and a line here.
func commandList() []command {
	return []command{
		{"serve", serveArguments, "serve an API until interrupted (the default)", serve},
		{"proxy", proxyArguments, "put fault rules in front of a real cluster until interrupted", proxy},
		{"run", runArguments, "play scenarios and tell how they went", runScenarios},
		{"conformance", conformanceArguments, "check whether a server behaves as a Kubernetes API server does", conformanceCommand},
		{"compare", compareArguments, "make the same requests to two servers, and tell what differs", compareCommand},
		{"bench", benchArguments, "measure a server: latencies, rates, memory", bench},
		{"version", "", "print the version, and that of the API server it behaves as", printVersion},
	}
}

// forms are the ways to call the command, as help shows them.
func (c command) forms() (forms []string) {
	for form := range strings.SplitSeq(c.arguments, "\n") {
		forms = append(forms, strings.TrimSpace("fakeapi "+c.name+" "+form))
	}
	return forms
}

// call is one call of a command: what stood behind its name and where to write.
type call struct {
	command command
	args    []string
	stdout  io.Writer
	stderr  io.Writer // for what is told before the command ends
}

// usageError is a command line that was not understood.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// errUndecided is why a command whose status 1 is an answer gave none.
type errUndecided struct{ error }

func (e errUndecided) Unwrap() error { return e.error }

// errReported is a failure that was told already.
var errReported = errors.New("reported")

// run is the whole program but for the process: it returns the exit status. It
// ends when ctx does.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := dispatch(ctx, args, stdout, stderr)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, errReported):
		return exitError
	}
	_, _ = fmt.Fprintln(stderr, errorLine(err))
	if errors.As(err, new(usageError)) || errors.As(err, new(errUndecided)) {
		return exitUsage
	}
	return exitError
}

// dispatch finds the command and runs it.
func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	all := commandList()
	c := &call{command: all[0], args: args, stdout: stdout, stderr: stderr}
	if len(args) == 0 {
		return c.command.run(ctx, c)
	}
	name := args[0]
	switch name {
	case "help", "-h", "-help", "--help":
		return help(ctx, args[1:], stdout, stderr)
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

// prefix says who is speaking. The server begins its errors with it as well.
const prefix = "fakeapi: "

// errorLine is an error as the one line that is printed of it.
func errorLine(err error) string {
	text := strings.TrimPrefix(err.Error(), prefix)
	return prefix + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
