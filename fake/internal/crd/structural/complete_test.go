package structural

import (
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// partsSchema has each kind of schema that IsComplete distinguishes.
const partsSchema = `
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  spec:
    type: object
    properties:
      text: {type: string}
      color: {type: string, default: red}
      nil: {type: string, nullable: true}
      list: {type: array, items: {type: object, properties: {a: {type: string, default: x}}}}
      map: {type: object, additionalProperties: {type: object, properties: {a: {type: string, default: x}}}}
      any: {type: object, additionalProperties: true}
      free: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: object, properties: {b: {type: string}}}}}
      object: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
      named:
        type: object
        x-kubernetes-embedded-resource: true
        properties: {metadata: {type: object, properties: {name: {type: string, default: x}}}}
  status: {type: object, default: {observedGeneration: -1}, properties: {observedGeneration: {type: integer}}}
`

func newPartsSchema(t *testing.T) *Schema {
	crd := newWidgetCRD(t)
	v := &crd.Spec.Versions[0]
	v.Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(partsSchema), v.Schema.OpenAPIV3Schema))
	return newSchema(t, crd)
}

// IsComplete must be false if DefaultStored changes an object, and true for most others.
func TestIsComplete(t *testing.T) {
	s := newPartsSchema(t)
	const maybe = "" // DefaultStored changes nothing, and IsComplete reports false
	for _, test := range []struct{ spec, status, want string }{
		{`{color: red}`, `{observedGeneration: 1}`, "complete"},
		{`{color: red}`, `{}`, "complete"},
		{`{color: red}`, `5`, "complete"},
		{`{color: red, text: x, list: [{a: y}, 1], map: {k: {a: y}}}`, `{}`, "complete"},
		{`{color: red, free: {x: {y: [null, {z: 1}]}, a: {b: c}}}`, `{}`, "complete"},
		{`{color: red, any: {x: y}}`, `{}`, "complete"},
		{`{color: red, object: {kind: K, apiVersion: v1, metadata: {name: a}, spec: {a: b}}}`, `{}`, "complete"},
		{`{color: red, named: {kind: K}}`, `{}`, "complete"},
		{`{color: red, object: {}}`, `{}`, "complete"},
		{`{color: red, nil: null}`, `{}`, maybe},
		{`{color: red, named: {metadata: {name: a}}}`, `{}`, maybe},
		{`{color: red}`, ``, "changed"},
		{`{color: red}`, `{x: y}`, "changed"},
		{`{}`, `{}`, "changed"},
		{`{color: null}`, `{}`, "changed"},
		{`{color: red, text: null}`, `{}`, "changed"},
		{`{color: red, x: y}`, `{}`, "changed"},
		{`{color: red, list: [{}]}`, `{}`, "changed"},
		{`{color: red, list: [{a: y, b: z}]}`, `{}`, "changed"},
		{`{color: red, map: {k: {}}}`, `{}`, "changed"},
		{`{color: red, map: {k: null}}`, `{}`, "changed"},
		{`{color: red, any: {x: {y: z}}}`, `{}`, "changed"},
		{`{color: red, free: {a: {c: d}}}`, `{}`, "changed"},
		{`{color: red, object: {metadata: {name: a, x: y}}}`, `{}`, "changed"},
		{`{color: red, object: {metadata: {labels: {}}}}`, `{}`, "changed"},
		{`{color: red, object: {kind: 1}}`, `{}`, "changed"},
		{`{color: red, named: {metadata: {}}}`, `{}`, "changed"},
	} {
		obj := newWidget()
		obj["spec"] = parse(t, test.spec)
		if test.status != "" {
			obj["status"] = parse(t, test.status)
		}
		require.Equal(t, test.want == "complete", s.IsComplete(obj), test)
		requireSamePruning(t, s, obj)
		read := runtime.DeepCopyJSON(obj)
		s.DefaultStored(read)
		if test.want == "changed" {
			require.NotEqual(t, obj, read, test)
		} else {
			require.Equal(t, obj, read, test)
		}
	}
}

