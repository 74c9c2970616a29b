package patch

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/fake/internal/jsonvalue"
)

// randomJSON returns a value, with the names that others have, too.
func randomJSON(r *rand.Rand, depth int) string {
	kind := r.IntN(7)
	if depth == 0 {
		kind = r.IntN(4)
	}
	switch kind {
	case 0:
		return "null"
	case 1:
		return []string{`"a"`, `"<é\n>"`, `""`, `true`}[r.IntN(4)]
	case 2, 3:
		return []string{`0`, `-0`, `1.0`, `1e2`, `2.5`, `9223372036854775808`}[r.IntN(6)]
	case 4:
		var items []string
		for range r.IntN(3) {
			items = append(items, randomJSON(r, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return randomObject(r, depth-1)
}

func randomObject(r *rand.Rand, depth int) string {
	var fields []string
	for _, name := range []string{"a", "b", "c", "<"} {
		if r.IntN(2) == 0 {
			fields = append(fields, fmt.Sprintf("%q:%s", name, randomJSON(r, depth)))
		}
	}
	if r.IntN(30) == 0 {
		fields = append(fields, `"a":1`, `"a":2`)
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// requireSameResult compares ApplyUntyped with Apply, and reports whether it supports the patch.
func requireSameResult(t *testing.T, kind types.PatchType, object, body string) bool {
	t.Helper()
	decoded, err := jsonvalue.Decode([]byte(object))
	require.NoError(t, err)
	data, err := jsonvalue.Append(nil, decoded)
	require.NoError(t, err)
	decoded, err = jsonvalue.Decode(data) // as the server decodes it from the store
	require.NoError(t, err)
	before := runtime.DeepCopyJSON(decoded)
	p, err := Parse(kind, []byte(body), true)
	if err != nil {
		return false
	}
	for range 2 { // a patch can be applied again
		patched, ok := p.ApplyUntyped(decoded)
		if !ok {
			return false
		}
		result, err := p.Apply(&unstructured.Unstructured{Object: decoded})
		require.NoError(t, err, "%s %s", object, body)
		want, err := jsonvalue.Decode(result.JSON)
		require.NoError(t, err)
		require.Equal(t, want, patched, "%s %s", object, body)
		require.Equal(t, before, decoded, "%s %s", object, body)
		addToAll(patched, decoded)
	}
	return true
}

func requireSameMerge(t *testing.T, object, body string) bool {
	t.Helper()
	return requireSameResult(t, types.MergePatchType, object, body)
}

// addToAll changes the objects in merged that are not shared with old.
func addToAll(merged, old map[string]any) {
	for name, value := range merged {
		if object, ok := value.(map[string]any); ok {
			was, _ := old[name].(map[string]any)
			if !jsonvalue.Equal(object, was) {
				addToAll(object, was)
			}
		}
	}
	merged["added"] = true
}

func TestMergePatchAsLibrary(t *testing.T) {
	supported := 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		if requireSameMerge(t, randomObject(r, 3), randomObject(r, 3)) {
			supported++
		}
	}
	require.Greater(t, supported, 15_000)
	require.True(t, requireSameMerge(t, `{"spec":{"a":{"b":1}}}`, `{"spec":{"a":[{"x":null},null]}}`))
	require.True(t, requireSameMerge(t, `{"spec":{"a":1}}`, `{"spec":{"a":[{"x":null},null]}}`))
	require.True(t, requireSameMerge(t, `{"spec":null}`, `{"spec":{"a":null}}`))
	require.False(t, requireSameMerge(t, `{}`, `{"a":1,"a":2}`))
	require.False(t, requireSameMerge(t, `{}`, `[]`))
	require.False(t, requireSameMerge(t, `{}`, `null`))
}

// Strategic merge patches, and merge patches that were not decoded, are not applied.
func TestApplyUntypedToOtherPatches(t *testing.T) {
	for kind, strict := range map[types.PatchType]bool{types.StrategicMergePatchType: true, types.MergePatchType: false} {
		p, err := Parse(kind, []byte(`{}`), strict)
		require.NoError(t, err)
		_, ok := p.ApplyUntyped(map[string]any{})
		require.False(t, ok, kind)
	}
}
