// Package kubectl_test runs kubectl as a process against the server. The tests pass a kubeconfig,
// manifests and flags, and check standard output, standard error and the exit code.
package kubectl_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	_ "example.com/fakeapi/internal/dev/e2e/internal/kubectl" // go test repeats the tests if it has changed
)

// folder is a directory that is removed after the tests, and binary the path to which TestMain
// copies kubectl.
var (
	folder = filepath.Join(os.TempDir(), fmt.Sprintf("fakeapi-e2e-%d", os.Getpid()))
	binary = filepath.Join(folder, "kubectl")
)

func TestMain(m *testing.M) {
	if tool := os.Getenv(toolVariable); tool != "" {
		os.Exit(runTool(tool, os.Args[1:]))
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	if err := os.Mkdir(folder, 0o700); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	if err := writeFiles(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// "go run" keeps the linked program in the build cache, "go build" does not. With -exec cp, "go
	// run" copies the program instead of running it.
	build := exec.Command("go", "run", "-exec", "cp",
		"-ldflags", "-s -w -X k8s.io/component-base/version.gitVersion=v1.37.2",
		"../cmd/kubectl", binary)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building kubectl: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
