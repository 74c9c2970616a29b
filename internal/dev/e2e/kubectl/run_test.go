package kubectl_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// user runs kubectl with a kubeconfig for one server.
type user struct {
	t    *testing.T
	srv  *fakeapi.Server
	home string
	env  []string // added to the environment of kubectl
}

// newUser starts a server and makes the test parallel.
func newUser(t *testing.T, opts ...fakeapi.Option) *user {
	t.Helper()
	t.Parallel()
	u := &user{t: t, srv: fakeapi.Start(t, opts...), home: t.TempDir()}
	config, err := u.srv.Kubeconfig()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(u.home, "kubeconfig"), config, 0o600))
	return u
}

// result is the output of a command and its exit code.
type result struct {
	out, err string
	code     int
}

// command returns a kubectl command whose home directory is in a temporary directory and which
// inherits no environment, so that no cache or setting of the machine is used.
func (u *user) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append([]string{"HOME=" + u.home, "TMPDIR=" + u.home, "KUBECONFIG=" + filepath.Join(u.home, "kubeconfig")}, u.env...)
	return cmd
}

// try runs kubectl and returns the result of success or failure. It may be called from any
// goroutine.
func (u *user) try(args ...string) result { return u.tryWith("", args...) }

// tryWith is like try with a standard input. The exit code is -1 if kubectl could not be run.
func (u *user) tryWith(stdin string, args ...string) result {
	return u.run(u.t.Context(), stdin, args...)
}

// waitFor is like try for a cleanup, where the context of the test is canceled.
func (u *user) waitFor(args ...string) result {
	return u.run(context.WithoutCancel(u.t.Context()), "", args...)
}

func (u *user) run(ctx context.Context, stdin string, args ...string) result {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := u.command(ctx, args...)
	var out, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return result{out: out.String(), err: err.Error(), code: -1}
	}
	return result{out: out.String(), err: stderr.String(), code: cmd.ProcessState.ExitCode()}
}

// do runs a command and returns its standard output. The test fails if the command fails or writes
// to standard error.
func (u *user) do(args ...string) string { u.t.Helper(); return u.doWith("", args...) }

// doWith is like do with a standard input.
func (u *user) doWith(stdin string, args ...string) string {
	u.t.Helper()
	r := u.tryWith(stdin, args...)
	require.Equal(u.t, result{out: r.out}, r, "kubectl %v", args)
	return r.out
}

// doRefused runs a command and returns its standard error. The test fails unless the exit code is 1
// and standard output is empty.
func (u *user) doRefused(args ...string) string { u.t.Helper(); return u.doRefusedWith("", args...) }

// doRefusedWith is like doRefused with a standard input.
func (u *user) doRefusedWith(stdin string, args ...string) string {
	u.t.Helper()
	r := u.tryWith(stdin, args...)
	require.Equal(u.t, result{err: r.err, code: 1}, r, "kubectl %v", args)
	return r.err
}

// columns returns the first n words of each line of a table, without the padding and the columns
// that change with time, such as AGE.
func columns(text string, n int) [][]string {
	var rows [][]string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		rows = append(rows, words[:min(n, len(words))])
	}
	return rows
}

// collapseSpaces replaces each sequence of spaces with one space and removes indentation.
func collapseSpaces(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

// lines joins lines and ends each with a newline.
func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }
