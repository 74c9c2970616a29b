package watchguarantees

import (
	"flag"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/dev/verify/harness"
)

// To rerun a seed that failed, use -first=SEED -seeds=1.
var (
	firstSeed = flag.Uint64("first", 0, "first seed of TestWatchGuarantees")
	seedCount = flag.Uint64("seeds", 40, "number of seeds of TestWatchGuarantees")
)

// TestWatchGuarantees checks that the guarantees of etcd hold for watches that are interrupted and
// resumed: events are ordered, unique and complete, bookmarks are correct, and initial events are
// the list at their revision. For each seed, writers and watchers send random requests. The
// watchers must see what the writers have written.
func TestWatchGuarantees(t *testing.T) {
	seeds := *seedCount
	if testing.Short() {
		seeds = min(seeds, 8)
	}
	var total harness.Counter
	t.Run("seeds", func(t *testing.T) {
		for seed := *firstSeed; seed < *firstSeed+seeds; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { runSeed(t, seed, &total) })
			})
		}
	})
	if seeds < 8 {
		return // too few seeds to cover everything
	}
	for _, what := range []string{
		"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "selected DELETED", "Exact list", "partial initial events",
		"resumed from an event", "resumed from a bookmark", "dry run", "no-op", "refused",
	} {
		require.Positive(t, total.Count(what), "%s never occurred", what)
	}
}
