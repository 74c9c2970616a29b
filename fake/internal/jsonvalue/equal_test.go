package jsonvalue

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestEqualAsLibrary(t *testing.T) {
	same := map[string]any{"a": []any{math.NaN()}}
	values := []any{
		nil, "", "a", true, false, int64(0), int64(1), 0.0, 1.0, math.NaN(), math.Copysign(0, -1), int32(1), []string{"a"}, []string(nil), []string{},
		map[string]any{}, map[string]any(nil), []any{}, []any(nil), map[string]any{"a": nil}, map[string]any{"b": nil}, same, same["a"],
		map[string]any{"a": map[string]any(nil)}, map[string]any{"a": map[string]any{}}, []any{nil}, []any{[]any(nil)}, []any{[]any{}},
		map[string]any{"a": int64(1), "b": "x"}, map[string]any{"a": int64(1), "b": "y"}, []any{int64(1), "x"}, []any{int64(1), "x", nil},
		resource.MustParse("1"), resource.MustParse("1000m"), []any{resource.MustParse("1")}, []any{resource.MustParse("1000m")},
	}
	for _, a := range values {
		for _, b := range values {
			require.Equal(t, reflect.DeepEqual(a, b), Equal(a, b), "%#v %#v", a, b)
			require.Equal(t, equality.Semantic.DeepEqual(a, b), SemanticEqual(a, b), "%#v %#v", a, b)
		}
	}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		object, ok := decodeObject([]byte(randomText(r, 4)))
		if !ok {
			continue
		}
		other := runtime.DeepCopyJSON(object)
		require.True(t, Equal(object, other) && SemanticEqual(object, other), seed)
		change(r, other)
		require.Equal(t, reflect.DeepEqual(object, other), Equal(object, other), seed)
		require.Equal(t, equality.Semantic.DeepEqual(object, other), SemanticEqual(object, other), seed)
	}
}

// change changes, adds or removes a value somewhere in an object.
func change(r *rand.Rand, object map[string]any) {
	for name, value := range object {
		switch value := value.(type) {
		case map[string]any:
			change(r, value)
			return
		case []any:
			if len(value) > 0 {
				value[r.IntN(len(value))] = "changed"
				return
			}
		}
		if r.IntN(2) == 0 {
			object[name] = int64(r.IntN(3))
		} else {
			delete(object, name)
		}
		return
	}
	object["added"] = nil
}
