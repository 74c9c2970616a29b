package perturb_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/perturb"
)

// A run in which a step of the workload fails because of the perturbation is no finding.
func TestInconclusiveRuns(t *testing.T) {
	config := configOf(giveUp())
	config.Workload = []scenario.Step{scenario.Expect(scenario.Ref{Kind: "configmap", Name: "a"})}
	report := perturb.Run(t, config)
	require.Contains(t, report.Inconclusive,
		"fail 500: create 1 of configmaps in default by c: step 7: expect configmap/a: expected configmap/a; saw none")
	require.Less(t, len(report.Inconclusive), report.Runs)
}

// writerFunc is a writer that calls a function.
type writerFunc func(text string)

func (w writerFunc) Write(p []byte) (int, error) {
	w(string(p))
	return len(p), nil
}

// A search ends with the error of its context. With Config.Resume another one goes on, and runs a
// perturbation again that has shown something.
func TestSearchContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	config := configOf(giveUp())
	config.Parallel = 1
	config.Resume = filepath.Join(t.TempDir(), "progress")
	config.Progress = writerFunc(func(text string) {
		if strings.Contains(text, "perturb: found ") {
			cancel()
		}
	})
	_, err := perturb.SearchContext(ctx, config)
	require.ErrorIs(t, err, context.Canceled)
	progress, err := os.ReadFile(config.Resume)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(progress), "\nfound fail "), "%s", progress)
	require.True(t, strings.HasSuffix(string(progress), "\n"))

	_, err = perturb.SearchContext(ctx, config)
	require.ErrorIs(t, err, context.Canceled, "before the undisturbed run")

	config.Progress = nil
	report, err := perturb.Search(config)
	require.NoError(t, err)
	require.Equal(t, []string{"state configmaps default/a (fail)"}, namesOf(report))
	require.Equal(t, report.Perturbations, report.Runs)
	require.NoFileExists(t, config.Resume)

	whole, err := perturb.Search(configOf(giveUp()))
	require.NoError(t, err)
	require.Equal(t, len(whole.Findings[0].Others), len(report.Findings[0].Others))
}
