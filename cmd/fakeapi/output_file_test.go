//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

// fifo creates a FIFO in a new directory. At the end of the test, processes that wait for its other
// end go on.
func fifo(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	t.Cleanup(func() {
		if both, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
			_ = both.Close()
		}
	})
	return path
}

// fullDevice returns the path of a device whose writes fail with ENOSPC. Root gets a copy, because
// root could replace the real one.
func fullDevice(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "full")
	if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 7))); err == nil {
		return path
	}
	require.NotZero(t, os.Geteuid(), "root may create devices")
	return "/dev/full"
}

// requireMode requires the type and the mode of a file, without following links.
func requireMode(t *testing.T, want fs.FileMode, path string) {
	t.Helper()
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, want.String(), info.Mode().String(), path)
}

func readReport(t *testing.T, from io.Reader) {
	t.Helper()
	var report conformance.ReportJSON
	require.NoError(t, json.NewDecoder(from).Decode(&report))
	require.Equal(t, 1, report.Passed)
}

// Reports are written to what the name leads to. Links, FIFOs and modes are as before.
func TestReportIntoExistingFiles(t *testing.T) {
	kubeconfig := kubeconfigOf(t, fakeapi.Start(t))
	report := func(path string) {
		t.Helper()
		got := runCommand(t, "conformance", "--kubeconfig", kubeconfig, "--run", "^GT-01/typed$", "-q", "--report", "json="+path)
		require.Equal(t, exitOK, got.status, got.stderr)
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.MkdirAll(at("real/deep"), 0o755))
	require.NoError(t, os.WriteFile(at("real/old"), bytes.Repeat([]byte("old"), 1<<16), 0o600))
	require.NoError(t, os.Chmod(at("real/old"), 0o640))
	require.NoError(t, os.Symlink("real/deep", at("dir")))
	require.NoError(t, os.Symlink("../old", at("real/deep/link")))
	require.NoError(t, os.Symlink("real/new", at("dangling")))

	for link, target := range map[string]string{"dir/link": "real/old", "dangling": "real/new", "plain": "plain"} {
		report(at(link))
		content, err := os.Open(at(target))
		require.NoError(t, err)
		readReport(t, content)
		require.NoError(t, content.Close())
	}
	requireMode(t, 0o777|fs.ModeSymlink, at("real/deep/link"))
	requireMode(t, 0o777|fs.ModeSymlink, at("dangling"))
	requireMode(t, 0o640, at("real/old"))
	created, err := os.Create(at("created")) // has the mode of new files
	require.NoError(t, err)
	info, err := created.Stat()
	require.NoError(t, errors.Join(err, created.Close()))
	requireMode(t, info.Mode(), at("real/new"))

	pipe := fifo(t, "pipe")
	received := make(chan []byte, 1)
	go func() {
		content, _ := os.ReadFile(pipe)
		received <- content
	}()
	report(pipe)
	readReport(t, bytes.NewReader(<-received))
	requireMode(t, 0o600|fs.ModeNamedPipe, pipe)

	for _, name := range []string{"real", "real/deep", "."} {
		entries, err := os.ReadDir(at(name))
		require.NoError(t, err)
		for _, entry := range entries {
			require.NotContains(t, entry.Name(), "fakeapi", "a temporary file is left")
		}
	}
}

// A device is written, and its error is reported. The other reports and the summary are written.
func TestReportIntoADevice(t *testing.T) {
	full, other := fullDevice(t), filepath.Join(t.TempDir(), "other")
	before, err := os.Lstat(full)
	require.NoError(t, err)
	for _, args := range [][]string{
		{"conformance", "--kubeconfig", kubeconfigOf(t, fakeapi.Start(t))},
		{"compare", "--left", "self", "--right", "self"},
	} {
		got := runCommand(t, append(args, "--run", "^GT-01/typed$", "-q", "--report", "markdown="+full, "--report", "json="+other)...)
		require.NotEqual(t, exitOK, got.status)
		require.Equal(t, "fakeapi: --report markdown="+full+": no space left on device\n", got.stderr)
		require.Contains(t, got.stdout, "GROUP")
		after, err := os.Lstat(full)
		require.NoError(t, err)
		require.Equal(t, before.Mode(), after.Mode())
		require.FileExists(t, other)
		require.NoError(t, os.Remove(other))
	}
}

