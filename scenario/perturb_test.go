package scenario_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/perturb"
)

// perturbedBug is how a published bug is found without its scenario.
type perturbedBug struct {
	setup, workload, expect string
	ignore                  []string
	// budget is the number of runs in which the bug is found.
	budget int
	// want is the name of the finding.
	want string
}

func perturbedBugs() map[string]perturbedBug {
	return map[string]perturbedBug{
		"conflict": {
			setup:  "create db.yaml\n-- db.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\n",
			budget: 20, want: "state configmaps default/db (edit)",
		},
		"gone": {
			workload: "apply a.yaml\napply b.yaml" + filesOf(membersScenario), budget: 25, want: "loop members (expire)",
		},
		"lostReply": {budget: 10, want: "created jobs.batch default/report-* (fail)"},
		"overshoot": {
			workload: "apply web.yaml\napply labelled.yaml" + filesOf(workersScenario), budget: 30, want: "created pods default/web-* (delay)",
		},
		"partial": {setup: "apply site.yaml" + filesOf(recordsScenario), budget: 30, want: "deleted configmaps dns/record-web (fail)"},
		// The volume is never deleted. It gets its label again, because a client that was away while it
		// had the label makes no snapshot.
		"selector": {
			workload: "apply labelled.yaml\napply plain.yaml\napply labelled.yaml" + filesOf(snapshotsScenario),
			expect:   "expect requests snapshots DELETE 0",
			budget:   10, want: "expect expect requests snapshots DELETE 0 (undisturbed)",
		},
		"timeTravel": {
			workload: "apply db.yaml\ndelete statefulset/db\napply db.yaml" + filesOf(volumesScenario), budget: 60, want: "deleted persistentvolumeclaims default/data-db (stale)",
		},
		"tombstone": {
			workload: "apply web.yaml\ndelete pod/web" + filesOf(addressesScenario), budget: 30, want: "state configmaps default/address-web (miss)",
		},
		"twoLeaders": {ignore: []string{"configmaps/claimed-by-*"}, budget: 5, want: "leaders a (lease)"},
	}
}

// filesOf returns the files of a scenario.
func filesOf(text string) string { return text[strings.Index(text, "\n-- "):] }

// perturbBudget is the number of runs of each client. FAKEAPI_PERTURB_BUDGET overrides it; 0 is for
// all.
func perturbBudget(t *testing.T, budget int) int {
	text := os.Getenv("FAKEAPI_PERTURB_BUDGET")
	if text == "" {
		return budget
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// The published bugs are found without their scenarios. Nothing is found in the repaired clients.
func TestPerturbBugs(t *testing.T) {
	for name, b := range bugs() {
		t.Run(name, func(t *testing.T) {
			how := perturbedBugs()[name]
			search := func(clients map[string]scenario.Client) []string {
				var parsed [3][]scenario.Step
				for i, text := range []string{how.setup, how.workload, how.expect} {
					var err error
					parsed[i], err = scenario.Parse(text)
					require.NoError(t, err)
				}
				report, err := perturb.Search(perturb.Config{
					Controllers: clients, Setup: parsed[0], Workload: parsed[1], Expect: parsed[2], Ignore: how.ignore,
					Recovery: 3 * time.Minute, Budget: perturbBudget(t, how.budget),
				})
				require.NoError(t, err)
				require.Empty(t, report.Inconclusive)
				t.Log(report)
				var names []string
				for _, f := range report.Findings {
					names = append(names, f.Name)
				}
				return names
			}
			require.Contains(t, search(b.buggy), how.want)
			require.Empty(t, search(b.fixed))
		})
	}
}
