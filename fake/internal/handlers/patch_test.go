package handlers

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/patch"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/memstore"
)

// Common patches are applied without encoding the object. The others, and those that are not
// valid, are left to the library.
func TestTryPatchTyped(t *testing.T) {
	table := builtin.Table()
	deployments := table.Lookup("apps", "v1", "deployments")
	stored := &memstore.Record{Data: []byte(`{"metadata":{"name":"a","annotations":{"a":"1","b":"2"},"resourceVersion":"1"},
		"spec":{"replicas":1,"selector":null,"template":{"metadata":{},"spec":{"containers":[{"name":"c"}]}},"strategy":{}},"status":{}}`)}
	for _, tt := range []struct {
		kind types.PatchType
		body string
		want bool
	}{
		{types.MergePatchType, `{"spec":{"replicas":2}}`, true},
		{types.MergePatchType, `{"metadata":{"annotations":{"a":null,"c":"3"},"finalizers":["x"],"resourceVersion":"7"}}`, true},
		{types.MergePatchType, `{"kind":"Deployment","apiVersion":"apps/v1","status":{"conditions":[{"type":"T"}]}}`, true},
		{types.MergePatchType, `{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null},"template":null}}`, true},
		{types.MergePatchType, `{"spec":{"selector":{"matchLabels":{"a":"é\n"}}}}`, true},
		{types.MergePatchType, `{"spec":{"unknown":2}}`, false},
		{types.MergePatchType, `{"spec":{"replicas":"2"}}`, false},
		{types.MergePatchType, `{"spec":{"replicas":2,"replicas":3}}`, false},
		{types.MergePatchType, `{"metadata":{"annotations":{"deprecated.deployment.rollback.to":"2"}}}`, true},
		{types.MergePatchType, `{"metadata":{"annotations":{"deprecated.deployment.rollback.to":"x"}}}`, false},
		{types.MergePatchType, `{"kind":"Pod"}`, false},
		{types.MergePatchType, `{"kind":null}`, false},
		{types.MergePatchType, `{"metadata":{"labels":{"a":null}}}`, false},
		{types.MergePatchType, `{"spec":{"template":{"spec":{"volumes":[null]}}}}`, false},
		{types.MergePatchType, `{"metadata":{"managedFields":[{"fieldsV1":{}}]}}`, false},
		{types.MergePatchType, `[]`, false},
		{types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"},{"name":"d"}]}}}}`, true},
		{types.StrategicMergePatchType, `{"kind":"Pod","spec":{"replicas":2}}`, true},
		{types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"c","$patch":"delete"}]}}}}`, false},
		{types.StrategicMergePatchType, `{"spec":{"replicas":2,"replicas":3}}`, false},
		{types.JSONPatchType, `[]`, true},
		{types.JSONPatchType, `[{"op":"test","path":"/metadata/resourceVersion","value":"1"},{"op":"replace","path":"/spec/replicas","value":2},{"op":"remove","path":"/metadata/annotations/a"}]`, true},
		{types.JSONPatchType, `[{"op":"replace","path":"/kind","value":"Pod"}]`, false},
		{types.JSONPatchType, `[{"op":"remove","path":"/kind"}]`, false},
		{types.JSONPatchType, `[{"op":"add","path":"/spec/replicas","value":null}]`, false},
		{types.JSONPatchType, `[{"op":"add","path":"/spec/paused","value":true,"other":1}]`, false},
		{types.JSONPatchType, `[{"op":"add","path":1,"value":true}]`, false},
	} {
		q := &request{res: deployments, parent: deployments}
		p, err := patch.Parse(tt.kind, []byte(tt.body), true)
		if err != nil {
			require.False(t, tt.want, "%s: %v", tt.body, err)
			continue
		}
		old, err := codec.DecodeStored(deployments, stored)
		require.NoError(t, err)
		same, err := codec.DecodeStored(deployments, stored)
		require.NoError(t, err)
		got, ok := q.tryPatchTyped(p, old)
		require.Equal(t, tt.want, ok, tt.body)
		require.Equal(t, same, old, tt.body)
		if !ok {
			continue
		}
		result, err := p.Apply(old)
		require.NoError(t, err)
		var expected runtime.Object
		var warnings []error
		if tt.kind == types.StrategicMergePatchType {
			expected, warnings, err = codec.DecodeMerged(deployments, result.Fields, "Strict", nil)
		} else {
			expected, warnings, err = codec.DecodePatched(deployments, result.JSON, "Strict", nil)
		}
		require.NoError(t, err)
		require.Empty(t, warnings)
		require.Equal(t, expected, got, tt.body)
	}

	// Patches of Scales, and in a version that is not stored.
	old, err := codec.DecodeStored(deployments, stored)
	require.NoError(t, err)
	p, err := patch.Parse(types.MergePatchType, []byte(`{}`), true)
	require.NoError(t, err)
	_, ok := (&request{res: deployments.Subresource("scale").BodyResource(), parent: deployments}).tryPatchTyped(p, old)
	require.False(t, ok)
	autoscalers := table.Lookup("autoscaling", "v1", "horizontalpodautoscalers")
	require.NotEqual(t, autoscalers.GroupVersion(), autoscalers.StorageVersion)
	_, ok = (&request{res: autoscalers, parent: autoscalers}).tryPatchTyped(p, old)
	require.False(t, ok)
}
