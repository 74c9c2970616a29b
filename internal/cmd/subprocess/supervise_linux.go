package subprocess

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// command returns the supervisor of the command, or without one the command itself. release frees
// what it needs while it runs.
func (c *Command) command(path string) (command *exec.Cmd, release func(), err error) {
	if len(c.Supervisor) == 0 {
		return &exec.Cmd{Path: path, Args: c.Args}, func() {}, nil
	}
	// The processes that a killed supervisor leaves become children of this process.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	args := slices.Concat(c.Supervisor, []string{c.RemoveAll, path}, c.Args)
	command = &exec.Cmd{Path: c.Supervisor[0], Args: args, ExtraFiles: []*os.File{read}}
	return command, func() { _ = errors.Join(read.Close(), write.Close()) }, nil // nothing is written
}

// afterEnd ends what a supervisor could not end, because it was killed.
func (c *Command) afterEnd(state *os.ProcessState) {
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() && len(c.Supervisor) > 0 {
		killDescendants()
	}
}

// parentPipe is the descriptor of the supervisor whose other end is closed when the program has
// ended.
const parentPipe = 3

// Supervise is the main function of the supervisor. args are the directory to remove, the path of
// the command's program, and the command's arguments with its name. It returns the exit status of
// the process.
func Supervise(args []string) (status int) {
	if len(args) < 3 {
		_, _ = fmt.Fprintln(os.Stderr, "fakeapi: a supervisor is started by other commands only")
		return NotExecutable
	}
	removeAll, path, args := args[0], args[1], args[2:]
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, forwarded()...)
	unix.CloseOnExec(parentPipe)

	// The kernel sends Pdeathsig when the thread ends that started the process. This one lasts until
	// the supervisor ends.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "fakeapi: %v\n", err)
		return NotExecutable
	}
	id, err := syscall.ForkExec(path, args, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "fakeapi: %v\n", lookError(args[0], err))
		return lookStatus(err)
	}
	go forwardTo(id, signals)
	go killWithParent(removeAll)
	status = reap(id)
	if hasParentEnded() {
		select {} // killWithParent ends the process
	}
	return status
}

// hasParentEnded reports whether the program that started the supervisor has ended.
func hasParentEnded() bool {
	poll := []unix.PollFd{{Fd: parentPipe}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n > 0 && poll[0].Revents&unix.POLLHUP != 0
}

// forwardTo forwards signals to a process.
func forwardTo(id int, signals <-chan os.Signal) {
	process, err := os.FindProcess(id)
	if err != nil {
		return
	}
	for s := range signals {
		forward(process, s)
	}
}

// killWithParent waits for the end of the program that started the supervisor. It then ends all
// processes below the supervisor, and the supervisor.
func killWithParent(removeAll string) {
	_, _ = io.Copy(io.Discard, os.NewFile(parentPipe, "parent")) // returns when the other end is closed
	killDescendants()
	if removeAll != "" {
		_ = os.RemoveAll(removeAll) // nothing reads an error
	}
	os.Exit(Signaled + int(syscall.SIGKILL))
}

// killDescendants kills all processes below this one, also those that start meanwhile.
func killDescendants() {
	for {
		below := descendants(os.Getpid())
		if len(below) == 0 {
			return
		}
		for _, id := range below {
			_ = syscall.Kill(id, syscall.SIGKILL) // it may have ended
		}
		time.Sleep(time.Millisecond) // killing takes some time
	}
}

// reap waits for a child and returns its exit status. The supervisor is also the parent of
// processes whose parents have ended, and releases them when they end.
func reap(child int) int {
	for {
		var status syscall.WaitStatus
		id, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR) || err == nil && id != child:
		case err != nil:
			return NotExecutable
		case status.Signaled():
			return Signaled + int(status.Signal())
		default:
			return status.ExitStatus()
		}
	}
}

// descendants returns the ids of the processes below a process that have not ended.
func descendants(of int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, entry := range entries {
		if id, err := strconv.Atoi(entry.Name()); err == nil {
			if parent, ok := parentOf(id); ok {
				children[parent] = append(children[parent], id)
			}
		}
	}
	var all []int
	for next := children[of]; len(next) > 0; next = next[1:] {
		all = append(all, next[0])
		next = append(next, children[next[0]]...)
	}
	return all
}

// parentOf returns the id of the parent of a process that has not ended.
func parentOf(id int) (parent int, ok bool) {
	content, err := os.ReadFile("/proc/" + strconv.Itoa(id) + "/stat")
	if err != nil {
		return 0, false
	}
	// The name of the program is in parentheses, and may contain any characters.
	fields := strings.Fields(string(content[strings.LastIndexByte(string(content), ')')+1:]))
	if len(fields) < 2 || fields[0] == "Z" {
		return 0, false
	}
	parent, err = strconv.Atoi(fields[1])
	return parent, err == nil
}
