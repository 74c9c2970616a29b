package scenario_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/scenario"
)

// The README shows the first form of nightly, its scenario and what that says, as
// they are here, letter for letter.
func TestReadmeShowsABug(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	own, err := os.ReadFile("example_lostreply_test.go")
	require.NoError(t, err)
	_, code, _ := strings.Cut(string(own), "under a new name.\n")
	code, _, _ = strings.Cut(code, "\n}\n")
	require.Contains(t, code, "func nightly(")
	require.Contains(t, string(readme), code+"\n}\n```\n")
	require.Contains(t, string(readme), "```"+nightlyStory+"```\n")

	_, err = scenario.Play("nightly.txtar", nightlyStory[1:], scenario.Config{
		Clients: map[string]scenario.Client{"nightly": nightly},
	})
	require.Error(t, err)
	what, _, _ := strings.Cut(err.Error(), "transcript so far:")
	require.Contains(t, string(readme), "```\n"+what+"```\n")
}
