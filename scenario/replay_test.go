//go:debug randseednop=0

package scenario_test

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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
)

// playTwice plays a generated scenario twice and returns the transcripts.
func playTwice(t *testing.T, g scenario.Generator, config scenario.Config, seed uint64) (one, two *scenario.Transcript) {
	t.Helper()
	steps, err := g.Generate(seed)
	require.NoError(t, err)
	text, err := scenario.Print(steps...)
	require.NoError(t, err)
	name := fmt.Sprintf("seed-%d.txtar", seed)
	config.Seed = seed
	one, err = scenario.Play(name, text, config)
	require.NoError(t, err)
	two, err = scenario.Play(name, text, config)
	require.NoError(t, err)
	return one, two
}

// If the steps are the only clients, transcripts with the same seed are equal, with any number of
// processors.
func TestReplay(t *testing.T) {
	for _, processors := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(processors), func(t *testing.T) {
			before := runtime.GOMAXPROCS(processors)
			defer runtime.GOMAXPROCS(before)
			for seed := range seeds() {
				one, two := playTwice(t, scenario.Generator{Steps: 30}, scenario.Config{}, seed)
				require.Empty(t, cmp.Diff(one.String(), two.String()), "seed %d", seed)
			}
		})
	}
}

// pollingMirror is a correct mirror with one goroutine. It compares both namespaces every minute.
func pollingMirror(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	for err == nil && ctx.Err() == nil {
		syncOnce(ctx, client)
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
		}
	}
	return err
}

// syncOnce makes the copies equal to the originals. Errors are retried by the next call.
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

// copyTo makes an object equal to source, or deletes it if source is nil.
func copyTo(ctx context.Context, to typedv1.ConfigMapInterface, name string, source *corev1.ConfigMap) error {
	if source == nil {
		return to.Delete(ctx, name, metav1.DeleteOptions{})
	}
	replica := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: source.Data}
	_, err := to.Update(ctx, replica, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = to.Create(ctx, replica, metav1.CreateOptions{})
	}
	return err
}

// A client that sends its requests from one goroutine always has the same logs.
func TestReplayOfClient(t *testing.T) {
	for _, processors := range []int{1, 8} {
		before := runtime.GOMAXPROCS(processors)
		defer runtime.GOMAXPROCS(before)
		for seed := range seeds() {
			one, two := playTwice(t, mirrorGenerator(), mirrorConfig(pollingMirror), seed)
			require.NotEmpty(t, one.ClientLogs()["mirror /api/v1/namespaces/default/configmaps"])
			require.Empty(t, cmp.Diff(one.ClientLogs(), two.ClientLogs()), "seed %d", seed)
		}
	}
}

// A client with an informer and a queue depends on the scheduling of its goroutines: its worker may
// process two simultaneous events together. It always converges, and usually has the same logs.
func TestReplayOfInformer(t *testing.T) {
	same := 0
	for seed := range 2 * seeds() {
		one, two := playTwice(t, mirrorGenerator(), mirrorConfig(informer(t)), seed)
		require.NotEmpty(t, one.ClientLogs()["mirror /api/v1/namespaces/default/configmaps"])
		if cmp.Equal(one.ClientLogs(), two.ClientLogs()) {
			same++
		}
	}
	require.Greater(t, same, int(seeds()))
}
