//go:build !unix

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"

	"example.com/fakeapi/internal/cmd/subprocess"
)

// assetsSupported reports whether the processes of a control plane run on this system.
const assetsSupported = false

// runKubectl runs kubectl and returns its exit status. If there is none, it prints what to do.
func runKubectl(args []string, stderr io.Writer) int {
	path, err := findKubectl(os.Getenv("PATH"))
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "kubectl: %v\n", err)
		return subprocess.NotFound
	}
	command := exec.Command(path, args...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := command.Run(); command.ProcessState == nil {
		_, _ = fmt.Fprintf(stderr, "kubectl: %v\n", err)
		return subprocess.NotFound
	}
	return command.ProcessState.ExitCode()
}
