package scenario_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/perturb"
)

// perturbedBug is how a published bug is found without its scenario.
type perturbedBug struct {
	setup, workload, expect string
	ignore                  []string
	want                    string // the name of the finding
}

func steps(t *testing.T, text string) []scenario.Step {
	all, err := scenario.Parse(text)
	require.NoError(t, err)
	return all
}

// files returns the files of a scenario.
func files(text string) string {
	for i := range len(text) {
		if text[i:min(i+4, len(text))] == "\n-- " {
			return text[i:]
		}
	}
	return ""
}

func perturbedBugs() map[string]perturbedBug {
	return map[string]perturbedBug{
		"conflict":   {setup: "create db.yaml\n-- db.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\n", want: "state configmaps default/db"},
		"gone":       {workload: "apply a.yaml\napply b.yaml" + files(membersScenario), want: "state configmaps default/member-b"},
		"lostReply":  {want: "state jobs.batch default/report-*"},
		"overshoot":  {workload: "apply web.yaml\napply labelled.yaml" + files(workersScenario), want: "created pods default/web-*"},
		"partial":    {setup: "apply site.yaml" + files(recordsScenario), want: "deleted configmaps dns/record-web"},
		"selector":   {workload: "apply labelled.yaml\napply plain.yaml" + files(snapshotsScenario), expect: "expect configmap/snapshot-data", want: "expect expect configmap/snapshot-data"},
		"timeTravel": {workload: "apply db.yaml\ndelete statefulset/db\napply db.yaml" + files(volumesScenario), want: "deleted persistentvolumeclaims default/data-db"},
		"tombstone":  {workload: "apply web.yaml\ndelete pod/web" + files(addressesScenario), want: "state configmaps default/address-web"},
		"twoLeaders": {ignore: []string{"configmaps/claimed-by-*"}, want: "leaders a"},
	}
}

var _ = types.MergePatchType

// The published bugs are found without their scenarios, and the repaired clients have no findings.
func TestPerturbBugs(t *testing.T) {
	for name, b := range bugs() {
		t.Run(name, func(t *testing.T) {
			how := perturbedBugs()[name]
			config := perturb.Config{
				Controllers: b.buggy, Setup: steps(t, how.setup), Workload: steps(t, how.workload), Expect: steps(t, how.expect), Ignore: how.ignore, Recovery: 3 * time.Minute,
			}
			report, err := perturb.Search(config)
			require.NoError(t, err)
			t.Logf("%s", report)
			for _, line := range report.Inconclusive {
				t.Log(line)
			}
			config.Controllers = b.fixed
			report, err = perturb.Search(config)
			require.NoError(t, err)
			t.Logf("FIXED %s", report)
		})
	}
}
