package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Memory that the heap gets later has huge pages, if the kernel has them.
func TestHeapHasHugePages(t *testing.T) {
	useHugePages()
	smaps, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	advised := 0 // bytes
	var from, to int
	for line := range strings.Lines(string(smaps)) {
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			continue
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags: "); ok && strings.Contains(flags, "hg ") {
			advised += to - from
		}
	}
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		require.Zero(t, advised)
	} else {
		require.GreaterOrEqual(t, advised, hugePagesSize-2*os.Getpagesize())
	}
}
