package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// result is the output and the exit status of a finished command.
type result struct {
	status         int
	stdout, stderr string
}

func runCommand(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr outputBuffer // a process that the command runs writes to them, too
	status := run(t.Context(), args, &stdout, &stderr)
	return result{status, stdout.String(), stderr.String()}
}

func TestUsage(t *testing.T) {
	for _, test := range []struct {
		args string
		want string
	}{
		{"sreve", `fakeapi: unknown command "sreve" (did you mean serve?); see fakeapi help`},
		{"help sreve", `fakeapi: unknown command "sreve" (did you mean serve?); see fakeapi help`},
		{"help serve version", "fakeapi: help takes the name of one command"},
		{"--adress x", "fakeapi: serve: unknown flag --adress (did you mean --address?); see fakeapi help serve"},
		{"serve --adress x", "fakeapi: serve: unknown flag --adress (did you mean --address?); see fakeapi help serve"},
		{"serve --address", "fakeapi: serve: flag needs an argument: -address; see fakeapi help serve"},
		{"serve more", `fakeapi: serve: unexpected argument "more"; see fakeapi help serve`},
		{"--address 127.0.0.1:0 serve", `fakeapi: serve: unexpected argument "serve"; see fakeapi help serve`},
		{"version --short", "fakeapi: version: unknown flag --short; see fakeapi help version"},
		{"--controllers=some", `fakeapi: serve: invalid boolean value "some" for -controllers: parse error; see fakeapi help serve`},
	} {
		t.Run(test.args, func(t *testing.T) {
			got := runCommand(t, strings.Fields(test.args)...)
			require.Equal(t, result{status: exitUsage, stderr: test.want + "\n"}, got)
		})
	}
}

func TestHelpListsEveryCommand(t *testing.T) {
	for _, flag := range []string{"help", "--help", "-help", "-h"} {
		got := runCommand(t, flag)
		require.Equal(t, exitOK, got.status)
		require.Empty(t, got.stderr)
		for _, c := range commandList() {
			require.Contains(t, got.stdout, "fakeapi "+c.name)
			require.Contains(t, got.stdout, c.summary)
		}
	}
}

func TestHelpOfACommand(t *testing.T) {
	for _, c := range commandList() {
		t.Run(c.name, func(t *testing.T) {
			got := runCommand(t, "help", c.name)
			require.Equal(t, exitOK, got.status)
			require.Empty(t, got.stderr)
			require.True(t, strings.HasPrefix(got.stdout, "fakeapi "+c.name), got.stdout)
			require.Equal(t, got, runCommand(t, c.name, "--help"))
		})
	}
}

func TestVersion(t *testing.T) {
	got := runCommand(t, "version")
	require.Equal(t, exitOK, got.status)
	require.Empty(t, got.stderr)
	require.Regexp(t, `^fakeapi \S+ \(go\S+, \w+/\w+\), as Kubernetes v1\.\d+\.\d+\n$`, got.stdout)
}

func TestErrorsAreOneLine(t *testing.T) {
	err := errors.Join(errors.New("fakeapi: first"), errors.New("second"))
	require.Equal(t, "fakeapi: first; second", errorLine(err))
}
