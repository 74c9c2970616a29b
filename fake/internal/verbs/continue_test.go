package verbs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Tokens of clients never panic and never lead out of the collection.
func FuzzDecodeContinue(f *testing.F) {
	f.Add("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MzMsInN0YXJ0IjoiL2FcdTAwMDAifQ")
	f.Add("e30")
	f.Add("!!!")
	f.Fuzz(func(t *testing.T, token string) {
		const prefix = "configmaps/ns/"
		at, err := decodeContinue(prefix, token)
		if err == nil {
			require.Equal(t, prefix, at.from[:len(prefix)])
			require.NotContains(t, at.from, "/../")
		}
	})
}

func TestContinueForm(t *testing.T) {
	token := encodeContinue("configmaps/ns/", "configmaps/ns/a\x00", 33)
	require.Equal(t, "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MzMsInN0YXJ0IjoiL2FcdTAwMDAifQ", token, "as a real server's")
	at, err := decodeContinue("configmaps/ns/", token)
	require.NoError(t, err)
	require.Equal(t, position{from: "configmaps/ns/a\x00", revision: 33}, at)
}
