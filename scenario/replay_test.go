//go:debug randseednop=0

package scenario

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// replays plays a generated scenario twice, and gives the transcripts.
func replays(t *testing.T, g Generator, config Config, seed uint64) (one, two *Transcript) {
	t.Helper()
	steps, err := g.Generate(seed)
	require.NoError(t, err)
	text, err := Print(steps...)
	require.NoError(t, err)
	name := fmt.Sprintf("seed-%d.txtar", seed)
	config.Seed = seed
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
			for seed := range uint64(70) {
				one, two := replays(t, Generator{Steps: 30}, Config{}, seed)
				require.Empty(t, cmp.Diff(one.String(), two.String()), "seed %d", seed)
			}
		})
	}
}

// pollingMirror is a correct mirror with one goroutine: it compares both namespaces every
// minute.
func pollingMirror(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	for ; err == nil; err = sleep(ctx, time.Minute) {
		syncOnce(ctx, client)
	}
	return err
}

// syncOnce makes the copies like the originals; what goes wrong, the next does.
func syncOnce(ctx context.Context, client kubernetes.Interface) {
	from, err := client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	to := client.CoreV1().ConfigMaps("mirror")
	old, err := to.List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	wanted := map[string]*corev1.ConfigMap{}
	for i := range from.Items {
		wanted[from.Items[i].Name] = &from.Items[i]
	}
	for _, o := range old.Items {
		if source := wanted[o.Name]; source == nil || !maps.Equal(source.Data, o.Data) {
			_ = copyTo(ctx, to, o.Name, source)
		}
		delete(wanted, o.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		_ = copyTo(ctx, to, name, wanted[name])
	}
}

// A client that makes its requests from one goroutine has the same lanes, always.
func TestReplayOfClient(t *testing.T) {
	for _, processors := range []int{1, 8} {
		before := runtime.GOMAXPROCS(processors)
		defer runtime.GOMAXPROCS(before)
		for seed := range uint64(15) {
			one, two := replays(t, mirrored(), Config{Clients: map[string]Client{"mirror": pollingMirror}}, seed)
			require.NotEmpty(t, one.Lanes()["mirror /api/v1/namespaces/default/configmaps"])
			require.Empty(t, cmp.Diff(one.Lanes(), two.Lanes()), "seed %d", seed)
		}
	}
}

// One with an informer and a queue races with itself: what its worker takes
// together, when two events come at the same time, is not decided by the seed.
// It converges always, and nearly always has the same lanes.
func TestReplayOfInformer(t *testing.T) {
	const seeds = 40
	same := 0
	for seed := range uint64(seeds) {
		one, two := replays(t, mirrored(), Config{Clients: clients()}, seed)
		require.NotEmpty(t, one.Lanes()["mirror /api/v1/namespaces/default/configmaps"])
		if cmp.Equal(one.Lanes(), two.Lanes()) {
			same++
		}
	}
	require.Greater(t, same, seeds/2)
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
