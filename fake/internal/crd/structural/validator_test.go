package structural

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apimachinery "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/utils/ptr"
)

type props = apiextensions.JSONSchemaProps

// randomSchema returns a schema. Without types it is one for a branch.
func randomSchema(r *rand.Rand, depth int, hasType bool) props {
	s := props{}
	kind := r.IntN(5)
	if depth == 0 {
		kind = r.IntN(3)
	}
	s.Type = []string{"integer", "string", "number", "object", "array"}[kind]
	switch s.Type {
	case "integer", "number":
		s.Minimum, s.Maximum = ptr.To(float64(r.IntN(3))), ptr.To(float64(r.IntN(4)))
	case "string":
		s.MaxLength, s.Pattern = ptr.To(int64(r.IntN(3))), "^a"
		if r.IntN(3) == 0 {
			s.Enum = []apiextensions.JSON{"a", "ab"}
		}
	case "object":
		s.Required = []string{"b", "a"}
		s.MaxProperties = ptr.To(int64(1))
		if r.IntN(2) == 0 {
			value := randomSchema(r, depth-1, hasType)
			s.AdditionalProperties = &apiextensions.JSONSchemaPropsOrBool{Allows: true, Schema: &value}
		} else {
			s.Properties = map[string]props{"a": randomSchema(r, depth-1, hasType), "b": randomSchema(r, depth-1, hasType)}
		}
	case "array":
		item := randomSchema(r, depth-1, hasType)
		s.Items = &apiextensions.JSONSchemaPropsOrArray{Schema: &item}
		s.MaxItems = ptr.To(int64(r.IntN(3)))
		if hasType && item.Type == "object" && item.Properties != nil && r.IntN(2) == 0 {
			s.XListType, s.XListMapKeys = ptr.To("map"), []string{"a"}
		}
	}
	s.Nullable = r.IntN(3) == 0
	if !hasType {
		s.Type, s.Nullable = "", false
	}
	if depth > 0 {
		for _, list := range []*[]props{&s.AnyOf, &s.OneOf, &s.AllOf} {
			for range max(0, r.IntN(8)-5) {
				*list = append(*list, randomSchema(r, depth-1, false))
			}
		}
		if r.IntN(6) == 0 {
			not := randomSchema(r, depth-1, false)
			s.Not = &not
		}
	}
	return s
}

// randomValue returns a value, which mostly has the type of the schema.
func randomValue(r *rand.Rand, s *props, depth int) any {
	kind := s.Type
	if kind == "" || r.IntN(6) == 0 || depth == 0 {
		kind = []string{"integer", "string", "number", "null", "bool"}[r.IntN(5)]
	}
	switch kind {
	case "integer":
		return int64(r.IntN(5))
	case "number":
		return float64(r.IntN(5)) / 2
	case "string":
		return []string{"", "a", "ab", "abc", "b"}[r.IntN(5)]
	case "bool":
		return true
	case "object":
		value := map[string]any{}
		for _, name := range []string{"a", "b", "c"}[:r.IntN(4)] {
			switch property := s.Properties[name]; {
			case s.AdditionalProperties != nil:
				value[name] = randomValue(r, s.AdditionalProperties.Schema, depth-1)
			default:
				value[name] = randomValue(r, &property, depth-1)
			}
		}
		return value
	case "array":
		value := []any{}
		for range r.IntN(4) {
			value = append(value, randomValue(r, s.Items.Schema, depth-1))
		}
		return value
	}
	return nil
}

// texts returns the errors as they are in a Status.
func texts(errs field.ErrorList) []string {
	out := []string{}
	for _, err := range errs {
		out = append(out, fmt.Sprintf("%s %s: %s", err.Type, err.Field, err.ErrorBody()))
	}
	return out
}

