package openapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/schemaconv"
	utilproto "k8s.io/kube-openapi/pkg/util/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// clientGo returns the schemas that client-go merges by, which are generated from the documents of
// a release.
func clientGo(t *testing.T) map[string]schema.TypeDef {
	t.Helper()
	value, err := applyconfigurations.NewTypeConverter(scheme.Scheme).ObjectToTyped(&corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}})
	require.NoError(t, err)
	return byName(value.Schema())
}

func byName(s *schema.Schema) map[string]schema.TypeDef {
	types := make(map[string]schema.TypeDef)
	for _, def := range s.Types {
		types[def.Name] = def
	}
	return types
}

// mergeSchemasV3 returns the schemas that a client builds from the v3 documents.
func mergeSchemasV3(t *testing.T) map[string]schema.TypeDef {
	t.Helper()
	models := make(map[string]*spec.Schema)
	for name := range documents().v3 {
		for model, s := range parsed(t, name).Components.Schemas {
			models[model] = s
		}
	}
	converted, err := schemaconv.ToSchemaFromOpenAPI(models, false)
	require.NoError(t, err)
	return byName(converted)
}

// mergeSchemasV2 returns the schemas that a client builds from the protobuf v2 document.
func mergeSchemasV2(t *testing.T) map[string]schema.TypeDef {
	t.Helper()
	message := new(openapi_v2.Document)
	require.NoError(t, proto.Unmarshal(documents().V2().Protobuf(), message))
	models, err := utilproto.NewOpenAPIData(message)
	require.NoError(t, err)
	converted, err := schemaconv.ToSchema(models)
	require.NoError(t, err)
	return byName(converted)
}

// Clients merge in the same way by client-go's schemas and by these documents: fields, lists with
// their keys, atomic types, unions.
func TestMergeSchemas(t *testing.T) {
	v2, v3 := mergeSchemasV2(t), mergeSchemasV3(t)
	compared := 0
	for name, want := range clientGo(t) {
		if _, known := v2[name]; !known {
			continue // its version is not served
		}
		compared++
		require.Empty(t, cmp.Diff(plain(want, false), plain(v2[name], false), everything), name)
		if differsInV3(want) {
			continue
		}
		// v2 has no defaults, and its converter does not read unions.
		want, have := plain(want, true), plain(v3[name], true)
		if want.Map != nil {
			want.Map.Unions = nil
		}
		require.Empty(t, cmp.Diff(want, have, everything), name)
	}
	require.Greater(t, compared, 400)
}

var everything = cmp.Options{
	cmpopts.IgnoreUnexported(schema.Map{}), // caches
	cmp.Transformer("raw", func(s *string) string { // the converters name arbitrary values differently
		switch {
		case s == nil:
			return ""
		case *s == "io.k8s.apimachinery.pkg.runtime.RawExtension":
			return "__untyped_atomic_"
		}
		return *s
	}),
}

// differsInV3 reports whether the v3 converter represents a type differently from the v2 converter,
// from which client-go's schemas are generated: types without fields, and those of several forms.
func differsInV3(def schema.TypeDef) bool {
	return def.Map == nil || len(def.Map.Fields) == 0
}

// plain sorts the fields, and converts defaults to text, because YAML and JSON decode to different
// types.
func plain(def schema.TypeDef, defaults bool) schema.TypeDef {
	if def.Map == nil {
		return def
	}
	m := &schema.Map{Fields: slices.Clone(def.Map.Fields), ElementType: def.Map.ElementType, ElementRelationship: def.Map.ElementRelationship}
	if len(def.Map.Unions) > 0 {
		m.Unions = def.Map.Unions
	}
	slices.SortFunc(m.Fields, func(a, b schema.StructField) int { return strings.Compare(a.Name, b.Name) })
	for i := range m.Fields {
		text := fmt.Sprint(m.Fields[i].Default)
		m.Fields[i].Default = text
		if !defaults {
			m.Fields[i].Default = nil
		}
	}
	def.Map = m
	return def
}