// requireSamePruning checks that PruneAndDefault and SetDefaults have the results of the library,
// which they do not need for a complete object.
func requireSamePruning(t *testing.T, s *Schema, obj map[string]any) {
	got, want := runtime.DeepCopyJSON(obj), runtime.DeepCopyJSON(obj)
	unknown, err := s.PruneAndDefault(got, true)
	wantUnknown, wantErr := s.pruneAndDefault(want, true)
	require.Equal(t, wantErr, err)
	require.Equal(t, wantUnknown, unknown)
	require.Equal(t, want, got)

	got, want = runtime.DeepCopyJSON(obj), runtime.DeepCopyJSON(obj)
	s.SetDefaults(got)
	s.setDefaults(want)
	require.Equal(t, want, got)
}

// IsComplete considers the metadata and all top-level fields.
func TestIsCompleteAtTheTop(t *testing.T) {
	s := newPartsSchema(t)
	for name, change := range map[string]func(obj, metadata map[string]any){
		"unknown field":      func(obj, _ map[string]any) { obj["data"] = "x" },
		"no metadata":        func(obj, _ map[string]any) { delete(obj, "metadata") },
		"no generation":      func(_, metadata map[string]any) { delete(metadata, "generation") },
		"empty labels":       func(_, metadata map[string]any) { metadata["labels"] = map[string]any{} },
		"null annotations":   func(_, metadata map[string]any) { metadata["annotations"] = nil },
		"unknown metadata":   func(_, metadata map[string]any) { metadata["x"] = "y" },
		"kind is not a text": func(obj, _ map[string]any) { obj["kind"] = int64(1) },
	} {
		obj := newWidget()
		obj["spec"], obj["status"] = map[string]any{"color": "red"}, map[string]any{}
		require.True(t, s.IsComplete(obj))
		change(obj, obj["metadata"].(map[string]any))
		require.False(t, s.IsComplete(obj), name)
		requireSamePruning(t, s, obj)
	}
}

// PruneAndDefault has the results of the library for each kind of schema.
func TestPruneAndDefaultOfCompleteObjects(t *testing.T) {
	crd := newWidgetCRD(t)
	crd.Spec.PreserveUnknownFields = true
	for _, s := range []*Schema{MetadataOnly(), WithoutFields(), newPartsSchema(t), newSchema(t, crd)} {
		for name, change := range map[string]func(obj, metadata map[string]any){
			"nothing":          func(map[string]any, map[string]any) {},
			"no spec":          func(obj, _ map[string]any) { delete(obj, "spec") },
			"no generation":    func(_, metadata map[string]any) { delete(metadata, "generation") },
			"unknown field":    func(obj, _ map[string]any) { obj["data"] = "x" },
			"unknown metadata": func(_, metadata map[string]any) { metadata["x"] = "y" },
			"no kind":          func(obj, _ map[string]any) { delete(obj, "kind") },
			"null kind":        func(obj, _ map[string]any) { obj["kind"] = nil },
			"null apiVersion":  func(obj, _ map[string]any) { obj["apiVersion"] = nil },
			"number as kind":   func(obj, _ map[string]any) { obj["kind"] = int64(1) },
			"null metadata":    func(obj, _ map[string]any) { obj["metadata"] = nil },
			"null label":       func(_, metadata map[string]any) { metadata["labels"] = map[string]any{"a": nil} },
		} {
			t.Run(name, func(t *testing.T) {
				obj := newWidget()
				change(obj, obj["metadata"].(map[string]any))
				requireSamePruning(t, s, obj)
			})
		}
	}
}

// With spec.preserveUnknownFields nothing is pruned, and without a schema everything.
func TestIsCompleteWithoutSchema(t *testing.T) {
	crd := newWidgetCRD(t)
	crd.Spec.Versions[0].Schema = nil
	require.False(t, newSchema(t, crd).IsComplete(newWidget()))
	crd.Spec.PreserveUnknownFields = true
	require.True(t, newSchema(t, crd).IsComplete(newWidget()))
}

// parse returns a value in YAML with the number types of stored objects.
func parse(t *testing.T, text string) any {
	var obj map[string]any
	require.NoError(t, yaml.Unmarshal([]byte("value: "+text), &obj))
	return withIntegers(obj["value"])
}

// withIntegers returns a value with integers in place of floating-point numbers.
func withIntegers(value any) any {
	switch value := value.(type) {
	case float64:
		return int64(value)
	case map[string]any:
		for key, field := range value {
			value[key] = withIntegers(field)
		}
	case []any:
		for i, item := range value {
			value[i] = withIntegers(item)
		}
	}
	return value
}
