package convergence

import (
	"flag"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/dev/verify/harness"
)

// A seed that failed is run again with -first=SEED -seeds=1.
var (
	firstSeed = flag.Uint64("first", 0, "first seed of TestInformersConverge")
	seedCount = flag.Uint64("seeds", 400, "number of seeds of TestInformersConverge")
)

// Informers whose connections are cut and moved between a server and a replica
// that lies behind, while history is forgotten under them, end equal to the
// store once the trouble is over, and on the way never show an object older than
// they did before: a thousand random troubles of some minutes each.
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
		return // too few for everything to occur
	}
	for _, what := range []string{
		"dial server", "dial replica", "was equal", "was behind", "knew what was gone",
		"streamed a list", "resumed",
	} {
		require.Positive(t, total.Count(what), "no informer %s", what)
	}
}
