package scenario_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/clients"
)

// The README shows a scenario, and the failure that it reports.
func TestReadmeScenario(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	require.Contains(t, string(readme), "```"+nightlyScenario+"```\n")

	_, err = scenario.Play("nightly.txtar", nightlyScenario[1:], scenario.Config{
		Clients: map[string]scenario.Client{"nightly": nightly},
	})
	require.Error(t, err)
	what, _, _ := strings.Cut(err.Error(), "transcript so far:")
	require.Contains(t, string(readme), "```\n"+what+"```\n")
}

// myCreator is a client in the role of creator.
func myCreator(ctx context.Context, config *rest.Config) error {
	all := clients.All()
	i := slices.IndexFunc(all, func(c clients.Implementation) bool { return c.Role == "creator" && c.Name == "thorough" })
	return all[i].Client(ctx, config)
}

// The README's one call for all cases of a role.
func TestReadmeCatalogue(t *testing.T) {
	scenario.RunCatalogue(t, "creator", myCreator, nil)
}
