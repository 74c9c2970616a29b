package structural

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"sigs.k8s.io/yaml"
)

const listsSchema = `
type: object
properties:
  spec:
    type: object
    properties:
      set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
      numbers: {type: array, x-kubernetes-list-type: set, items: {type: integer}}
      map: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}, set: {type: array, x-kubernetes-list-type: set, items: {type: string}}}}}
      keys: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k, l], items: {type: object, properties: {k: {type: string}, l: {type: integer}}}}
      atomic: {type: array, x-kubernetes-list-type: atomic, items: {type: string}}
      objects: {type: object, additionalProperties: {type: array, x-kubernetes-list-type: set, items: {type: string}}}
`

// isUnique must be false for a list with duplicates, and true for the common ones without.
func TestIsUnique(t *testing.T) {
	crd := newWidgetCRD(t)
	v := &crd.Spec.Versions[0]
	v.Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(listsSchema), v.Schema.OpenAPIV3Schema))
	s := newSchema(t, crd)
	var many, twice string
	for i := range 20 {
		many += fmt.Sprintf("%d, ", i)
		twice += fmt.Sprintf("a%d, ", i%19)
	}
	const maybe = "" // there are no duplicates, and isUnique reports false
	for _, test := range []struct{ spec, want string }{
		{`{}`, "unique"},
		{`{set: []}`, "unique"},
		{`{set: [a, b, aa], atomic: [a, a], numbers: [1]}`, maybe},
		{`{set: [a, b, aa], atomic: [a, a]}`, "unique"},
		{`{set: [a, b, a]}`, "duplicates"},
		{`{set: [1, 1]}`, "duplicates"},
		{`{set: [` + many + `]}`, maybe},
		{`{set: [` + twice + `]}`, "duplicates"},
		{`{set: "a"}`, "unique"},
		{`{set: [a, null]}`, maybe},
		{`{map: [{k: a}, {k: b, set: [a]}]}`, "unique"},
		{`{map: [{k: a}, {k: a}]}`, "duplicates"},
		{`{map: [{k: a}, {}, {}]}`, "duplicates"},
		{`{map: [{k: a}, null]}`, maybe},
		{`{map: [{k: a}, 1]}`, "duplicates"},
		{`{map: [{k: a, set: [b, b]}]}`, "duplicates"},
		{`{map: [{k: a, set: [b]}], set: [b]}`, "unique"},
		{`{keys: [{k: a, l: 1}, {k: a, l: 2}]}`, maybe},
		{`{keys: [{k: a, l: 1}, {k: b, l: 1}]}`, "unique"},
		{`{keys: [{k: a, l: 1}, {k: a, l: 1}]}`, "duplicates"},
		{`{objects: {x: [a], y: [a]}}`, "unique"},
		{`{objects: {x: [a], y: [a, a]}}`, "duplicates"},
	} {
		obj := newWidget()
		obj["spec"] = parse(t, test.spec)
		require.Equal(t, test.want == "unique", s.shape().isUnique(obj), test)
		errs := listtype.ValidateListSetsAndMaps(nil, s.structural, obj)
		require.Equal(t, test.want == "duplicates", len(errs) > 0, "%v %v", test, errs)
	}
}

// isUnique agrees with the library about random lists.
func TestIsUniqueAsLibrary(t *testing.T) {
	s := newSchema(t, newWidgetCRD(t))
	isUnique := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 4))
		var parts, tags []any
		for range r.IntN(25) {
			parts = append(parts, map[string]any{"name": fmt.Sprint(r.IntN(300))})
			tags = append(tags, fmt.Sprint(r.IntN(300)))
		}
		obj := newWidget()
		obj["spec"] = map[string]any{"parts": parts, "tags": tags}
		errs := listtype.ValidateListSetsAndMaps(nil, s.structural, obj)
		require.Equal(t, len(errs) == 0, s.shape().isUnique(obj), seed)
		if len(errs) == 0 {
			isUnique++
		}
	}
	require.Greater(t, isUnique, 500)
}
