package core

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A set has the same values whether they fit into its array or not.
func TestSmallSet(t *testing.T) {
	for _, n := range []int{0, 1, 16, 17, 40} {
		var set smallSet[int]
		var want []int
		for i := range n {
			require.False(t, set.has(i))
			require.True(t, set.add(i))
			require.False(t, set.add(i))
			want = append(want, i)
		}
		for _, i := range want {
			require.True(t, set.has(i))
		}
		require.ElementsMatch(t, want, set.values())
	}
}
