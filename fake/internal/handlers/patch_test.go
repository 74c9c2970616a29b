package handlers

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/patch"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/memstore"
)

// Common merge patches are applied without encoding the object. The others, and those that are not
// valid, are left to the library.
func TestTryMerge(t *testing.T) {
	table := builtin.Table()
	deployments := table.Lookup("apps", "v1", "deployments")
	stored := &memstore.Record{Data: []byte(`{"metadata":{"name":"a","annotations":{"a":"1","b":"2"},"resourceVersion":"1"},
		"spec":{"replicas":1,"selector":null,"template":{"metadata":{},"spec":{"containers":[{"name":"c"}]}},"strategy":{}},"status":{}}`)}
	for body, want := range map[string]bool{
		`{"spec":{"replicas":2}}`: true,
		`{"metadata":{"annotations":{"a":null,"c":"3"},"finalizers":["x"],"resourceVersion":"7"}}`: true,
		`{"kind":"Deployment","apiVersion":"apps/v1","status":{"conditions":[{"type":"T"}]}}`:      true,
		`{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null},"template":null}}`:           true,
		`{"spec":{"selector":{"matchLabels":{"a":"é\n"}}}}`:                                        true,

		`{"spec":{"unknown":2}}`:                            false,
		`{"spec":{"replicas":"2"}}`:                         false,
		`{"spec":{"replicas":2,"replicas":3}}`:              false,
		`{"kind":"Pod"}`:                                    false,
		`{"kind":null}`:                                     false,
		`{"metadata":{"labels":{"a":null}}}`:                false,
		`{"spec":{"template":{"spec":{"volumes":[null]}}}}`: false,
		`{"metadata":{"managedFields":[{"fieldsV1":{}}]}}`:  false,
		`[]`: false,
	} {
		q := &request{res: deployments, parent: deployments}
		p, err := patch.Parse(types.MergePatchType, []byte(body), true)
		if err != nil {
			require.False(t, want, "%s: %v", body, err)
			continue
		}
		old, err := codec.DecodeStored(deployments, stored)
		require.NoError(t, err)
		same, err := codec.DecodeStored(deployments, stored)
		require.NoError(t, err)
		got, ok := q.tryMergeTyped(p, old)
		require.Equal(t, want, ok, body)
		require.Equal(t, same, old, body)
		if !ok {
			continue
		}
		result, err := p.Apply(old)
		require.NoError(t, err)
		expected, warnings, err := codec.DecodePatched(deployments, result.JSON, "Strict", nil)
		require.NoError(t, err)
		require.Empty(t, warnings)
		require.Equal(t, expected, got, body)
	}

	// Patches of other types, of Scales, and in a version that is not stored.
	p, err := patch.Parse(types.JSONPatchType, []byte(`[]`), true)
	require.NoError(t, err)
	old, err := codec.DecodeStored(deployments, stored)
	require.NoError(t, err)
	_, ok := (&request{res: deployments, parent: deployments}).tryMergeTyped(p, old)
	require.False(t, ok)
	p, err = patch.Parse(types.MergePatchType, []byte(`{}`), true)
	require.NoError(t, err)
	_, ok = (&request{res: deployments.Subresource("scale").BodyResource(), parent: deployments}).tryMergeTyped(p, old)
	require.False(t, ok)
	autoscalers := table.Lookup("autoscaling", "v1", "horizontalpodautoscalers")
	require.NotEqual(t, autoscalers.GroupVersion(), autoscalers.StorageVersion)
	_, ok = (&request{res: autoscalers, parent: autoscalers}).tryMergeTyped(p, old)
	require.False(t, ok)
}
