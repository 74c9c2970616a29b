package fakeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// testBothEncodings runs a test with typed clients that use JSON and protobuf.
func testBothEncodings(t *testing.T, test func(t *testing.T, set *faults.Set, client typedcorev1.ConfigMapInterface, protobuf bool)) {
	for name, contentType := range map[string]string{"json": "application/json", "protobuf": "application/vnd.kubernetes.protobuf"} {
		t.Run(name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithObjects(configMap("a", "1"), configMap("b", "2"), configMap("c", "3")))
			cfg := srv.RESTConfig()
			cfg.ContentType, cfg.AcceptContentTypes = contentType, contentType
			test(t, srv.Faults(), kubernetes.NewForConfigOrDie(cfg).CoreV1().ConfigMaps("default"), name == "protobuf")
		})
	}
}

func addRules(t *testing.T, set *faults.Set, rules ...string) {
	for _, text := range rules {
		rule, err := faults.Parse(text)
		require.NoError(t, err)
		set.AddFor(t, rule)
	}
}

func TestFaultsEditLists(t *testing.T) {
	testBothEncodings(t, func(t *testing.T, set *faults.Set, client typedcorev1.ConfigMapInterface, protobuf bool) {
		page := metav1.ListOptions{Limit: 2}
		addRules(t, set, "when verb(list) do remove(/metadata/continue), set(/metadata/remainingItemCount, json(-1)), remove(/items/0)")
		list, err := client.List(t.Context(), page)
		require.NoError(t, err)
		require.Empty(t, list.Continue)
		require.EqualValues(t, -1, *list.RemainingItemCount)
		require.Len(t, list.Items, 1)
		require.Equal(t, map[string]string{"k": "2"}, list.Items[0].Data, "the other fields are unchanged")
		set.MustHit(t)
		set.Clear()

		addRules(t, set, `when verb(list) do set(/items, json("[]"))`)
		list, err = client.List(t.Context(), page)
		require.NoError(t, err)
		require.Empty(t, list.Items)
		require.NotEmpty(t, list.Continue)
		set.MustHit(t)
		set.Clear()

		addRules(t, set, "when verb(get) do set(/data/k, 9)")
		got, err := client.Get(t.Context(), "a", metav1.GetOptions{})
		if protobuf {
			require.True(t, apierrors.IsInternalError(err))
			require.ErrorContains(t, err, "use a client that accepts application/json")
			return
		}
		require.NoError(t, err)
		require.Equal(t, "9", got.Data["k"])
	})
}

func TestFaultsIgnoreUnknownBodies(t *testing.T) {
	testBothEncodings(t, func(t *testing.T, set *faults.Set, client typedcorev1.ConfigMapInterface, _ bool) {
		addRules(t, set, `when verb(get) do overwrite(0, "x8s\x00")`)
		_, err := client.Get(t.Context(), "a", metav1.GetOptions{})
		require.Error(t, err)
		set.MustHit(t)
	})
}

func TestFaultsEditWatchFrames(t *testing.T) {
	testBothEncodings(t, func(t *testing.T, set *faults.Set, client typedcorev1.ConfigMapInterface, _ bool) {
		addRules(t, set,
			"when event(ADDED) && name(a) do reorder",
			`when event(ADDED) && name(c) do set(/type, MODIFIED), set(/object/metadata/resourceVersion, "")`,
			"when initialEventsEnd do remove(/object/metadata/annotations)")
		yes := true
		w, err := client.Watch(t.Context(), metav1.ListOptions{
			SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
		})
		require.NoError(t, err)
		defer w.Stop()
		var seen []string
		for e := range w.ResultChan() {
			object, err := metadataOf(e)
			require.NoError(t, err)
			line := string(e.Type) + " " + object.GetName()
			if object.GetResourceVersion() == "" {
				line += " without resourceVersion"
			}
			seen = append(seen, line)
			if e.Type == watch.Bookmark {
				require.Empty(t, object.GetAnnotations())
				break
			}
		}
		require.Equal(t, []string{"ADDED b", "ADDED a", "MODIFIED c without resourceVersion", "BOOKMARK "}, seen)
		set.MustHit(t)
	})
}

// metadataOf returns the metadata of an event's object.
func metadataOf(e watch.Event) (metav1.Object, error) { return meta.Accessor(e.Object) }
