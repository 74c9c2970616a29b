package managedfields

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fakeapi/fake/internal/resource/builtin"
)

// An apply patch with too many fields in one object is refused.
func TestAppliedFieldsAreBounded(t *testing.T) {
	manager, err := BuiltinFieldManager(builtin.Table().Lookup("", "v1", "configmaps"), "")
	require.NoError(t, err)
	for n, tooLarge := range map[int]bool{10: false, maxAppliedFields + 1: true} {
		data := map[string]any{}
		for i := range n {
			data[fmt.Sprint("k", i)] = "v"
		}
		_, err := manager.ApplyConfig(nil, map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": "default"}, "data": data,
		}, "m", false)
		require.Equal(t, tooLarge, err != nil, n)
		require.Equal(t, tooLarge, apierrors.IsRequestEntityTooLargeError(err), n)
	}
	require.NoError(t, checkFields([]any{map[string]any{"a": []any{1, "x", nil}}}))
	large := map[string]any{}
	for i := range maxAppliedFields + 1 {
		large[fmt.Sprint(i)] = 1
	}
	require.Error(t, checkFields(map[string]any{"spec": []any{large}}))
}
