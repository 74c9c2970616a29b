package structural

import (
	"embed"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// testdata has the files that tests read. They are embedded, because go test reuses the result of a
// test in another checkout only if the test opens no files of the module.
//
//go:embed testdata
var testdata embed.FS

// newWidgetCRD returns the definition in testdata/widgets.yaml.
func newWidgetCRD(t testing.TB) *apiextensionsv1.CustomResourceDefinition {
	data, err := testdata.ReadFile("testdata/widgets.yaml")
	require.NoError(t, err)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.UnmarshalStrict(data, crd))
	return crd
}

func newWidget() map[string]any {
	return map[string]any{
		"apiVersion": "oracle.example.com/v1", "kind": "Widget",
		"metadata": map[string]any{
			"name": "w", "namespace": "default", "uid": "2c0a", "resourceVersion": "7", "generation": int64(1),
			"creationTimestamp": "2026-01-02T03:04:05Z",
			"labels":            map[string]any{"app": "w", "tier": "back"},
		},
		"spec": map[string]any{
			"size": int64(4), "replicas": int64(2), "color": "green", "frozen": "f", "port": "http",
			"parts": []any{map[string]any{"name": "a", "qty": int64(1)}, map[string]any{"name": "b", "qty": int64(2)}},
			"tags":  []any{"x", "y"},
			"free":  map[string]any{"any": map[string]any{"deep": true}},
		},
	}
}

func newSchema(t testing.TB, crd *apiextensionsv1.CustomResourceDefinition) *Schema {
	s, err := New(crd, crd.Spec.Versions[0].Name)
	require.NoError(t, err)
	return s
}

func TestNew(t *testing.T) {
	crd := newWidgetCRD(t)
	_, err := New(crd, "v9")
	require.EqualError(t, err, `customresourcedefinition widgets.oracle.example.com has no version "v9"`)

	broken := crd.DeepCopy()
	broken.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["size"] = apiextensionsv1.JSONSchemaProps{
		PatternProperties: map[string]apiextensionsv1.JSONSchemaProps{"a": {Type: "string"}},
	}
	_, err = New(broken, "v1")
	require.ErrorContains(t, err, "not structural")
	broken.Spec.PreserveUnknownFields = true
	s := newSchema(t, broken)
	require.Nil(t, s.Structural())
	u := &unstructured.Unstructured{Object: newWidget()}
	require.Empty(t, s.ValidateUpdate(t.Context(), u, u), "values cannot be correlated")

	none := crd.DeepCopy()
	none.Spec.Versions[0].Schema = nil
	s = newSchema(t, none)
	obj := newWidget()
	_, err = s.PruneAndDefault(obj, false)
	require.NoError(t, err)
	require.NotContains(t, obj, "spec", "all fields are unknown without a schema")
}

func TestHash(t *testing.T) {
	one := newSchema(t, newWidgetCRD(t))
	require.Equal(t, one.Hash(), newSchema(t, newWidgetCRD(t)).Hash())
	require.Same(t, one.compiled, newSchema(t, newWidgetCRD(t)).compiled, "equal schemas share their compiled form")
	for name, change := range map[string]func(*apiextensionsv1.CustomResourceDefinition){
		"schema": func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Title = "x"
		},
		"kind":         func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Status.AcceptedNames.Kind = "Gadget" },
		"scope":        func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Scope = apiextensionsv1.ClusterScoped },
		"preserve":     func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.PreserveUnknownFields = true },
		"subresources": func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions[0].Subresources.Scale = nil },
	} {
		crd := newWidgetCRD(t)
		change(crd)
		require.NotEqual(t, one.Hash(), newSchema(t, crd).Hash(), name)
	}
}

func TestSchemaIsIndependentOfCRD(t *testing.T) {
	crd := newWidgetCRD(t)
	s := newSchema(t, crd)
	crd.Spec.Versions[0].Subresources.Scale.SpecReplicasPath = ".spec.size"
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["color"].Enum[0].Raw[1] = 'X'
	obj := newWidget()
	obj["spec"].(map[string]any)["color"] = "red"
	require.Empty(t, s.Validate(t.Context(), &unstructured.Unstructured{Object: obj}))
}

func TestDefaultStored(t *testing.T) {
	s := newSchema(t, newWidgetCRD(t))
	obj := map[string]any{
		"apiVersion": "oracle.example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "w", "labels": map[string]any{"a": int64(1)}, "nope": true},
		"spec":     map[string]any{"gone": "x", "color": nil},
	}
	s.DefaultStored(obj)
	require.Equal(t, map[string]any{
		"apiVersion": "oracle.example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "w", "generation": int64(1)},
		"spec":     map[string]any{"color": "red", "replicas": int64(1)},
	}, obj)

	obj["metadata"] = "none"
	s.DefaultStored(obj)
	require.NotContains(t, obj, "metadata")
}

func TestPruneConverted(t *testing.T) {
	s := newSchema(t, newWidgetCRD(t))
	obj := map[string]any{
		"apiVersion": "oracle.example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "w"},
		"spec":     map[string]any{"gone": "x", "size": nil},
	}
	require.NoError(t, s.PruneConverted(obj))
	require.Equal(t, map[string]any{}, obj["spec"], "no defaults")
	obj["metadata"] = map[string]any{"labels": "x"}
	require.ErrorContains(t, s.PruneConverted(obj), "ObjectMeta.labels")
}

func TestPreserveUnknownFields(t *testing.T) {
	crd := newWidgetCRD(t)
	crd.Spec.PreserveUnknownFields = true
	obj := newWidget()
	obj["spec"] = map[string]any{"new": nil, "color": nil}
	unknown, err := newSchema(t, crd).PruneAndDefault(obj, true)
	require.NoError(t, err)
	require.Empty(t, unknown)
	require.Equal(t, map[string]any{"new": nil, "color": "red", "replicas": int64(1)}, obj["spec"])
}

