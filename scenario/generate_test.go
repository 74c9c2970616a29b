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
