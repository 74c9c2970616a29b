package subprocess

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestMain lets the test binary be a program that runs a command, and the supervisor.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "supervise":
			os.Exit(Supervise(os.Args[2:]))
		case "run":
			c := commandOf(os.Args[3:]...)
			c.RemoveAll, c.Stdin, c.Stdout, c.Stderr = os.Args[2], os.Stdin, os.Stdout, os.Stderr
			status, err := c.Run(context.Background())
			if err != nil {
				fmt.Println(err)
			}
			os.Exit(status)
		}
	}
	os.Exit(m.Run())
}

func commandOf(args ...string) *Command {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return &Command{Args: args, Supervisor: []string{exe, "supervise"}}
}

// program is a process that runs a command.
type program struct {
	*exec.Cmd
	lines *bufio.Scanner
}

// startProgram starts a program, and waits until its command prints "ready".
func startProgram(t *testing.T, removeAll, script string) *program {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	p := &program{Cmd: exec.Command(exe, "run", removeAll, "sh", "-c", script)}
	stdout, err := p.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	p.lines = bufio.NewScanner(stdout)
	require.Equal(t, "ready", p.next(t))
	return p
}

func (p *program) next(t *testing.T) string {
	t.Helper()
	require.True(t, p.lines.Scan(), p.lines.Err())
	return p.lines.Text()
}

// nextID reads the id of a process.
func (p *program) nextID(t *testing.T) int {
	t.Helper()
	id, err := strconv.Atoi(strings.TrimSpace(p.next(t)))
	require.NoError(t, err)
	return id
}

func (p *program) wait() int {
	_ = p.Wait() // the exit status is returned
	return p.ProcessState.ExitCode()
}

// newOutput returns a file to which a command writes itself. What has to be copied is lost if the
// machine is busy for waitDelay at the end of the command.
func newOutput(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "output"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

func contentOf(t *testing.T, f *os.File) string {
	t.Helper()
	content, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	return string(content)
}

// requireGone waits until a process has ended.
func requireGone(t *testing.T, id int) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, runs := parentOf(id)
		return !runs
	}, time.Minute, time.Millisecond)
}

// The exit status is that of the command, or of a shell for a command that does not start.
func TestStatus(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), mode))
		return path
	}
	for _, test := range []struct {
		args   []string
		status int
		err    string
	}{
		{[]string{"true"}, 0, ""},
		{[]string{"sh", "-c", "exit 3"}, 3, ""},
		{[]string{"sh", "-c", "kill -9 $$"}, 137, ""},
		{[]string{"sh", "-c", "kill -TERM $$"}, 143, ""},
		{[]string{file("script", "#!/bin/sh\nexit 4\n", 0o700)}, 4, ""},
		{[]string{"no-such-command"}, 127, "no-such-command: command not found"},
		{[]string{dir + "/missing"}, 127, "missing: no such file or directory"},
		{[]string{file("data", "x", 0o600)}, 126, "data: permission denied"},
		{[]string{dir}, 126, ": is a directory"},
	} {
		for _, c := range []*Command{commandOf(test.args...), {Args: test.args}} {
			status, err := c.Run(t.Context())
			require.Equal(t, test.status, status, "%v: %v", test.args, err)
			if test.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.err)
			}
		}
	}
	for path, status := range map[string]int{file("text", "exit 0\n", 0o700): 126, file("interpreter", "#!/no/such/interpreter\n", 0o700): 127} {
		c, stderr := commandOf(path), newOutput(t)
		c.Stderr = stderr
		got, err := c.Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, status, got)
		require.Contains(t, contentOf(t, stderr), "fakeapi: "+path+": ")
	}
}

// The command has the streams, the environment and the arguments.
func TestStreams(t *testing.T) {
	stdout, stderr := newOutput(t), newOutput(t)
	c := commandOf("sh", "-c", `read line; echo "$line $A $1"; echo "$0" >&2`, "zero", "a b")
	c.Env, c.Stdin, c.Stdout, c.Stderr = []string{"A=1", "PATH=" + os.Getenv("PATH")}, strings.NewReader("input\n"), stdout, stderr
	status, err := c.Run(t.Context())
	require.NoError(t, err)
	require.Zero(t, status)
	require.Equal(t, "input 1 a b\n", contentOf(t, stdout))
	require.Equal(t, "zero\n", contentOf(t, stderr))
}

