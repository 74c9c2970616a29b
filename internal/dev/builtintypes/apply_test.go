package builtintypes

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// TestRepeatedApplies applies the objects of all cases, and variants of them, twice to two servers.
// A server may know without an evaluation that a request changes nothing. The second request to the
// other server has one more parameter, with its default, so that it is evaluated. Both have the
// same result.
func TestRepeatedApplies(t *testing.T) {
	variants := 4
	if testing.Short() {
		variants = 1
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	paths := collections(t)
	for _, c := range append(casesIn(t, "stored"), casesIn(t, "validation")...) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // virtual time, so that both servers have the same
				var players [2]*player
				for i := range players {
					p := &player{server: startServer(t), paths: paths, symbols: symbols{"$ns": namespace, "$id": id}}
					for _, body := range c.Setup {
						require.Empty(t, p.create(body, expectation{}))
					}
					players[i] = p
				}
				r := rand.New(rand.NewPCG(seed, 0))
				for i := range variants {
					resolved, err := players[0].symbols.resolve(c.Create)
					require.NoError(t, err)
					body := resolved.(object)
					for range i {
						mutate(r, body)
					}
					requireSameRepeat(t, players, body)
				}
			})
		})
	}
}

// requireSameRepeat applies an object twice to each server if it has a name.
func requireSameRepeat(t *testing.T, players [2]*player, body object) {
	name, _ := lookup(body, []string{"metadata", "name"}).(string)
	if name == "" {
		return
	}
	type result struct {
		code                        int
		version, generation, status any
	}
	path := "/" + url.PathEscape(name) + "?fieldManager=a&force=true"
	var results [2][2]result
	for i, p := range players {
		path := p.paths[[2]string{body["apiVersion"].(string), body["kind"].(string)}] + path
		for j := range results[i] {
			if i == 1 && j == 1 {
				path += "&fieldValidation=Warn"
			}
			code, answer, err := p.send(http.MethodPatch, path, applyPatchType, body)
			require.NoError(t, err)
			results[i][j] = result{
				code, lookup(answer, []string{"metadata", "resourceVersion"}), lookup(answer, []string{"metadata", "generation"}), lookup(answer, []string{"status"}),
			}
		}
	}
	require.Equal(t, results[1], results[0], "%v", body)
}
