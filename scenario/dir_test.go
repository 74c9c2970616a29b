package scenario

import (
	"os"
	"testing"
)

// TestFiles runs the stories without a client under test; those with one are the
// catalogue.
func TestFiles(t *testing.T) {
	RunDir(t, os.DirFS("testdata"), Config{})
}
