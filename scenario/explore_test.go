package scenario_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/clients"
)

// seedsFlag can be set for longer runs.
var seedsFlag = flag.Uint64("scenario.seeds", 10, "number of seeds of the tests that play scenarios with several")

// seeds returns the number of seeds of a test, which is smaller with -short.
func seeds() uint64 {
	if testing.Short() {
		return min(*seedsFlag, 3)
	}
	return *seedsFlag
}

// mirrorGenerator returns a generator for a client that copies "default" to "mirror".
func mirrorGenerator() scenario.Generator {
	return scenario.Generator{
		Client: "mirror",
		Setup:  []scenario.Step{scenario.Apply("mirror.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: mirror}\n")},
		Expect: scenario.ExpectSynced("configmap", "default", "mirror"),
	}
}

// informer returns a correct mirror, based on client-go's informer.
func informer(t *testing.T) scenario.Client {
	t.Helper()
	for _, c := range clients.All() {
		if c.Role == "mirror" && c.Name == "informer" {
			return c.Client
		}
	}
	t.Fatal("there is no informer")
	return nil
}

func mirrorConfig(c scenario.Client) scenario.Config {
	return scenario.Config{Clients: map[string]scenario.Client{"mirror": c}}
}

// newRole returns a Role, whose kind has a group.
func newRole(random *rand.Rand, name string) string {
	return fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: %s, labels: {n: \"%d\"}}\n", name, random.IntN(10))
}

// Scenarios depend only on their seed, and can be printed and parsed.
func TestGeneratedScenariosPrint(t *testing.T) {
	for _, g := range []scenario.Generator{
		{},
		{Steps: 50, Object: newRole},
		{Steps: 200, Client: "x", Setup: []scenario.Step{scenario.Compact()}, Expect: scenario.ExpectSynced("configmap", "default", "x")},
	} {
		seen := map[string]bool{}
		for seed := range seeds() {
			steps, err := g.Generate(seed)
			require.NoError(t, err)
			text, err := scenario.Print(steps...)
			require.NoError(t, err, "seed %d", seed)
			back, err := scenario.Parse(text)
			require.NoError(t, err)
			require.Equal(t, steps, back)
			again, err := g.Generate(seed)
			require.NoError(t, err)
			require.Equal(t, steps, again)
			seen[text] = true
		}
		require.Len(t, seen, int(seeds()))
	}
}

// There is no finding for a correct client. A failure is shrunk to one of the same kind.
func TestSearch(t *testing.T) {
	found, err := scenario.Search(mirrorConfig(informer(t)), mirrorGenerator(), 1, 20)
	require.NoError(t, err)
	require.Nil(t, found)

	found, err = scenario.Search(scenario.Config{}, scenario.Generator{Object: newRole, Steps: 30}, 1, 5)
	require.NoError(t, err)
	require.Nil(t, found)

	failing := func(context.Context, *rest.Config) error { return errors.New("no progress") }
	found, err = scenario.Search(mirrorConfig(failing), scenario.Generator{Client: "mirror"}, 7, 1)
	require.NoError(t, err)
	require.Equal(t, uint64(7), found.Seed)
	require.Equal(t, "run mirror\nadvance 30m0s\n", found.Text)
	require.ErrorContains(t, found.Err, "at the end: expected no error of client mirror; saw no progress")
	require.Contains(t, found.String(), " steps remain after shrinking:\n\nrun mirror\n")

	runs := 0
	failingOnce := func(context.Context, *rest.Config) error {
		if runs++; runs == 1 {
			return errors.New("no progress")
		}
		return nil
	}
	found, err = scenario.Search(mirrorConfig(failingOnce), scenario.Generator{Client: "mirror"}, 7, 1)
	require.NoError(t, err)
	require.Len(t, found.Steps, found.GeneratedSteps)
	require.ErrorContains(t, found.Err, "these steps passed when they were played again; at first: ")
	require.ErrorContains(t, found.Err, "expected no error of client mirror; saw no progress")

	_, err = scenario.Search(scenario.Config{}, scenario.Generator{Object: func(*rand.Rand, string) string { return "" }}, 1, 1)
	require.ErrorContains(t, err, "expected an object, found nothing")
}

// Known failures are shrunk to these numbers of steps.
func TestSearchShrinks(t *testing.T) {
	generator := scenario.Generator{
		Client: "copier",
		Setup:  []scenario.Step{scenario.Apply("copies.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: copies}\n")},
		Expect: scenario.ExpectSynced("configmap", "default", "copies"),
	}
	config := scenario.Config{Clients: map[string]scenario.Client{"copier": copier}}
	for seed, want := range map[uint64]int{40: 12, 48: 11, 58: 8} {
		found, err := scenario.Search(config, generator, seed, 1)
		require.NoError(t, err)
		require.NotNil(t, found, "seed %d", seed)
		require.LessOrEqual(t, len(found.Steps), want, "seed %d:\n%s", seed, found.Text)
		_, err = scenario.Play("again.txtar", found.Text, config)
		require.Error(t, err, "seed %d:\n%s", seed, found.Text)
	}
}
