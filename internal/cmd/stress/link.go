package stress

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed link.sh
var linkScript []byte

// LinkOnce returns a command line of go test with a flag by which the binaries of tests that are
// linked by one run are used by the next ones. They are in folder. It returns args if they or
// GOFLAGS already have a program for -toolexec.
func LinkOnce(args []string, folder string) ([]string, error) {
	flags, err := exec.Command(args[0], "env", "GOFLAGS").Output()
	has := func(arg string) bool { return isFlag(arg, "toolexec") }
	if err != nil || slices.ContainsFunc(strings.Fields(string(flags)), has) || slices.ContainsFunc(args, has) || strings.Contains(folder, "'") {
		return args, nil // what is wrong with the command, its run shows
	}
	path := filepath.Join(folder, "link.sh")
	if err := os.WriteFile(path, linkScript, 0o700); err != nil {
		return nil, err
	}
	return slices.Insert(slices.Clone(args), slices.Index(args, "test")+1, "-toolexec='"+path+"'"), nil
}
