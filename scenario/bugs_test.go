package scenario_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/scenario"
)

// bug is a published bug of a controller and the scenario that finds it. Each is in a file
// example_NAME_test.go.
type bug struct {
	scenario     string
	buggy, fixed map[string]scenario.Client
	want         string // part of the error for the buggy client
}

func bugs() map[string]bug {
	one := func(name string, client scenario.Client) map[string]scenario.Client {
		return map[string]scenario.Client{name: client}
	}
	return map[string]bug{
		"conflict": {
			protectScenario, one("protect", protect), one("protect", protectFixed),
			"expected metadata.finalizers[0]=example.com/backup; saw metadata.finalizers[0]=example.com/clean-up\n",
		},
		"gone": {
			membersScenario, one("members", members(keepRevision)), one("members", members(clearExpiredRevision)),
			`expected <=3 requests of client members with watch=true; saw 66`,
		},
		"lostReply": {
			nightlyScenario, one("nightly", nightly), one("nightly", nightlyFixed),
			"expected the job list [report-946684800]; saw [report-946684800 report-946684801]\n",
		},
		"overshoot": {
			workersScenario, one("workers", workers(generateNames)), one("workers", workers(deriveNames)),
			`with "POST /api/v1/namespaces/default/pods 201"; saw 2`,
		},
		"partial": {
			recordsScenario, one("records", records(ignoreError)), one("records", records(failUnlessNotFound)),
			"expected of watch zone []; saw [DELETED record-web ADDED record-web]\n",
		},
		"selector": {
			snapshotsScenario, one("snapshots", snapshots(trustEvent)), one("snapshots", snapshots(askServer)),
			"expected configmap/snapshot-data; saw none\n",
		},
		"timeTravel": {
			volumesScenario, one("volumes", volumes(byName)), one("volumes", volumes(byUID)),
			"expected persistentvolumeclaim/data-db; saw none\n",
		},
		"tombstone": {
			addressesScenario, one("addresses", addresses(podOnly)), one("addresses", addresses(podOrTombstone)),
			"expected no configmap/address-web; saw one with resourceVersion ",
		},
		"twoLeaders": {
			electedScenario,
			map[string]scenario.Client{"a": electedWorker(untilTheEnd), "b": electedWorker(untilTheEnd)},
			map[string]scenario.Client{"a": electedWorker(untilTheLeaseIsLost), "b": electedWorker(untilTheLeaseIsLost)},
			"expected no configmap/claimed-by-a; saw one with resourceVersion ",
		},
	}
}

// The scenarios find the bugs with any seed, and pass with the fixed client. The fastest run is
// fast; others may be slowed down by the machine.
func TestBugs(t *testing.T) {
	for name, b := range bugs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var took []time.Duration
			for seed := range seeds() {
				for _, clients := range []map[string]scenario.Client{b.buggy, b.fixed} {
					start := time.Now()
					_, err := scenario.Play(name, b.scenario, scenario.Config{Seed: seed, Clients: clients})
					took = append(took, time.Since(start))
					if len(took)%2 == 1 {
						require.ErrorContains(t, err, b.want, "seed %d", seed)
					} else {
						require.NoError(t, err, "seed %d", seed)
					}
				}
			}
			slices.Sort(took)
			require.Less(t, took[0], time.Second)
			t.Logf("the fastest run took %v, half of them %v at most, the longest %v", took[0], took[len(took)/2], took[len(took)-1])
		})
	}
}

// The package documentation lists the bugs.
func TestBugsAreListed(t *testing.T) {
	manual, err := files.ReadFile("doc.go")
	require.NoError(t, err)
	var listed []string
	for _, row := range regexp.MustCompile(`(?m)^//\tPlay \((\w+)\) `).FindAllStringSubmatch(string(manual), -1) {
		listed = append(listed, strings.ToLower(row[1][:1])+row[1][1:])
	}
	require.Equal(t, slices.Sorted(maps.Keys(bugs())), listed)
}

// The examples are whole files with the address of the bug.
func TestBugExamples(t *testing.T) {
	names, err := fs.Glob(files, "example_*_test.go")
	require.NoError(t, err)
	var examples []*ast.File
	for _, name := range names {
		source, err := files.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments)
		require.NoError(t, err)
		examples = append(examples, file)
	}
	whole := map[string]string{}
	for _, example := range doc.Examples(examples...) {
		if _, ok := example.Code.(*ast.File); ok {
			whole[strings.TrimPrefix(example.Name, "Play_")] = example.Doc
		}
	}
	for name := range bugs() {
		require.Contains(t, whole[name], "https://github.com/", name)
	}
}
