//go:build !unix

package etcd

import (
	"context"
	"fmt"
	"io"
	"runtime"
)

// Main prints that the process needs a system where processes can pass open files, and returns 1.
func Main(_ context.Context, _ []string, _, stderr io.Writer) int {
	_, _ = fmt.Fprintf(stderr, "etcd of fakeapi does not run on %s, where processes cannot pass open files; use fakeapi serve\n", runtime.GOOS)
	return 1
}
