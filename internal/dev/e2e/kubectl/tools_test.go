package kubectl_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// kubectl runs an editor and a diff program. So that none has to be installed, kubectl runs this
// test program with this environment variable set. With the value "edit" it replaces EDIT_OLD by
// EDIT_NEW in a file, with "diff" it prints the lines that differ between the files of two
// directories.
const toolVariable = "KUBECTL_TEST_TOOL"

// withTool returns a user for whom kubectl runs this program as the given tool.
func (u *user) withTool(tool, variable string, env ...string) *user {
	self, err := os.Executable()
	require.NoError(u.t, err)
	other := *u
	other.env = append([]string{variable + "=" + self, toolVariable + "=" + tool}, env...)
	return &other
}

// editor returns a user whose editor replaces before with after.
func (u *user) editor(before, after string) *user {
	return u.withTool("edit", "KUBE_EDITOR", "EDIT_OLD="+before, "EDIT_NEW="+after)
}

func (u *user) withDiffTool() *user { return u.withTool("diff", "KUBECTL_EXTERNAL_DIFF") }

func runTool(tool string, args []string) int {
	var differ bool
	err := fmt.Errorf("unknown tool %q with arguments %q", tool, args)
	switch {
	case tool == "edit" && len(args) == 1:
		err = edit(args[0], os.Getenv("EDIT_OLD"), os.Getenv("EDIT_NEW"))
	case tool == "diff" && len(args) == 2:
		differ, err = diff(args[0], args[1])
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 2
	case differ:
		return 1
	}
	return 0
}

func edit(file, before, after string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.ReplaceAll(string(text), before, after)), 0o600)
}

func diff(live, merged string) (differ bool, err error) {
	files, err := os.ReadDir(merged)
	if err != nil {
		return false, err
	}
	for _, f := range files {
		was, err := fileLines(filepath.Join(live, f.Name()))
		if err != nil && !os.IsNotExist(err) {
			return false, err
		}
		is, err := fileLines(filepath.Join(merged, f.Name()))
		if err != nil {
			return false, err
		}
		for _, side := range []struct {
			sign      string
			has, lack []string
		}{{"-", was, is}, {"+", is, was}} {
			for _, line := range side.has {
				if !slices.Contains(side.lack, line) {
					differ = true
					fmt.Println(f.Name(), side.sign, strings.TrimSpace(line))
				}
			}
		}
	}
	return differ, nil
}

func fileLines(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	return strings.Split(string(text), "\n"), err
}
