package garbagecollection

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// TestRandomOwnerGraphs compares the server with the model after each of a few random operations on
// a random graph.
func TestRandomOwnerGraphs(t *testing.T) {
	for seed := range uint64(200) {
		var opts []fakeapi.Option
		if seed%2 == 0 {
			opts = append(opts, fakeapi.WithoutControllers())
		}
		runTest(t, func(p *environment) {
			rng := rand.New(rand.NewPCG(seed, 1))
			w := randomGraph(rng)
			steps := []string{fmt.Sprintf("seed %d", seed), w.String()}
			var objects []runtime.Object
			for _, name := range w.names() {
				objects = append(objects, w[name].object(name))
			}
			require.NoError(p, p.srv.Load(objects...))
			for step := 0; ; step++ {
				synctest.Wait()
				require.NoError(p, p.srv.RunControllers(p.Context()))
				w.run()
				require.Equal(p, w.String(), p.serverGraph().String(), "%s", strings.Join(steps, "\n"))
				if step == 8 || len(w) == 0 {
					return
				}
				steps = append(steps, p.doRandom(rng, w))
			}
		}, opts...)
	}
}
