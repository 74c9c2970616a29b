package builtintypes

import (
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAppliesAreRepeatable applies the objects of all cases, and variants of them, twice. The second
// apply changes nothing. The server does not evaluate an equal request again, so the second one has a
// parameter more, which has its default.
func TestAppliesAreRepeatable(t *testing.T) {
	variants := 3
	if testing.Short() {
		variants = 1
	}
	seed := rand.Uint64()
	paths := collections(t)
	for _, c := range append(casesIn(t, "stored"), casesIn(t, "validation")...) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p := &player{server: startServer(t), paths: paths, symbols: symbols{"$ns": namespace, "$id": id}}
			for _, body := range c.Setup {
				require.Empty(t, p.create(body, expectation{}))
			}
			r := rand.New(rand.NewPCG(seed, 0))
			for i := range variants {
				resolved, err := p.symbols.resolve(c.Create)
				require.NoError(t, err)
				body := resolved.(object)
				for range i {
					mutate(r, body)
				}
				p.applyTwice(t, body)
			}
		})
	}
}

// applyTwice applies an object twice if it has a name.
func (p *player) applyTwice(t *testing.T, body object) {
	name, _ := lookup(body, []string{"metadata", "name"}).(string)
	if name == "" {
		return
	}
	path := p.paths[[2]string{body["apiVersion"].(string), body["kind"].(string)}] + "/" + name + "?fieldManager=a&force=true"
	code, first, err := p.send(http.MethodPatch, path, applyPatchType, body)
	require.NoError(t, err)
	if code >= 300 {
		return
	}
	code, second, err := p.send(http.MethodPatch, path+"&fieldValidation=Warn", applyPatchType, body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, code, "%v\n%v", second, body)
	require.Equal(t, first, second, body)
}
