package stress

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/faults"
)

// The rules of all sets are valid, and repeatable by the seed.
func TestSets(t *testing.T) {
	for _, o := range []Options{{Seed: 1}, {Seed: 7, UserAgent: "manager/v1"}} {
		names := map[string]bool{}
		for _, s := range Sets(o) {
			require.NoError(t, s.Validate(), s.Name)
			require.False(t, names[s.Name], s.Name)
			names[s.Name] = true
			rules, err := faults.ParseText(s.Rules)
			require.NoError(t, err)
			require.True(t, len(rules) > 0 || s.WatchCacheDelay > 0, s.Name)
			for _, r := range rules {
				require.NotEmpty(t, r.Name)
			}
		}
		require.Equal(t, Sets(o), Sets(o))
	}
	require.NotEqual(t, Sets(Options{Seed: 1}), Sets(Options{Seed: 2}))
}

func TestSelect(t *testing.T) {
	names := func(sets []Set, err error) (names []string) {
		require.NoError(t, err)
		for _, s := range sets {
			names = append(names, s.Name)
		}
		return names
	}
	usual := []string{"watch-cuts", "expiries", "conflicts", "latency", "lost-replies", "server-errors", "stale"}
	require.Equal(t, usual, names(Select(Sets(Options{}), nil, false)))
	require.Equal(t, append(usual, "all-conflicts", "all-lost-replies", "all-errors"), names(Select(Sets(Options{}), nil, true)))
	require.Equal(t, []string{"stale", "all-errors"}, names(Select(Sets(Options{}), []string{"all-errors", "stale"}, false)))
	_, err := Select(Sets(Options{}), []string{"stale", "other"}, false)
	require.ErrorContains(t, err, `"other" is none of watch-cuts, expiries, `)
}
