package structural

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apimachinery/pkg/runtime"
)

// values are tried for each field of metadata. If isCanonicalMetadata accepts one,
// apiextensions-apiserver must return it unchanged and without error.
var values = []any{
	nil, "", "x", "1", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05+01:00", "2026-01-02T03:04:05.5Z", "0001-01-01T00:00:00Z",
	int64(0), int64(1), 1.5, true,
	map[string]any{}, map[string]any{"a": "b"}, map[string]any{"a": ""}, map[string]any{"a": int64(1)}, map[string]any{"a": nil},
	[]any{}, []any{"a"}, []any{""}, []any{nil}, []any{int64(1)}, []any{map[string]any{}},
	[]any{map[string]any{"manager": "m", "operation": "Update", "time": "2026-01-02T03:04:05Z", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:a": map[string]any{}}}},
	[]any{map[string]any{"manager": ""}},
	[]any{map[string]any{"manager": "m", "fieldsV1": nil}},
	[]any{map[string]any{"manager": "m", "nope": "x"}},
	[]any{map[string]any{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}},
	[]any{map[string]any{"apiVersion": "", "kind": "", "name": "", "uid": "", "controller": true, "blockOwnerDeletion": false}},
	[]any{map[string]any{"apiVersion": "v1", "kind": "K", "name": "n"}},
	[]any{map[string]any{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u", "controller": nil}},
	[]any{map[string]any{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u", "nope": true}},
}

func TestCanonicalMetadata(t *testing.T) {
	names := []string{"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
		"deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "finalizers", "managedFields", "ownerReferences", "nope"}
	yes := map[string]int{}
	for _, name := range names {
		for _, value := range values {
			metadata := map[string]any{"name": "w", name: value}
			if !isCanonicalMetadata(metadata, false) {
				continue
			}
			yes[name]++
			obj := map[string]any{"metadata": runtime.DeepCopyJSON(metadata)}
			meta, _, unknown, err := objectmeta.GetObjectMetaWithOptions(obj, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
			require.NoError(t, err, metadata)
			require.Empty(t, unknown, metadata)
			require.NoError(t, objectmeta.SetObjectMeta(obj, meta))
			require.Equal(t, metadata, obj["metadata"])
		}
	}
	require.Equal(t, []string{"annotations", "creationTimestamp", "deletionGracePeriodSeconds",
		"deletionTimestamp", "finalizers", "generateName", "generation", "labels",
		"managedFields", "name", "namespace", "ownerReferences", "resourceVersion", "selfLink", "uid"}, slices.Sorted(maps.Keys(yes)))
	require.False(t, isCanonicalMetadata(map[string]any{"name": "w"}, true), "generation is required")
}
