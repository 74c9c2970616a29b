package structural

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"k8s.io/utils/ptr"
)

// checkedSchema returns a schema with any of the keywords.
func checkedSchema(r *rand.Rand, depth int) *spec.Schema {
	s := &spec.Schema{}
	types := []string{"string", "integer", "number", "boolean", "object", "array"}
	if depth == 0 {
		types = types[:4]
	}
	s.Type = spec.StringOrArray{types[r.IntN(len(types))]}
	switch r.IntN(12) {
	case 0:
		s.Type = nil
	case 1:
		s.Type = spec.StringOrArray{"integer", "string"}
	case 2:
		s.Type = append(s.Type, "null")
	}
	rarely := func(set func()) {
		if r.IntN(5) == 0 {
			set()
		}
	}
	rarely(func() { s.Nullable = true })
	rarely(func() { s.Format = pick(r, "int32", "int64", "float", "double", "date", "ipv4", "byte", "other") })
	rarely(func() {
		s.Enum = []any{"a", "ab", int64(1), 1.0, 2.5, true, nil, map[string]any{"a": "b"}, []any{"a"}}[r.IntN(4):]
	})
	rarely(func() {
		s.Minimum, s.ExclusiveMinimum = ptr.To(pick(r, -1, 0, 1, 1.5, 1e300, math.MinInt32-1)), r.IntN(2) == 0
	})
	rarely(func() {
		s.Maximum, s.ExclusiveMaximum = ptr.To(pick(r, 1, 2, 2.5, 1e300, math.MaxInt32+1)), r.IntN(2) == 0
	})
	rarely(func() { s.MinLength = ptr.To(int64(r.IntN(3))) })
	rarely(func() { s.MaxLength = ptr.To(int64(r.IntN(3))) })
	rarely(func() { s.Pattern = pick(r, "^a", "b", "(", "") })
	rarely(func() { s.MinItems, s.MaxItems = ptr.To(int64(r.IntN(2))), ptr.To(int64(1+r.IntN(3))) })
	rarely(func() { s.MinProperties, s.MaxProperties = ptr.To(int64(r.IntN(2))), ptr.To(int64(1+r.IntN(3))) })
	rarely(func() { s.Required = []string{"a"} })
	if r.IntN(25) == 0 {
		s.UniqueItems, s.MultipleOf = r.IntN(2) == 0, ptr.To(2.0)
	}
	if depth > 0 {
		addBelow(r, s, depth)
	}
	return s
}

// addBelow adds the keywords that contain schemas.
func addBelow(r *rand.Rand, s *spec.Schema, depth int) {
	below := func() spec.Schema { return *checkedSchema(r, depth-1) }
	if r.IntN(2) == 0 {
		s.Properties = map[string]spec.Schema{"a": below(), "b": below()}
	}
	if r.IntN(3) == 0 {
		item := below()
		s.Items = &spec.SchemaOrArray{Schema: &item}
	}
	if r.IntN(4) == 0 {
		s.AdditionalProperties = &spec.SchemaOrBool{Allows: r.IntN(3) > 0}
		if r.IntN(2) == 0 {
			value := below()
			s.AdditionalProperties.Schema = &value
		}
	}
	for _, branches := range []*[]spec.Schema{&s.AnyOf, &s.AllOf, &s.OneOf} {
		for range max(0, r.IntN(14)-11) {
			*branches = append(*branches, below())
		}
	}
	switch branch := below(); r.IntN(60) {
	case 0:
		s.Not = &branch
	case 1:
		s.PatternProperties = map[string]spec.Schema{"a": branch}
	case 2:
		s.Items = &spec.SchemaOrArray{Schemas: []spec.Schema{branch}}
	case 3:
		s.Items = &spec.SchemaOrArray{Schemas: []spec.Schema{branch}}
		s.AdditionalItems = &spec.SchemaOrBool{} // with a schema, the library panics
	case 4:
		s.Dependencies = spec.Dependencies{"a": spec.SchemaOrStringArray{Property: []string{"b"}}}
	}
}

func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// checkedValue returns a value that mostly has the type of the schema, if that is not nil.
func checkedValue(r *rand.Rand, s *spec.Schema) any {
	kind := pick(r, "string", "integer", "number", "boolean", "null", "object", "array", "other")
	if s != nil && len(s.Type) > 0 && r.IntN(12) > 0 {
		kind = s.Type[0]
	}
	switch kind {
	case "string":
		return pick(r, "", "a", "ab", "abc", "b", "é", "éé", "2026-01-01", "10.0.0.1", "\xff")
	case "integer":
		return pick[int64](r, -1, 0, 1, 2, 3, math.MaxInt32, math.MaxInt32+1, math.MaxInt64, math.MinInt64)
	case "number":
		return pick(r, -0.5, 0, 1, 1.5, 2, 2.5, 1e300, math.NaN())
	case "boolean":
		return r.IntN(2) == 0
	case "object":
		object := map[string]any{}
		for _, name := range []string{"a", "b", "c"}[:r.IntN(4)] {
			object[name] = checkedValue(r, fieldSchema(s, name))
		}
		return object
	case "array":
		list := []any{}
		for range r.IntN(3) {
			list = append(list, checkedValue(r, itemSchema(s)))
		}
		return list
	case "other":
		return int32(1)
	}
	return nil
}

func fieldSchema(s *spec.Schema, name string) *spec.Schema {
	if s == nil {
		return nil
	}
	if property, ok := s.Properties[name]; ok {
		return &property
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Schema
	}
	return nil
}

func itemSchema(s *spec.Schema) *spec.Schema {
	if s == nil || s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

// A value that a checker accepts is valid in the library. It accepts most of those that are.
func TestCheckerAcceptsValidValues(t *testing.T) {
	var valid, accepted int
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := checkedSchema(r, 2)
		c := newChecker(s)
		for range 4 {
			value := checkedValue(r, s)
			isValid := validate.NewSchemaValidator(s, nil, "", strfmt.Default).Validate(value).IsValid()
			if isValid {
				valid++
			}
			if c.accepts(value) {
				accepted++
				require.True(t, isValid, "%d: %v %+v", seed, value, s)
			}
		}
	}
	t.Logf("%d of %d valid values accepted", accepted, valid)
	require.Greater(t, accepted, valid*2/3)
}

// A checker accepts the valid objects of the CustomResourceDefinitions in the tests, and no other
// objects.
func TestCheckerOfDefinition(t *testing.T) {
	s := newSchema(t, newWidgetCRD(t))
	v, err := s.objectValidator()
	require.NoError(t, err)
	require.True(t, v.checker.accepts(newWidget()))
	for name, value := range map[string]any{"size": "x", "color": "no color", "parts": []any{map[string]any{}}} {
		widget := newWidget()
		widget["spec"].(map[string]any)[name] = value
		require.False(t, v.checker.accepts(widget), name)
		require.False(t, v.isValid(t.Context(), widget), name)
	}
}
