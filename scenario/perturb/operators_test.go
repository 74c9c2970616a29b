package perturb_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/perturb"
	"example.com/fakeapi/scenario/perturb/internal/operators"
)

// operatorBudget returns the number of perturbed runs of one form of an operator.
// FAKEAPI_PERTURB_BUDGET overrides it; 0 is for all.
func operatorBudget(t *testing.T, budget int) int {
	t.Helper()
	text := os.Getenv("FAKEAPI_PERTURB_BUDGET")
	if text == "" {
		return budget
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// perturbed returns the configuration for one form of an operator.
func perturbed(o operators.Operator, client scenario.Client, budget int) perturb.Config {
	return perturb.Config{
		Controllers: map[string]scenario.Client{"operator": client},
		Options:     o.Options,
		Setup:       o.Setup,
		Workload:    o.Workload,
		Recovery:    2 * time.Minute,
		Budget:      budget,
		Dir:         os.Getenv("FAKEAPI_PERTURB_DIR"),
		Full:        os.Getenv("FAKEAPI_PERTURB_FULL") != "",
		FindOne:     os.Getenv("FAKEAPI_PERTURB_BUDGET") == "",
	}
}

// damaged returns what the bug of each operator damages, a part of the names of its findings.
func damaged() map[string]string {
	return map[string]string{
		"addresses":   "services default/",
		"checksum":    "deployments.apps default/web",
		"cleanup":     "persistentvolumeclaims default/home-anna",
		"console":     "-link-*",
		"credentials": "secrets default/orders",
		"members":     "persistentvolumeclaims default/data-db-1",
		"records":     "configmaps external/",
		"resize":      "persistentvolumeclaims default/data-db-0",
		"rollout":     "configmaps default/schema",
		"volumes":     "persistentvolumeclaims default/data-db-1",
	}
}

// Each bug of package operators is found without its scenario, and nothing else.
func TestFindsBugs(t *testing.T) {
	for _, o := range operators.All() {
		t.Run(o.Name, func(t *testing.T) {
			report, err := perturb.Search(perturbed(o, o.Buggy, operatorBudget(t, 200)))
			require.NoError(t, err)
			t.Log(report.Summary())
			require.NotEmpty(t, report.Findings)
			require.Empty(t, report.Inconclusive)
			files := 0
			require.Contains(t, damaged(), o.Name)
			for _, f := range report.Findings {
				require.Contains(t, f.Name, damaged()[o.Name])
				if !f.Reproduced {
					continue
				}
				files++
				config := scenario.Config{Clients: map[string]scenario.Client{"operator": o.Repaired}, Options: o.Options}
				_, err := scenario.Play(f.Name, f.File, config)
				require.NoError(t, err, "the file must pass with the repaired form")
			}
			require.Positive(t, files)
		})
	}
}

// The repaired forms, and an operator without a known bug, give no finding.
func TestRepairedFormsAreClean(t *testing.T) {
	for _, o := range append(operators.All(), operators.Clean()) {
		t.Run(o.Name, func(t *testing.T) {
			report := perturb.Run(t, perturbed(o, o.Repaired, operatorBudget(t, 25)))
			require.Empty(t, report.Inconclusive)
		})
	}
}