// The end of the context terminates the command.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	c := commandOf("sh", "-c", "trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done")
	c.Stdout = write
	go func() {
		_, _ = bufio.NewReader(read).ReadString('\n')
		cancel()
	}()
	status, err := c.Run(ctx)
	require.NoError(t, err)
	require.Equal(t, 5, status)
	_, err = c.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// Signals reach the command once. The program ends after it, with its status.
func TestSignals(t *testing.T) {
	p := startProgram(t, "", `for s in HUP USR1 USR2 INT QUIT; do trap "echo $s" $s; done; trap 'echo TERM; exit 6' TERM
		echo ready; while :; do sleep 0.01; done`)
	for name, signal := range map[string]os.Signal{
		"HUP": syscall.SIGHUP, "USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2, "INT": syscall.SIGINT, "QUIT": syscall.SIGQUIT,
	} {
		require.NoError(t, p.Process.Signal(signal))
		require.Equal(t, name, p.next(t))
	}
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Equal(t, "TERM", p.next(t))
	require.False(t, p.lines.Scan())
	require.Equal(t, 6, p.wait())
}

// A signal of the terminal reaches the command once: the terminal sends it to all processes.
func TestTerminalSignals(t *testing.T) {
	master, slave := openTerminal(t)
	exe, err := os.Executable()
	require.NoError(t, err)
	program := exec.Command(exe, "run", "", "sh", "-c", "trap 'echo INT' INT; trap 'echo TERM; exit 7' TERM; echo ready; while :; do sleep 0.01; done")
	stdout, err := program.StdoutPipe()
	require.NoError(t, err)
	program.Stdin, program.SysProcAttr = slave, &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, program.Start())
	defer func() { _ = program.Process.Kill() }()
	lines := bufio.NewScanner(stdout)
	for _, step := range []struct {
		line string
		then func() error
	}{
		{"ready", func() error { _, err := master.Write([]byte{3}); return err }},
		{"INT", func() error { return program.Process.Signal(syscall.SIGTERM) }},
		{"TERM", func() error { return nil }},
	} {
		require.True(t, lines.Scan(), lines.Err())
		require.Equal(t, step.line, lines.Text())
		require.NoError(t, step.then())
	}
	_ = program.Wait() // the exit status is checked
	require.Equal(t, 7, program.ProcessState.ExitCode())
}

func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = master.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = slave.Close() })
	return master, slave
}

// family is a script that prints the ids of itself and of processes that it starts: a child, one in
// another session, and one whose parent has ended.
const family = `echo ready; echo $$; sleep 1000 & echo $!; setsid sleep 1000 & echo $!; sh -c 'sleep 1000 & echo $!'; echo $PPID; `

// When the program is killed, nothing that the command started is left, and the directory is
// removed.
func TestProgramKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "temporary")
	require.NoError(t, os.MkdirAll(dir+"/more", 0o700))
	p := startProgram(t, dir, family+"wait")
	ids := []int{p.nextID(t), p.nextID(t), p.nextID(t), p.nextID(t), p.nextID(t)}
	for _, id := range ids {
		_, runs := parentOf(id)
		require.True(t, runs)
	}
	require.NoError(t, p.Process.Kill())
	for _, id := range ids {
		requireGone(t, id)
	}
	require.NoDirExists(t, dir)
	p.wait()
}

// When the supervisor is killed, the program ends what the command started.
func TestSupervisorKilled(t *testing.T) {
	p := startProgram(t, "", family+"wait")
	ids := []int{p.nextID(t), p.nextID(t), p.nextID(t), p.nextID(t)}
	supervisor := p.nextID(t)
	require.NotEqual(t, p.Process.Pid, supervisor)
	require.NoError(t, syscall.Kill(supervisor, syscall.SIGKILL))
	require.Equal(t, 137, p.wait())
	for _, id := range ids {
		requireGone(t, id)
	}
}

// What the command leaves in the background at its regular end continues to run.
func TestBackground(t *testing.T) {
	p := startProgram(t, "", "echo ready; sleep 1000 >/dev/null 2>&1 & echo $!")
	id := p.nextID(t)
	defer func() { _ = syscall.Kill(id, syscall.SIGKILL) }()
	require.Equal(t, 0, p.wait())
	_, runs := parentOf(id)
	require.True(t, runs)
}

// A supervisor that is called with other arguments starts nothing.
func TestSuperviseUsage(t *testing.T) {
	require.Equal(t, NotExecutable, Supervise([]string{"", "sh"}))
}
