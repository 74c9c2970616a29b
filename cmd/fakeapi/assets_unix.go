//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"example.com/fakeapi/internal/cmd/subprocess"
)

// assetsSupported reports whether the processes of a control plane run on this system.
const assetsSupported = true

// runKubectl replaces the process with kubectl. If there is none, it prints what to do, and returns
// the exit status of a shell for a command that is not found.
func runKubectl(args []string, stderr io.Writer) int {
	path, err := findKubectl(os.Getenv("PATH"))
	if err == nil {
		err = syscall.Exec(path, append([]string{path}, args...), os.Environ())
	}
	_, _ = fmt.Fprintf(stderr, "kubectl: %v\n", err)
	return subprocess.NotFound
}
