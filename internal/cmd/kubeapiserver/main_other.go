//go:build !unix

package kubeapiserver

import (
	"context"
	"fmt"
	"os"
	"runtime"
)

// Main prints that the process needs a system where processes can pass open files, and returns 1.
func Main(_ context.Context, _ []string, _, stderr *os.File) int {
	fmt.Fprintf(stderr, "kube-apiserver of fakeapi does not run on %s, where processes cannot pass open files; use fakeapi serve\n", runtime.GOOS)
	return 1
}
