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

// To rerun a seed that failed, use -first=SEED -seeds=1. The seed determines the requests of each
// client, but not the order of requests of different clients.
var (
	firstSeed = flag.Uint64("first", 0, "first seed of TestLinearizable")
	seedCount = flag.Uint64("seeds", 12, "number of seeds of TestLinearizable")
)

// TestLinearizable lets clients send requests for the same objects at the same time. There must be
// an order of all requests, each between its call and its return, that explains all responses: a
// success is visible to all later reads, and of several updates of the same state one succeeds and
// the others fail with a Conflict (OC-02, OC-08, OC-14, OC-15). Reads with resourceVersion=0 are
// left out, since they may be stale.
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
		return // too few seeds to cover everything
	}
	require.Positive(t, total.Count("lost"), "no response was lost")
	for _, verb := range []string{"create", "get", "list", "put", "merge", "json", "apply", "delete"} {
		for _, outcome := range expectedOutcomes(verb) {
			require.Positive(t, total.Count(fmt.Sprint(verb, outcome)), "%s never had the outcome %s", verb, outcome)
		}
	}
}

// expectedOutcomes returns the outcomes of a verb that must have occurred.
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

// runSeed runs one seed. Over the seeds all kinds are used over TCP and in memory, and half of the
// seeds lose responses after the commit.
func runSeed(t *testing.T, seed uint64, total *harness.Counter) {
	var opts []fakeapi.Option
	if seed%2 == 0 {
		opts = append(opts, fakeapi.WithInMemoryNetwork())
	}
	srv := fakeapi.Start(t, opts...)
	w := newWorkload(t, Kinds()[seed%3])
	w.LosesReplies = seed/2%2 == 0
	if w.LosesReplies {
		_, err := srv.Faults().AddText(fmt.Sprintf(
			"lost: when during(committed) && verb(create,update,patch,delete) && chance(0.05, %d) do reset", seed))
		require.NoError(t, err)
	}
	begin, err := strconv.ParseUint(srv.ResourceVersion(), 10, 64)
	require.NoError(t, err)
	w.run(seed, 8+int(seed%9), 30, harness.Endpoint{URL: srv.URL(), Client: srv.Client()})
	for _, op := range w.History {
		total.Add(Outcome(op.Input.(Request), op.Output.(Response)))
	}
	require.Empty(t, CheckRevisions(w.History))
	result, info := porcupine.CheckOperationsVerbose(Model(Absent(begin)), w.History, 5*time.Minute)
	if result == porcupine.Ok {
		return
	}
	file := filepath.Join(t.ArtifactDir(), "history.html")
	require.NoError(t, porcupine.VisualizePath(Model(Absent(begin)), info, file))
	t.Errorf("%s. Rerun with -run TestLinearizable -first=%d -seeds=1 -artifacts and see %s\n%s",
		result, seed, file, DescribeFailure(w.History, info))
}
