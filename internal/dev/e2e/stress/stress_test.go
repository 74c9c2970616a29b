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

// Each fault of a controller is found by a set, which names its test. The correct controller passes
// with all sets, and all pass without faults.
func TestFaultyControllers(t *testing.T) {
	dir := t.TempDir()
	binary, report := filepath.Join(dir, "fakeapi"), filepath.Join(dir, "report.json")
	build := exec.CommandContext(t.Context(), "go", "run", "-exec", "cp", "./cmd/fakeapi", binary) // copies it from the build cache
	build.Dir = "../../../.."
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)

	args := []string{"stress", "--only", "expiries,conflicts,stale", "--artifacts", filepath.Join(dir, "artifacts"), "--report", "json=" + report, "--", "go", "test", "-vet=off"}
	args = append(args, "./testdata/correct", "./testdata/faulty")
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
	found := map[string]string{}
	for _, run := range result.Runs {
		require.Len(t, run.Packages, 2, run.Set)
		require.Len(t, run.Pages, 4, "a page for each environment")
		for _, p := range run.Packages {
			if p.Status == "failed" {
				require.Equal(t, "faulty", filepath.Base(p.Name), p.Output)
				found[run.Set] = p.Test
			}
		}
	}
	require.Equal(t, map[string]string{"expiries": "TestExpired", "conflicts": "TestConflict", "stale": "TestDuplicate"}, found, "%s", output)
}
