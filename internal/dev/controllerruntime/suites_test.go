package controllerruntime

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// expectedFailures lists the specs that fail, with the reasons.
var expectedFailures = map[string]string{}

// races lists the specs that fail now and then with every API server, with the reasons. They are
// run again once, with a server that is slow.
var races = map[string]string{
	"when context is cancelled":                                          "the informer may have synced before the cancelled context is noticed",
	"to be cancelled":                                                    "likewise",
	"should requeue a Request if there is an error":                      "the queue is read as soon as the reconciler is called, before the controller adds the request again",
	"should reset c.startWatches to nil after returning":                 "the goroutine of a source must be started within a millisecond",
	"should refuse to add runnable if stop procedure is already engaged": "the runnable is added after a fixed time, in which the manager may not have begun to stop",
}

// slowServer makes servers respond to requests for pods later than a suite notices the end of a
// context.
const slowServer = "FAKEAPI_FAULTS=slow: when resource(pods) do delay(100ms)"

// shards splits suites that wait for most of their time, and the one whose specs all listen on one
// port: there, a spec fails if the server of the last one has not stopped yet. A shard has the
// specs that match a pattern; the other specs are one more.
var shards = map[string][]string{
	"pkg/manager": {"should serve pprof endpoints", "should default ID to controller-runtime if ID is not set"},
	"pkg/cache":   {"Multi-Namespace Informer Cache", "Informer Cache without global DeepCopy"},
	"pkg/webhook": {"with a manager should reject create request for webhook", "for multi-webhook", "without a manager"},
}

// All suites that need an API server pass, and leave no process.
func TestSuites(t *testing.T) {
	assets := buildAssets(t)
	s := &suites{
		root:     copyModule(t),
		expected: map[string]bool{},
		environment: append(os.Environ(), "KUBEBUILDER_ASSETS="+assets,
			"XDG_DATA_HOME="+installRelease(t, assets, "1.28.0"),
			// The default of 20 seconds may be too short on a busy machine.
			"KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=2m", "KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT=2m"),
	}
	packages := findPackages(t, s.root)
	require.Greater(t, len(packages), 15)
	// Binaries are built one after the other, and run as soon as they are. Most runs wait for most of
	// their time.
	slots := make(chan struct{}, 6)
	runs := make(map[string][]*run)
	var group sync.WaitGroup
	for _, p := range packages {
		binary := buildTests(t, p)
		for _, r := range newRuns(p, binary) {
			runs[p.dir] = append(runs[p.dir], r)
			group.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				s.start(t.Context(), r)
			})
		}
	}
	group.Wait()
	for _, p := range packages {
		t.Run(strings.TrimPrefix(p.dir, "pkg/"), func(t *testing.T) {
			for _, r := range runs[p.dir] {
				s.check(t, r)
			}
			if p.usesGinkgo {
				requireAllSpecs(t, runs[p.dir])
			}
		})
	}
	for text := range expectedFailures {
		require.Contains(t, s.expected, text, "it is expected to fail and did not")
	}
	requireNoProcess(t, filepath.Dir(assets))
}

// newRuns returns the runs of a package: one for each shard.
func newRuns(p testPackage, binary string) []*run {
	if len(shards[p.dir]) == 0 {
		return []*run{{testPackage: p, binary: binary}}
	}
	others := &run{testPackage: p, binary: binary}
	all := []*run{others}
	for _, pattern := range shards[p.dir] {
		all = append(all, &run{testPackage: p, binary: binary, flags: []string{"-ginkgo.focus=" + pattern}})
		others.flags = append(others.flags, "-ginkgo.skip="+pattern)
	}
	slices.Reverse(all)
	return all
}

// check fails the test if specs of a run failed, apart from those that may. Those of races are run
// again.
func (s *suites) check(t *testing.T, r *run) {
	t.Helper()
	if r.err == nil {
		return
	}
	failed := r.failures()
	again := &run{testPackage: r.testPackage, binary: r.binary, environment: []string{slowServer}}
	for _, spec := range failed {
		if text := listed(expectedFailures, spec); text != "" {
			s.expected[text] = true
			continue
		}
		if text := listed(races, spec); text != "" {
			again.flags = append(again.flags, "-ginkgo.focus="+regexp.QuoteMeta(text))
		} else {
			t.Errorf("failed: %s", spec)
		}
	}
	if len(failed) == 0 || t.Failed() {
		t.Fatalf("%v: %v\n%s", r.flags, r.err, r.output)
	}
	if len(again.flags) == 0 {
		return
	}
	t.Logf("running again %q", again.flags)
	s.start(t.Context(), again)
	require.NoError(t, again.err, "%s", again.output)
}

// listed returns the key of list that is a part of the text of a spec, or "".
func listed(list map[string]string, spec string) string {
	for text := range list {
		if strings.Contains(spec, text) {
			return text
		}
	}
	return ""
}

var counts = regexp.MustCompile(`Ran (\d+) of (\d+) Specs.*\n.* (\d+) Pending`)

// requireAllSpecs checks that each spec of a suite ran in one of its runs, except for pending ones.
func requireAllSpecs(t *testing.T, runs []*run) {
	t.Helper()
	ran, total, pending := 0, 0, 0
	for _, r := range runs {
		found := counts.FindStringSubmatch(r.output)
		require.Len(t, found, 4, "%s", r.output)
		ran += number(found[1])
		total, pending = number(found[2]), number(found[3])
	}
	require.Equal(t, total-pending, ran, "the shards have all specs")
	t.Logf("%d specs", ran)
}

func number(text string) int {
	n, _ := strconv.Atoi(text) // the pattern matches digits
	return n
}
