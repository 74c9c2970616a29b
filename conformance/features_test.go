package conformance_test

import (
	"regexp"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

// TestFeatures checks that cases about a feature are skipped if the configuration does not mention
// it, and fail if it is wrong about it.
func TestFeatures(t *testing.T) {
	for _, one := range []struct {
		gate, run string
	}{
		{gate: "CBORServingAndStorage", run: "^CB-0[13]$"},
		{gate: "WatchList", run: "^SI-(09|12)(/typed)?$"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := configInMemory(t)
			c.Run = regexp.MustCompile(one.run)
			skipped := outcomes(t, c, conformance.Skipped)
			require.Len(t, skipped, 1, one.gate)
			require.Contains(t, skipped[0].Reason, one.gate)

			failures := 0
			for _, on := range []bool{true, false} {
				c.Features = map[string]bool{one.gate: on}
				for _, result := range outcomes(t, c, conformance.Failed) {
					require.Equal(t, skipped[0].Case.ID, result.Case.ID)
					require.ErrorContains(t, result.Err, "Config.Features says "+one.gate)
					failures++
				}
			}
			require.Equal(t, 1, failures, "one of the two is not so")
		})
	}
}

// Without streaming lists, the cases about them are skipped with that reason, and the case for
// servers without them passes.
func TestWithoutStreamingLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := configInMemory(t, fakeapi.WithFeature(fakeapi.WatchList, false))
		c.Features = map[string]bool{conformance.WatchList: false}
		c.Run = regexp.MustCompile("^(SI|WA|BM)-")
		report, err := conformance.Execute(t.Context(), c)
		require.NoError(t, err)
		require.NoError(t, report.Err())
		for _, result := range report.Results {
			switch result.Case.Rule() {
			case "SI-12":
				require.Equal(t, conformance.Passed, result.Outcome)
			case "SI-01":
				require.Equal(t, conformance.Skipped, result.Outcome)
				require.Contains(t, result.Reason, conformance.WatchList)
			}
		}
	})
}

// outcomes runs the cases, and returns the results with this outcome.
func outcomes(t *testing.T, c conformance.Config, outcome conformance.Outcome) (found []conformance.Result) {
	report, err := conformance.Execute(t.Context(), c)
	require.NoError(t, err)
	for _, result := range report.Results {
		if result.Outcome == outcome {
			found = append(found, result)
		}
	}
	return found
}
