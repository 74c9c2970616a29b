//go:build unix

package controlplane

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// role is the environment variable that makes the test binary one of the processes of a test.
const role = "CONTROLPLANE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "child": // waits for the end of its parent
		parent := os.Getppid()
		if os.Getenv("CONTROLPLANE_TEST_DELAY") != "" {
			fmt.Println("started")
			for os.Getppid() == parent { // until the parent has ended
				runtime.Gosched()
			}
		}
		ended := ParentEnded()
		fmt.Println("watching")
		<-ended
		fmt.Println("ended")
	case "parent": // starts a child that shares stdout, and waits for a signal
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), role+"=child")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := child.Start(); err != nil {
			panic(err)
		}
		_ = child.Wait() // with the signal
	}
}

// startParent starts a process with a child that watches it, and returns the lines that the child
// prints. The process leads a session, so that the child sees a parent of another session once it
// has ended, whatever the session of the process is that adopts it.
func startParent(t *testing.T, env ...string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	parent := exec.Command(os.Args[0])
	parent.Env = append(append(os.Environ(), role+"=parent"), env...)
	parent.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	r, w, err := os.Pipe()
	require.NoError(t, err)
	parent.Stdout, parent.Stderr = w, os.Stderr
	require.NoError(t, parent.Start())
	require.NoError(t, w.Close())
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return parent, bufio.NewReader(r)
}

func requireLine(t *testing.T, lines *bufio.Reader, want string) {
	t.Helper()
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, want, strings.TrimSpace(line))
}

// A process sees the end of its parent, also after SIGKILL, and also if it was before the watch.
func TestParentEnded(t *testing.T) {
	for name, first := range map[string]string{"": "watching", "1": "started"} {
		parent, lines := startParent(t, "CONTROLPLANE_TEST_DELAY="+name)
		requireLine(t, lines, first)
		require.NoError(t, parent.Process.Kill())
		require.Error(t, parent.Wait())
		if name != "" {
			requireLine(t, lines, "watching")
		}
		requireLine(t, lines, "ended")
		_, err := lines.ReadString('\n')
		require.ErrorIs(t, err, io.EOF)
	}
}

// The watch does not end before the parent.
func TestParentRunning(t *testing.T) {
	require.False(t, isReparented(os.Getppid()))
	select {
	case <-ParentEnded():
		t.Fatal("the parent has not ended")
	default:
	}
}
