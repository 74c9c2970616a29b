package perturb

import (
	"bufio"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
)

// orderConfig returns the configuration for a controller named c, and a workload that creates a
// ConfigMap with the label order, and may delete it.
func orderConfig(controller scenario.Client, deletes bool) Config {
	config := Config{
		Controllers: map[string]scenario.Client{"c": controller},
		Workload:    []scenario.Step{scenario.Apply("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {order: new}}\n")},
		Recovery:    2 * time.Minute,
	}
	if deletes {
		config.Workload = append(config.Workload, scenario.Delete(scenario.Ref{Kind: "configmap", Name: "a"}))
	}
	return config
}

// findingsOf returns the names of what a kind of perturbations finds, and the number of its
// perturbations.
func findingsOf(t *testing.T, kind Kind, config Config) (names []string, count int) {
	t.Helper()
	config, err := config.withDefaults()
	require.NoError(t, err)
	r, err := newReference(t.Context(), &config)
	require.NoError(t, err)
	s := &search{ctx: t.Context(), config: &config, r: r, groups: map[string]*group{}, quiet: map[string]normalState{}, kinds: map[string]int{}}
	s.state, err = loadProgress("")
	require.NoError(t, err)
	all := kind.find(r, config.Full)
	for _, p := range all {
		s.perturb(p, len(all))
	}
	require.NoError(t, s.err)
	require.Empty(t, s.inconclusive)
	require.Zero(t, s.missed)
	return slices.Sorted(maps.Keys(s.groups)), len(all)
}

// create creates a ConfigMap. An error is that of an object that exists.
func create(ctx context.Context, config *rest.Config, name string) {
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, _ = kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default").Create(ctx, made, metav1.CreateOptions{})
}

// Two instances are run only with Config.Full. A controller whose instances write objects of their
// own is found.
func TestTwin(t *testing.T) {
	config := orderConfig(func(ctx context.Context, config *rest.Config) error {
		create(ctx, config, "of-"+config.UserAgent)
		<-ctx.Done()
		return nil
	}, false)
	_, count := findingsOf(t, twinKind(), config)
	require.Zero(t, count)
	config.Full = true
	names, count := findingsOf(t, twinKind(), config)
	require.Equal(t, []string{"state configmaps default/of-second-c (twin)"}, names)
	require.Equal(t, 2, count, "before the step, and at the end")

	config.Controllers["c"] = func(ctx context.Context, config *rest.Config) error {
		create(ctx, config, "of-all")
		<-ctx.Done()
		return nil
	}
	names, count = findingsOf(t, twinKind(), config)
	require.Empty(t, names)
	require.Equal(t, 2, count)
}

// A controller that needs bookmarks is found.
func TestBookmarks(t *testing.T) {
	names, count := findingsOf(t, bookmarkKind(), orderConfig(func(ctx context.Context, config *rest.Config) error {
		options := metav1.ListOptions{AllowWatchBookmarks: true, LabelSelector: "order"}
		w, err := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default").Watch(ctx, options)
		if err != nil {
			return err
		}
		for event := range w.ResultChan() {
			if event.Type == watch.Bookmark && len(event.Object.(*corev1.ConfigMap).Annotations) == 0 { // not that of the initial events
				create(ctx, config, "marked")
			}
		}
		return nil
	}, false))
	require.Equal(t, []string{"state configmaps default/marked (bookmarks)"}, names)
	require.Equal(t, 1, count)
}

// A watch is reset, and with Config.Full it also ends cleanly. A controller that does not watch
// again after a clean end is found only then.
func TestCut(t *testing.T) {
	config := orderConfig(func(ctx context.Context, config *rest.Config) error {
		client := kubernetes.NewForConfigOrDie(config).CoreV1().RESTClient()
		for ctx.Err() == nil {
			stream, err := client.Get().Namespace("default").Resource("configmaps").Param("watch", "true").Param("labelSelector", "order").Stream(ctx)
			if err != nil {
				return err
			}
			lines := bufio.NewScanner(stream)
			for lines.Scan() {
				var event struct{ Object metav1.PartialObjectMetadata }
				if json.Unmarshal(lines.Bytes(), &event) == nil {
					create(ctx, config, "copy-of-"+event.Object.Name)
				}
			}
			_ = stream.Close()
			if lines.Err() == nil { // that is the bug
				<-ctx.Done()
			}
		}
		return nil
	}, false)
	names, count := findingsOf(t, cutKind(), config)
	require.Empty(t, names)
	require.Positive(t, count)
	config.Full = true
	names, countFull := findingsOf(t, cutKind(), config)
	require.Equal(t, []string{"state configmaps default/copy-of-a (cut)"}, names)
	require.Greater(t, countFull, count)
}
