//go:debug randseednop=0

package scenario

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// replays plays a generated scenario twice, and gives the transcripts.
func replays(t *testing.T, g Generator, seed uint64) (one, two *Transcript) {
	t.Helper()
	steps, err := g.Generate(seed)
	require.NoError(t, err)
	text, err := Print(steps...)
	require.NoError(t, err)
	name := fmt.Sprintf("seed-%d.txtar", seed)
	config := Config{Seed: seed, Clients: clients()}
	one, err = Play(name, text, config)
	require.NoError(t, err)
	two, err = Play(name, text, config)
	require.NoError(t, err)
	return one, two
}

// Where steps are the only clients, the same seed gives the same bytes, however
// many processors there are.
func TestReplay(t *testing.T) {
	for _, processors := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(processors), func(t *testing.T) {
			before := runtime.GOMAXPROCS(processors)
			defer runtime.GOMAXPROCS(before)
			for seed := range uint64(100) {
				one, two := replays(t, Generator{Steps: 30}, seed)
				require.Empty(t, cmp.Diff(one.String(), two.String()), "seed %d", seed)
			}
		})
	}
}

// With a client under test its lanes are the same.
func TestReplayOfClient(t *testing.T) {
	for seed := range uint64(60) {
		one, two := replays(t, mirrored(), seed)
		require.NotEmpty(t, one.Lanes()["mirror /api/v1/namespaces/default/configmaps"])
		require.Empty(t, cmp.Diff(one.Lanes(), two.Lanes()), "seed %d", seed)
	}
}

// What a lane keeps of a request.
func TestLanes(t *testing.T) {
	log := &Transcript{}
	mine := log.lane("mine")
	for _, line := range []string{
		"GET /a?resourceVersion=0&timeout=5m3s&timeoutSeconds=303&watch=true 200",
		"PUT /b no answer",
		"GET /a?resourceVersion=17 504 Retry-After 2",
	} {
		mine.after(line)
	}
	looping := log.lane("looping")
	for range kept + 1 {
		looping.after("GET /a 200")
	}
	require.Equal(t, map[string][]string{
		"mine /a": {"GET?resourceVersion=0&watch=true 200", "GET?resourceVersion=... 504 Retry-After 2"},
		"mine /b": {"PUT no answer"},
		"looping": {"..."},
	}, log.Lanes())
}
