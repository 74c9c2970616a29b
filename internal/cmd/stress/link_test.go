//go:build unix

package stress

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A test binary is linked by the first run only, until its source changes.
func TestLinkOnce(t *testing.T) {
	module, folder := t.TempDir(), filepath.Join(t.TempDir(), "a folder")
	require.NoError(t, os.Mkdir(folder, 0o700))
	write := func(name, content string) {
		require.NoError(t, os.WriteFile(filepath.Join(module, name), []byte(content), 0o600))
	}
	write("go.mod", "module example.org/m\n\ngo 1.26\n")
	write("a_test.go", "package m\nimport \"testing\"\nfunc TestA(t *testing.T) { t.Log(\"first text\") }\n")
	args, err := LinkOnce([]string{"go", "test", "-v", "-count=1"}, folder)
	require.NoError(t, err)
	require.Len(t, args, 5)
	run := func() string {
		command := exec.CommandContext(t.Context(), args[0], args[1:]...)
		command.Dir = module
		command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s", output)
		return string(output)
	}
	kept := func() []string {
		paths, err := filepath.Glob(filepath.Join(folder, "*"))
		require.NoError(t, err)
		return paths
	}

	require.Contains(t, run(), "first text")
	require.Len(t, kept(), 2, "the program and the test binary")
	// A binary that was changed shows that it is used.
	for _, path := range kept() {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, bytes.ReplaceAll(content, []byte("first text"), []byte("other text")), 0o700))
	}
	require.Contains(t, run(), "other text")
	require.Len(t, kept(), 2)

	write("a_test.go", "package m\nimport \"testing\"\nfunc TestA(t *testing.T) { t.Log(\"third text\") }\n")
	require.Contains(t, run(), "third text")
	require.Len(t, kept(), 3)
}

// A command that has a program for -toolexec keeps it.
func TestLinkOnceWithToolexec(t *testing.T) {
	for flags, args := range map[string][]string{
		"":               {"go", "test", "-toolexec=time", "./..."},
		"-toolexec=time": {"go", "test", "./..."},
	} {
		t.Setenv("GOFLAGS", flags)
		got, err := LinkOnce(args, t.TempDir())
		require.NoError(t, err)
		require.Equal(t, args, got)
	}
}
