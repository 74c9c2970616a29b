// Package stress runs suites with package envtest by fakeapi stress. Some have a controller with a
// fault, which only some sets of faults find.
package stress

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each fault of a controller is found by its set. The correct controller passes with all sets, and all
// pass without faults.
func TestFaultyControllers(t *testing.T) {
	dir := t.TempDir()
	binary, report := filepath.Join(dir, "fakeapi"), filepath.Join(dir, "report.json")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./cmd/fakeapi")
	build.Dir = "../../../.."
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)

	args := []string{"stress", "--only", "expiries,conflicts,stale", "--artifacts", filepath.Join(dir, "artifacts"), "--report", "json=" + report, "--", "go", "test", "-vet=off"}
	for _, name := range []string{"correct", "conflict", "duplicate", "expired"} {
		args = append(args, "./testdata/"+name)
	}
	stress := exec.CommandContext(t.Context(), binary, args...)
	output, err = stress.CombinedOutput()
	require.Error(t, err, "%s", output)
	require.Equal(t, 1, stress.ProcessState.ExitCode(), "%s", output)

	var result struct {
		Runs []struct {
			Set      string
			Pages    []string
			Packages []struct{ Name, Status, Test, Output string }
		}
	}
	content, err := os.ReadFile(report)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &result))
	found := map[string][]string{}
	for _, run := range result.Runs {
		require.Len(t, run.Packages, 4, run.Set)
		require.Len(t, run.Pages, 4, "a page for each environment")
		for _, p := range run.Packages {
			if p.Status == "failed" {
				require.Equal(t, "TestWidgets", p.Test, p.Output)
				found[filepath.Base(p.Name)] = append(found[filepath.Base(p.Name)], run.Set)
			}
		}
	}
	require.NotContains(t, found, "correct", "%s", output)
	require.Equal(t, []string{"conflicts"}, found["conflict"], "%s", output)
	require.Equal(t, []string{"expiries"}, found["expired"], "%s", output)
	require.Contains(t, found["duplicate"], "stale", "%s", output)
}