// A validator has the errors of the library, for new and for updated values.
func TestValidatorHasErrorsOfLibrary(t *testing.T) {
	var invalid, ratcheted int
	for seed := range uint64(800) {
		r := rand.New(rand.NewPCG(seed, 1))
		root := randomSchema(r, 3, true)
		root.Type, root.Items, root.Properties, root.AdditionalProperties = "object", nil, map[string]props{"spec": randomSchema(r, 4, true), "kind": {Type: "integer"}}, nil
		library, _, err := validation.NewSchemaValidator(&root)
		require.NoError(t, err)
		own, err := newValidator(&root)
		require.NoError(t, err)
		spec := root.Properties["spec"]
		value := map[string]any{"spec": randomValue(r, &spec, 6), "kind": "K"}
		want := func() []string { return texts(validation.ValidateCustomResource(nil, value, library)) }
		got := func() []string { return texts(own.validate(t.Context(), nil, value, nil, maxErrors)) }
		requireSameErrors(t, want, got, seed)
		require.Equal(t, len(want()) == 0, own.isValid(t.Context(), value), seed)
		if own.checker.accepts(value) {
			require.Empty(t, want(), seed)
		}

		old := apimachinery.DeepCopyJSON(value)
		if r.IntN(2) == 0 {
			old["other"] = "x"
		}
		if list, ok := old["spec"].([]any); ok && len(list) > 0 && r.IntN(2) == 0 {
			old["spec"] = list[1:]
		}
		if fields, ok := old["spec"].(map[string]any); ok && len(fields) > 0 && r.IntN(2) == 0 {
			delete(fields, "a")
		}
		structural, _ := structuralschema.NewStructural(&root)
		if structural == nil {
			structural = &structuralschema.Structural{}
		}
		correlate := func() *common.CorrelatedObject {
			return common.NewCorrelatedObject(value, old, &model.Structural{Structural: structural})
		}
		before := len(want())
		want = func() []string {
			return texts(validation.ValidateCustomResourceUpdate(nil, value, old, library, validation.WithRatcheting(correlate())))
		}
		got = func() []string { return texts(own.validate(t.Context(), nil, value, correlate(), maxErrors)) }
		requireSameErrors(t, want, got, seed)
		if before > 0 {
			invalid++
		}
		if after := len(want()); after > 0 && after < before {
			ratcheted++
		}
	}
	require.Greater(t, invalid, 200)
	require.Greater(t, ratcheted, 20)
}

// requireSameErrors compares errors and their order. If several properties have errors, the library
// has them in the random order of a map, and some orders are rare.
func requireSameErrors(t *testing.T, want, got func() []string, seed uint64) {
	t.Helper()
	for range 20_000 {
		library, own := want(), got()
		if slices.Equal(library, own) {
			return
		}
		slices.Sort(library)
		slices.Sort(own)
		require.Equal(t, library, own, seed)
	}
	require.Equal(t, want(), got(), seed)
}

// newListValidator returns a validator of objects with a list of integers, in two ways.
func newListValidator(t *testing.T) *validator {
	list := props{Type: "array", Items: &apiextensions.JSONSchemaPropsOrArray{Schema: &props{Type: "integer"}}}
	untyped := props{Items: &apiextensions.JSONSchemaPropsOrArray{Schema: &props{Minimum: ptr.To(3.0)}}}
	v, err := newValidator(&props{
		Type: "object", Properties: map[string]props{"list": list, "branch": {Type: "array", Items: &apiextensions.JSONSchemaPropsOrArray{Schema: &props{Type: "integer"}}}},
		AnyOf: []props{{Properties: map[string]props{"branch": untyped}}},
	})
	require.NoError(t, err)
	return v
}

func repeat(value any, n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = value
	}
	return list
}

// A value with more errors than the limit has some of them, and one that says so.
func TestValidatorStopsAtLimit(t *testing.T) {
	v := newListValidator(t)
	for _, value := range []map[string]any{
		{"list": repeat("x", maxErrors+5)},
		{"branch": repeat(int64(1), maxErrors+5)},
	} {
		errs := v.validate(t.Context(), nil, value, nil, maxErrors)
		require.InDelta(t, maxErrors+1, len(errs), 2)
		require.Contains(t, errs[len(errs)-1].Error(), "has too many errors; only")
	}
	require.Len(t, v.validate(t.Context(), nil, map[string]any{"list": repeat("x", 100)}, nil, maxErrors), 100)
}

// More errors than the limit in an unchanged value hide no error after it.
func TestUnchangedErrorsDoNotCount(t *testing.T) {
	list := repeat("x", maxErrors+5)
	schema := props{Type: "object", Properties: map[string]props{
		"list": {Type: "array", Items: &apiextensions.JSONSchemaPropsOrArray{Schema: &props{Type: "integer"}}},
		"n":    {Type: "integer"},
	}}
	v, err := newValidator(&schema)
	require.NoError(t, err)
	structural, err := structuralschema.NewStructural(&schema)
	require.NoError(t, err)
	value, old := map[string]any{"list": list, "n": "y"}, map[string]any{"list": list, "n": int64(1)}
	errs := v.validate(t.Context(), nil, value, common.NewCorrelatedObject(value, old, &model.Structural{Structural: structural}), maxErrors)
	require.Len(t, errs, 1)
	require.Equal(t, "n", errs[0].Field)
	require.Empty(t, v.validate(t.Context(), nil, old, common.NewCorrelatedObject(old, old, &model.Structural{Structural: structural}), maxErrors))
}

// A validation ends when its context does.
func TestValidatorEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Empty(t, newListValidator(t).validate(ctx, nil, map[string]any{"list": repeat("x", 1000)}, nil, maxErrors))
}

// The bytes that a validation allocates grow with the number of errors, and not with its square.
func TestValidatorIsLinear(t *testing.T) {
	v := newListValidator(t)
	measure := func(n int) uint64 {
		value := map[string]any{"list": repeat("x", n)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.Len(t, v.validate(t.Context(), nil, value, nil, maxErrors), n)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	small := measure(maxErrors / 20)
	large := measure(maxErrors - 1)
	require.Less(t, large, 60*small)
}
