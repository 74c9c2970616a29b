package structural

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// sortedSchema has several errors of all kinds in its fields.
const sortedSchema = `
type: object
properties:
  list:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [k]
    items:
      type: object
      required: [k]
      properties:
        k: {type: string}
        set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
  rules:
    type: object
    properties:
      a: {type: integer}
      b: {type: integer}
      c:
        type: object
        properties:
          d: {type: integer, x-kubernetes-validations: [{rule: self < 1, message: own of d}]}
          e: {type: integer, x-kubernetes-validations: [{rule: self < 1, message: own of e}]}
        x-kubernetes-validations: [{rule: self.d < 1, message: own of c}]
      items: {type: array, items: {type: integer, x-kubernetes-validations: [{rule: self < 1}]}}
      more: {type: object, additionalProperties: {type: integer, x-kubernetes-validations: [{rule: self < 1}]}}
    x-kubernetes-validations:
    - {rule: self.b < 1, message: at b, fieldPath: .b}
    - {rule: self.a < 1, message: at a, fieldPath: .a}
    - {rule: self.a < 1, message: of all}
    - {rule: self.a < 1, message: at d, fieldPath: .c.d}
  types:
    type: object
    required: [z, x]
    properties:
      x: {type: string}
      v: {type: number, maximum: 1}
      w: {type: integer}
      z: {type: string}
      few: {type: array, maxItems: 1, items: {type: string, enum: [a]}}
`

// The errors are in the order in which kube-apiserver finds them, where it is not random.
func TestErrorsAreSortedAsFound(t *testing.T) {
	crd := newWidgetCRD(t)
	version := &crd.Spec.Versions[0]
	version.Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(sortedSchema), version.Schema.OpenAPIV3Schema))
	version.Subresources = nil
	s := newSchema(t, crd)
	for name, tt := range map[string]struct {
		value any
		want  []string
	}{
		"types": {
			map[string]any{"w": 1.5, "v": int64(2), "few": []any{"b", "c"}},
			[]string{"types.few[0]", "types.few[1]", "types.few", "types.v", "types.w", "<nil>", "types.z", "types.x", "<nil>"},
		},
		"list": {
			[]any{map[string]any{"k": "a", "set": []any{"x", "x"}}, map[string]any{"k": "a", "set": []any{"y", "y"}}},
			[]string{"list[1]", "list[0].set[1]", "list[1].set[1]"},
		},
		"rules": {
			map[string]any{
				"a": int64(1), "b": int64(1), "c": map[string]any{"d": int64(1), "e": int64(1)},
				"items": []any{int64(1), int64(0), int64(2)}, "more": map[string]any{"q": int64(1), "p": int64(1)},
			},
			[]string{
				"rules.b", "rules.a", "rules", "rules.c.d", "rules.c", "rules.c.d", "rules.c.e",
				"rules.items[0]", "rules.items[2]", "rules.more[p]", "rules.more[q]",
			},
		},
	} {
		obj := &unstructured.Unstructured{Object: newWidget()}
		delete(obj.Object, "spec")
		obj.Object[name] = tt.value
		for range 20 {
			var got []string
			for _, err := range s.Validate(t.Context(), obj) {
				got = append(got, err.Field)
			}
			require.Equal(t, tt.want, got, name)
		}
	}
}

// The order of segments does not depend on their order before.
func TestCompareSegments(t *testing.T) {
	want := []string{"", "2", "05", "5", "10", "1a", "a"}
	for rotation := range want {
		segments := slices.Concat(want[rotation:], want[:rotation])
		slices.SortFunc(segments, compareSegments)
		require.Equal(t, want, segments)
		slices.Reverse(segments)
		slices.SortFunc(segments, compareSegments)
		require.Equal(t, want, segments)
	}
}
