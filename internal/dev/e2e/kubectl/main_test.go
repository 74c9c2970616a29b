// Package kubectl_test runs kubectl against the server as its users do: a process
// with a kubeconfig, manifests and flags, of which they see two streams of text
// and an exit code.
package kubectl_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is where TestMain puts kubectl, in a folder that ends with the run.
var binary = filepath.Join(os.TempDir(), fmt.Sprintf("fakeapi-e2e-%d", os.Getpid()), "kubectl")

func TestMain(m *testing.M) {
	if tool := os.Getenv(toolVariable); tool != "" {
		os.Exit(runTool(tool, os.Args[1:]))
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	folder := filepath.Dir(binary)
	if err := os.Mkdir(folder, 0o700); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	// "go run" keeps the linked program in the build cache, which "go build"
	// does not, and hands its path to the program that it is told to run it
	// with: cp, which leaves us a copy.
	build := exec.Command("go", "run", "-exec", "cp",
		"-ldflags", "-s -w -X k8s.io/component-base/version.gitVersion=v1.37.2",
		"../cmd/kubectl", binary)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building kubectl: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
