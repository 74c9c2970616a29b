package structural

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// newLargeCRD returns a definition like that of a large operator, with about 1,000 fields. Objects
// have a few of them.
func newLargeCRD(t testing.TB) *apiextensionsv1.CustomResourceDefinition {
	crd := newWidgetCRD(t)
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	part := spec.DeepCopy() // without the groups, which would contain each other
	for i := range 5 {
		group := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
		for j := range 10 {
			group.Properties[fmt.Sprintf("part%d", j)] = *part.DeepCopy()
		}
		spec.Properties[fmt.Sprintf("group%d", i)] = group
	}
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
	return crd
}

func newLargeObject() map[string]any {
	obj := newWidget()
	spec := obj["spec"].(map[string]any)
	for i := range 5 {
		group := map[string]any{}
		for j := range 4 {
			group[fmt.Sprintf("part%d", j)] = newWidget()["spec"]
		}
		spec[fmt.Sprintf("group%d", i)] = group
	}
	return obj
}

func BenchmarkSchema(b *testing.B) {
	for _, bench := range []struct {
		name string
		crd  *apiextensionsv1.CustomResourceDefinition
		obj  map[string]any
	}{
		{"widget", newWidgetCRD(b), newWidget()},
		{"wide", newLargeCRD(b), newLargeObject()},
	} {
		b.Run(bench.name, func(b *testing.B) { benchmarkSchema(b, bench.crd, bench.obj) })
	}
}

func benchmarkSchema(b *testing.B, crd *apiextensionsv1.CustomResourceDefinition, obj map[string]any) {
	s := newSchema(b, crd)
	b.Run("New", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = newSchema(b, crd)
		}
	})
	b.Run("Take", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() { // the object does not change
			_, err := s.PruneAndDefault(obj, true)
			require.NoError(b, err)
		}
	})
	old := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(obj)}
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(obj)}
	u.Object["spec"].(map[string]any)["size"] = int64(5)
	b.Run("ValidateCreate", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.Empty(b, s.Validate(b.Context(), u))
		}
	})
	b.Run("ValidateUpdate", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.Empty(b, s.ValidateUpdate(b.Context(), u, old))
		}
	})
}
