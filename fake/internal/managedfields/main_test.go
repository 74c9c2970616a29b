package managedfields

import (
	"os"
	"runtime/debug"
	"testing"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // the heap is small, and its collections take a quarter of the time
	os.Exit(m.Run())
}