func TestPruneAndDefaultErrors(t *testing.T) {
	s := newSchema(t, newWidgetCRD(t))
	for field, want := range map[string]string{"kind": ".kind accessor error", "apiVersion": ".apiVersion accessor error", "metadata": "cannot unmarshal"} {
		obj := newWidget()
		obj[field] = int64(1)
		_, err := s.PruneAndDefault(obj, true)
		require.ErrorContains(t, err, want)
		s.DefaultStored(obj) // it returns no error
	}
}

// With another kind or version, a real server validates neither the metadata nor the schema, but
// evaluates the rules.
func TestTypeErrorsComeFirst(t *testing.T) {
	s := newSchema(t, newWidgetCRD(t))
	obj := &unstructured.Unstructured{Object: newWidget()}
	obj.SetKind("Gadget")
	obj.SetAPIVersion("oracle.example.com/v2")
	meta := field.Required(field.NewPath("metadata", "name"), "")
	const want = `[kind: Invalid value: "Gadget": must be Widget, apiVersion: Invalid value: "oracle.example.com/v2": must be oracle.example.com/v1]`
	require.EqualError(t, s.Validate(t.Context(), obj, meta).ToAggregate(), want)
	obj.Object["spec"] = "wrong"
	const rule = `spec: Invalid value: "object": invalid data, expected a map for the provided schema with type=object evaluating rule: `
	for _, errs := range []field.ErrorList{
		s.Validate(t.Context(), obj, meta), s.ValidateUpdate(t.Context(), obj, obj, meta), s.ValidateStatusUpdate(t.Context(), obj, obj, meta),
	} {
		require.ErrorContains(t, errs.ToAggregate(), strings.TrimSuffix(want, "]")+", "+rule)
		for _, err := range errs[2:] {
			require.Contains(t, err.Error(), rule)
		}
	}
}

func TestMetadataErrors(t *testing.T) {
	s := newSchema(t, newWidgetCRD(t))
	obj := &unstructured.Unstructured{Object: newWidget()}
	obj.Object["spec"].(map[string]any)["size"] = int64(101)
	path := field.NewPath("metadata", "name")
	require.EqualError(t, s.Validate(t.Context(), obj, field.Invalid(path, "W", "bad")).ToAggregate(),
		`[metadata.name: Invalid value: "W": bad, spec: Invalid value: size must be at most 100]`)
	require.EqualError(t, s.Validate(t.Context(), obj, field.Required(path, "")).ToAggregate(),
		`[metadata.name: Required value, <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]`)
}

func TestEmbeddedResources(t *testing.T) {
	s := newPartsSchema(t)
	obj := &unstructured.Unstructured{Object: newWidget()}
	obj.Object["spec"] = parse(t, `{object: {apiVersion: v1, kind: ""}}`)
	const wrong = `spec.object.kind: Invalid value: "": must not be empty`
	require.ErrorContains(t, s.Validate(t.Context(), obj).ToAggregate(), wrong)
	require.ErrorContains(t, s.ValidateUpdate(t.Context(), obj, obj.DeepCopy()).ToAggregate(), wrong, "without ratcheting")
	require.Empty(t, s.ValidateStatusUpdate(t.Context(), obj, obj.DeepCopy()))
}

func TestErrorOrder(t *testing.T) {
	s := newSchema(t, newWidgetCRD(t))
	obj := &unstructured.Unstructured{Object: newWidget()}
	var parts []any
	for range 11 {
		parts = append(parts, map[string]any{"name": int64(1)})
	}
	obj.Object["spec"] = map[string]any{"tags": "x", "color": "pink", "parts": parts}
	var got []string
	for _, err := range s.Validate(t.Context(), obj) {
		got = append(got, err.Field)
	}
	require.Equal(t, "spec.color spec.parts[0].name spec.parts[1].name spec.parts[2].name", strings.Join(got[:4], " "))
	require.Equal(t, "spec.parts[9].name spec.parts[10].name spec.tags", strings.Join(got[10:13], " "))
}

func TestCacheIsBounded(t *testing.T) {
	c := newCache(2)
	made := map[string]int{}
	get := func(name string) {
		_, err := c.get(compiledKey{schema: name}, func() (*compiled, error) {
			made[name]++
			return &compiled{}, nil
		})
		require.NoError(t, err)
	}
	for _, name := range []string{"a", "b", "a", "c", "a", "b"} { // c evicts b, b evicts c
		get(name)
	}
	require.Equal(t, map[string]int{"a": 1, "b": 2, "c": 1}, made)
	require.Equal(t, 2, c.entries.Len())
}

func TestConcurrentUse(t *testing.T) {
	crd := newWidgetCRD(t)
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Title = t.Name() // a schema that is not in the cache
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			s, err := New(crd, "v1")
			if err != nil {
				t.Error(err)
				return
			}
			old := &unstructured.Unstructured{Object: newWidget()}
			for n := range 10 {
				obj := old.DeepCopy()
				obj.Object["spec"].(map[string]any)["size"] = int64(i * n)
				if _, err := s.PruneAndDefault(obj.Object, true); err != nil {
					t.Error(err)
				}
				errs := append(s.Validate(t.Context(), obj), s.ValidateUpdate(t.Context(), obj, old)...)
				errs = append(errs, s.ValidateStatusUpdate(t.Context(), obj, old)...)
				if len(errs) > 0 {
					t.Error(fmt.Errorf("%d: %w", i*n, errs.ToAggregate()))
				}
			}
		})
	}
	wait.Wait()
}
