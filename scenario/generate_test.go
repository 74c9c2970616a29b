package scenario

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Scenarios follow from their seed, print, and parse back equal.
func TestGeneratedScenariosPrint(t *testing.T) {
	for _, g := range []Generator{{}, {Steps: 200, Client: "x", Setup: []Step{Compact()}, Expect: Mirrors("configmap", "default", "x")}} {
		seen := map[string]bool{}
		for seed := range uint64(100) {
			steps, err := g.Generate(seed)
			require.NoError(t, err)
			text, err := Print(steps...)
			require.NoError(t, err, "seed %d", seed)
			back, err := Parse(text)
			require.NoError(t, err)
			require.Equal(t, steps, back)
			again, err := g.Generate(seed)
			require.NoError(t, err)
			require.Equal(t, steps, again)
			seen[text] = true
		}
		require.Len(t, seen, 100)
	}
}

func TestGenerateRefuses(t *testing.T) {
	nothing := Generator{Object: func(*rand.Rand, string) string { return "kind: Pod\n" }}
	_, err := nothing.Generate(1)
	require.ErrorContains(t, err, "yaml: document 1: expected apiVersion and kind")
	_, err = Generator{}.tell([]Step{Delete(Ref{Kind: "configmap", Name: "a"})})
	require.ErrorContains(t, err, "delete configmap/a: there is no such object")
}
