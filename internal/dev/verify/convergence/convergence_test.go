package convergence

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
	firstSeed = flag.Uint64("first", 0, "first seed of TestInformersConverge")
	seedCount = flag.Uint64("seeds", 400, "number of seeds of TestInformersConverge")
)

// TestInformersConverge interrupts informers at random: it breaks their connections, moves them
// between a server and a replica that lags behind, and forgets history. Each seed lasts some
// minutes of virtual time. Once the interruptions are over, the informers must be equal to the
// store, and their handlers must never have seen an object that is older than one they saw before.
func TestInformersConverge(t *testing.T) {
	seeds := *seedCount
	if testing.Short() {
		seeds = min(seeds, 100)
	}
	var total harness.Counter
	t.Run("seeds", func(t *testing.T) {
		for seed := *firstSeed; seed < *firstSeed+seeds; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { newEnvironment(t, seed, &total).run() })
			})
		}
	})
	if seeds < 100 {
		return // too few seeds to cover everything
	}
	for _, what := range []string{
		"dial server", "dial replica", "was equal", "was behind", "had a deleted object",
		"streamed a list", "resumed",
	} {
		require.Positive(t, total.Count(what), "%s never occurred", what)
	}
}
