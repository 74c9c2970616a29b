//go:build !linux

package subprocess

import (
	"os"
	"os/exec"
)

// command returns the command itself.
func (c *Command) command(path string) (command *exec.Cmd, release func(), err error) {
	return &exec.Cmd{Path: path, Args: c.Args}, func() {}, nil
}

// afterEnd does nothing.
func (c *Command) afterEnd(*os.ProcessState) {}

// Supervise is not used on this system.
func Supervise([]string) (status int) { return NotExecutable }
