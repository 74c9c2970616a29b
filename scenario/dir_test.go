package scenario

import (
	"os"
	"testing"
)

func TestFiles(t *testing.T) {
	RunDir(t, os.DirFS("testdata"), Config{Clients: clients()})
}
