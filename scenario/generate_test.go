package scenario

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGenerateErrors(t *testing.T) {
	nothing := Generator{Object: func(*rand.Rand, string) string { return "kind: Pod\n" }}
	_, err := nothing.Generate(1)
	require.ErrorContains(t, err, "yaml: document 1: expected apiVersion and kind")
	_, err = Generator{}.complete([]Step{Delete(Ref{Kind: "configmap", Name: "a"})})
	require.ErrorContains(t, err, "delete configmap/a: the object does not exist")
}

// A client is run also if there are few other steps.
func TestGenerateFewSteps(t *testing.T) {
	for seed := range uint64(8) {
		steps, err := Generator{Client: "mine", Steps: 1}.Generate(seed)
		require.NoError(t, err)
		require.Contains(t, steps, RunClient("mine"))
	}
}
