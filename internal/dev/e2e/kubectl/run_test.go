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

// user is somebody with a kubeconfig for a server of their own.
type user struct {
	t    *testing.T
	srv  *fakeapi.Server
	home string
	env  []string // for kubectl, besides what it always has
}

// newUser starts a server. The test may run beside others.
func newUser(t *testing.T, opts ...fakeapi.Option) *user {
	t.Helper()
	t.Parallel()
	u := &user{t: t, srv: fakeapi.Start(t, opts...), home: t.TempDir()}
	config, err := u.srv.Kubeconfig()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(u.home, "kubeconfig"), config, 0o600))
	return u
}

// result is what a user sees of a command.
type result struct {
	out, err string
	code     int
}

// command prepares kubectl; it has a minute, and nothing of the environment but
// a home folder of its own, so that no cache or setting comes from elsewhere.
func (u *user) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append([]string{"HOME=" + u.home, "TMPDIR=" + u.home, "KUBECONFIG=" + filepath.Join(u.home, "kubeconfig")}, u.env...)
	return cmd
}

// try runs kubectl, whatever comes of it. It may be called from any goroutine.
func (u *user) try(args ...string) result { return u.tryWith("", args...) }

// tryWith is try with a standard input. A kubectl that does not end by itself
// has the code -1.
func (u *user) tryWith(stdin string, args ...string) result {
	return u.run(u.t.Context(), stdin, args...)
}

// waitFor is try in a cleanup.
func (u *user) waitFor(args ...string) result {
	return u.run(context.WithoutCancel(u.t.Context()), "", args...)
}

func (u *user) run(ctx context.Context, stdin string, args ...string) result {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := u.command(ctx, args...)
	var out, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &complaint
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return result{out: out.String(), err: err.Error(), code: -1}
	}
	return result{out: out.String(), err: complaint.String(), code: cmd.ProcessState.ExitCode()}
}

// do runs a command that succeeds without a complaint, and gives what it prints.
func (u *user) do(args ...string) string { u.t.Helper(); return u.doWith("", args...) }

// doWith is do with a standard input.
func (u *user) doWith(stdin string, args ...string) string {
	u.t.Helper()
	r := u.tryWith(stdin, args...)
	require.Equal(u.t, result{out: r.out}, r, "kubectl %v", args)
	return r.out
}

// doRefused runs a command that fails as commands do, and gives its complaint.
func (u *user) doRefused(args ...string) string { u.t.Helper(); return u.doRefusedWith("", args...) }

// doRefusedWith is refused with a standard input.
func (u *user) doRefusedWith(stdin string, args ...string) string {
	u.t.Helper()
	r := u.tryWith(stdin, args...)
	require.Equal(u.t, result{err: r.err, code: 1}, r, "kubectl %v", args)
	return r.err
}

// columns gives the first n words of each line that kubectl prints: a table
// without its padding and without what changes with time, such as AGE.
func columns(text string, n int) [][]string {
	var rows [][]string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		rows = append(rows, words[:min(n, len(words))])
	}
	return rows
}

// collapseSpaces makes one blank of each run of them and drops those that indent.
func collapseSpaces(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

// lines joins lines that kubectl prints.
func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }
