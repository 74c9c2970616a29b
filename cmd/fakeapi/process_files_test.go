//go:build unix

package main

import (
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	fakeapi "example.com/fakeapi/fake"
)

// reportToDescriptors writes reports to descriptors that a process inherits: a pipe, a socket, and
// a file with content.
func reportToDescriptors(t *testing.T, binary string) {
	kubeconfig := kubeconfigOf(t, fakeapi.Start(t))
	report := func(to *os.File) {
		t.Helper()
		for _, args := range [][]string{{"conformance", "--kubeconfig", kubeconfig}, {"compare", "--left", "self", "--right", "self"}} {
			command := exec.CommandContext(t.Context(), binary, append(args, "--run", "^GT-01/typed$", "-q", "--report", "markdown=/dev/fd/3")...)
			command.ExtraFiles = []*os.File{to}
			out, err := command.CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
	}
	requireReports := func(text []byte) {
		t.Helper()
		require.Regexp(t, `(?s)^# Conformance\n.*\n# Comparison\n.*\| all \| 1 \|`, string(text))
	}

	read, write, err := os.Pipe()
	require.NoError(t, err)
	report(write) // both reports fit into the buffer of the pipe
	require.NoError(t, write.Close())
	text, err := io.ReadAll(read)
	require.NoError(t, err)
	requireReports(text)

	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	connection, err := net.FileConn(ours)
	require.NoError(t, err)
	require.NoError(t, ours.Close())
	report(theirs)
	require.NoError(t, theirs.Close())
	text, err = io.ReadAll(connection)
	require.NoError(t, err)
	require.NoError(t, connection.Close())
	requireReports(text)

	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	_, err = file.WriteString("begin\n")
	require.NoError(t, err)
	report(file)
	require.NoError(t, file.Close())
	text, err = os.ReadFile(file.Name())
	require.NoError(t, err)
	requireReports(bytes.TrimPrefix(text, []byte("begin\n")))

	// A descriptor that can only be read.
	command := exec.CommandContext(t.Context(), binary, "conformance", "--kubeconfig", kubeconfig, "--report", "json=/dev/fd/0")
	out, err := command.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, "fakeapi: --report json=/dev/fd/0: bad file descriptor\n", string(out))
}

// limitFiles limits the size of the files that a process may write to a KiB, like a full disk.
func limitFiles(t *testing.T, binary string) {
	server := fakeapi.Start(t, fakeapi.WithNamespaceDeletionDelay(0))
	kubeconfig := kubeconfigOf(t, server)
	for name, args := range map[string][]string{
		"report":     {"conformance", "--kubeconfig", kubeconfig, "--run", "^GT-01", "-q", "--report", "html=FILE"},
		"compare":    {"compare", "--left", "self", "--right", "self", "--run", "^(GT|LS)-0[12]", "-q", "--report", "json=FILE"},
		"page":       {"run", "-q", "--html", "FOLDER", "FOLDER/file.txtar"},
		"kubeconfig": {"serve", "--tls", "--kubeconfig", "FILE"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			file := filepath.Join(folder, "file.html")
			require.NoError(t, os.WriteFile(file, nil, 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(folder, "file.txtar"), []byte(aScenario), 0o600))
			replace := strings.NewReplacer("FILE", file, "FOLDER", folder)
			line := []string{"-c", `ulimit -f 1; exec "$@"`, "sh", binary}
			for _, one := range args {
				line = append(line, replace.Replace(one))
			}
			command := exec.CommandContext(t.Context(), "sh", line...)
			command.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
			out, err := command.CombinedOutput()
			require.Error(t, err, "%s", out)
			require.Contains(t, string(out), file+": file too large\n")
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Empty(t, content, "the file is as before")
			entries, err := os.ReadDir(folder)
			require.NoError(t, err)
			require.Len(t, entries, 2, "no temporary file is left")
		})
	}
	requireNothingLeft(t, server)
}

// interruptAtFIFO ends a process, by one signal, that has opened a FIFO and waits for its content.
func interruptAtFIFO(t *testing.T, binary string) {
	for _, args := range [][]string{{"serve", "--faults"}, {"serve", "--scenario"}, {"run"}} {
		pipe := fifo(t, "pipe.txtar")
		command := exec.CommandContext(t.Context(), binary, append(args, pipe)...)
		require.NoError(t, command.Start())
		write, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when the command has opened it
		require.NoError(t, err)
		require.NoError(t, command.Process.Signal(syscall.SIGTERM))
		_ = command.Wait() // the exit status is checked below
		require.True(t, command.ProcessState.Exited(), "%v: %v", args, command.ProcessState)
		require.Equal(t, args[0] == "serve", command.ProcessState.Success(), args)
		require.NoError(t, write.Close())
	}
}
