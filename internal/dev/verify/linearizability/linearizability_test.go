package linearizability

import (
	"flag"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/verify/harness"
)

// A seed that failed is run again with -first=SEED
// -seeds=1. What the clients ask follows from it; in which order
// they get to it does not.
var (
	firstSeed = flag.Uint64("first", 0, "first seed of TestLinearizable")
	seedCount = flag.Uint64("seeds", 12, "number of seeds of TestLinearizable")
)

// Whatever a number of clients do to an object at the same time, there is an
// order in which they could have done it one after the other, each between its
// request and its reply, so that all were told what they were: a success is seen
// by everybody who asks later, and of those who write the same state one wins and
// the others get a Conflict (OC-02, OC-08, OC-14, OC-15). Reads of "any" state are
// left out: they may be old.
func TestLinearizable(t *testing.T) {
	seeds := *seedCount
	if testing.Short() {
		seeds = min(seeds, 4)
	}
	var total harness.Counter
	t.Run("seeds", func(t *testing.T) {
		for seed := *firstSeed; seed < *firstSeed+seeds; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				runSeed(t, seed, &total)
			})
		}
	})
	if seeds < 12 {
		return // too few for everything to occur
	}
	require.Positive(t, total.Count("lost"), "no reply was lost")
	for _, verb := range []string{"create", "get", "list", "put", "merge", "json", "apply", "delete"} {
		for _, outcome := range expectedOutcomes(verb) {
			require.Positive(t, total.Count(fmt.Sprint(verb, outcome)), "no %s was answered with %s", verb, outcome)
		}
	}
}

// expectedOutcomes are the answers that a verb must have had for the test to mean much.
func expectedOutcomes(verb string) []string {
	switch verb {
	case "create":
		return []string{" 201", " 409", " 201 dry", " 409 dry"}
	case "get":
		return []string{" 200", " 404"}
	case "list":
		return []string{" 200", " 200 empty"}
	case "json":
		return []string{" 200", " 404", " 422", " 200 dry"}
	case "apply":
		return []string{" 200", " 201", " 200 dry", " 201 dry"}
	}
	return []string{" 200", " 404", " 409", " 200 dry", " 409 dry"}
}

// runSeed runs one seed: each kind over TCP and in memory, and half of them
// with replies that are lost after the commit.
func runSeed(t *testing.T, seed uint64, total *harness.Counter) {
	var opts []fakeapi.Option
	if seed%2 == 0 {
		opts = append(opts, fakeapi.WithInMemoryNetwork())
	}
	srv := fakeapi.Start(t, opts...)
	r := newWorkload(t, Kinds()[seed%3])
	r.LosesReplies = seed/2%2 == 0
	if r.LosesReplies {
		_, err := srv.Faults().AddText(fmt.Sprintf(
			"lost: when during(committed) && verb(create,update,patch,delete) && chance(0.05, %d) do reset", seed))
		require.NoError(t, err)
	}
	begin, err := strconv.ParseUint(srv.ResourceVersion(), 10, 64)
	require.NoError(t, err)
	r.run(seed, 8+int(seed%9), 30, harness.Endpoint{URL: srv.URL(), Client: srv.Client()})
	for _, op := range r.History {
		total.Add(Outcome(op.Input.(Request), op.Output.(Response)))
	}
	require.Empty(t, CheckRevisions(r.History))
	result, info := porcupine.CheckOperationsVerbose(Model(Absent(begin)), r.History, time.Minute)
	if result == porcupine.Ok {
		return
	}
	file := filepath.Join(t.ArtifactDir(), "history.html")
	require.NoError(t, porcupine.VisualizePath(Model(Absent(begin)), info, file))
	t.Errorf("%s. Rerun with -run TestLinearizable -first=%d -seeds=1 -artifacts and see %s\n%s",
		result, seed, file, DescribeFailure(r.History, info))
}
