package scenario

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// A client that survives gives no finding, and one that fails for another reason
// than at first is none that is looked for.
func TestSearch(t *testing.T) {
	found, err := Search(Config{Clients: clients()}, mirrored(), 1, 10)
	require.NoError(t, err)
	require.Nil(t, found)

	gives := func(context.Context, *rest.Config) error { return errors.New("out of luck") }
	found, err = Search(Config{Clients: map[string]Client{"mirror": gives}}, Generator{Client: "mirror"}, 7, 1)
	require.NoError(t, err)
	require.Equal(t, uint64(7), found.Seed)
	require.Equal(t, "run mirror\nadvance 30m0s\n", found.Text)
	require.ErrorContains(t, found.Err, "at the end: expected no error of client mirror; saw out of luck")
	require.Contains(t, found.String(), "2 are needed; this is the file that shows it:\n\nrun mirror\n")

	_, err = Search(Config{}, Generator{Object: func(*rand.Rand, string) string { return "" }}, 1, 1)
	require.ErrorContains(t, err, "expected an object, found nothing")
}

// Every seed is survived by a correct client: client-go's informer.
func FuzzGenerate(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed, uint8(seed*3))
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps uint8) {
		g := mirrored()
		g.Steps = int(steps % 60)
		Explore(t, Config{Seed: seed, Clients: clients()}, g, seed, 1)
		Explore(t, Config{Seed: seed}, Generator{Steps: g.Steps}, seed, 1)
	})
}