func TestReportRefused(t *testing.T) {
	kubeconfig, dir := kubeconfigOf(t, fakeapi.Start(t)), t.TempDir()
	require.NoError(t, os.Symlink("a", filepath.Join(dir, "b")))
	require.NoError(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	ours, theirs, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _, _ = ours.Close(), theirs.Close() }()
	connection, err := theirs.SyscallConn()
	require.NoError(t, err)
	var number uintptr
	require.NoError(t, connection.Control(func(fd uintptr) { number = fd }))
	opened := "/dev/fd/" + strconv.Itoa(int(number))
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"json=" + dir}, "json=" + dir + ": is a directory"},
		{[]string{"json=" + dir + "/loop"}, "json=" + dir + "/loop: too many levels of symbolic links"},
		{[]string{"json=" + dir + "/a", "html=" + dir + "/b"}, "html=" + dir + "/b: two reports cannot go to one file"},
		{[]string{"json=/dev/fd/999"}, "json=/dev/fd/999: bad file descriptor"},
		{[]string{"json=" + opened}, "json=" + opened + ": it is no descriptor that the process was started with"},
	} {
		args := []string{"conformance", "--kubeconfig", kubeconfig, "-q"}
		for _, one := range test.args {
			args = append(args, "--report", one)
		}
		require.Equal(t, result{status: exitError, stderr: "fakeapi: --report " + test.want + "\n"}, runCommand(t, args...))
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2)
}

// The names of stdout mean stdout.
func TestReportNamesStdout(t *testing.T) {
	kubeconfig := kubeconfigOf(t, fakeapi.Start(t))
	for _, name := range []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"} {
		got := runCommand(t, "conformance", "--kubeconfig", kubeconfig, "--run", "^GT-01/typed$", "-q", "--report", "json="+name)
		require.Equal(t, exitOK, got.status, got.stderr)
		readReport(t, bytes.NewReader([]byte(got.stdout)))
		require.Contains(t, got.stderr, "GROUP")
	}
}

// If the content cannot be written, the file is as before, and nothing else is left.
func TestOutputFileIsAllOrNothing(t *testing.T) {
	path := manifest(t, "file", "before")
	write := func(err error) error {
		f, opened := openOutput(t.Context(), path)
		require.NoError(t, opened)
		return f.write(func(w io.Writer) error {
			_, wrote := io.WriteString(w, "after")
			return errors.Join(wrote, err)
		})
	}
	require.EqualError(t, write(errors.New("half of it")), "half of it")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "before", string(content))
	requireOnly(t, path)
	require.NoError(t, write(nil))
	content, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "after", string(content))
	requireOnly(t, path)
}

// The kubeconfig is written to the target of a link.
func TestKubeconfigOverALink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink("target", link))
	for range 2 { // the target is missing, and then exists
		r := start(t, "--kubeconfig", link)
		requireMode(t, 0o777|fs.ModeSymlink, link)
		requireMode(t, 0o600, filepath.Join(dir, "target"))
		require.Equal(t, r.url, r.config(t).Host)
		require.Equal(t, cleanExit, r.stop())
	}
}

// A command that waits for the other end of a FIFO ends when it is interrupted.
func TestInterruptedAtAFIFO(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	pipe, rules := fifo(t, "pipe"), manifest(t, "rules", "slow: when verb(list) do delay(1ms)\n")
	for _, args := range [][]string{
		{"--faults", pipe}, {"--client-ca", pipe}, {"--scenario", pipe},
		{"proxy", "--faults", pipe, "--kubeconfig", pipe}, {"proxy", "--faults", rules, "--kubeconfig", pipe},
	} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitOK, run(ctx, args, &stdout, &stderr), args)
		require.Empty(t, stdout.String()+stderr.String(), args)
	}
	for _, args := range [][]string{
		{"run", pipe}, {"conformance", "--kubeconfig", pipe}, {"compare", "--left", pipe, "--right", "self"}, {"bench", "--kubeconfig", pipe},
	} {
		var stdout, stderr bytes.Buffer
		require.NotEqual(t, exitOK, run(ctx, args, &stdout, &stderr), args)
		require.Contains(t, stderr.String(), "interrupted", args)
		require.Empty(t, stdout.String(), args)
	}
	_, err := openOutput(ctx, pipe)
	require.ErrorIs(t, err, errInterrupted)
	requireEmptyDir(t, os.Getenv("TMPDIR"))
}
