package openapi

import (
	"embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// testdata has the files that tests read. They are embedded, because go test reuses the result of a
// test in another checkout only if the test opens no files of the module.
//
//go:embed testdata
var testdata embed.FS

// recordedDocuments is testdata/custom.json: definitions, and the documents of a real v0.37.2
// server, with the schemas of these definitions.
type recordedDocuments struct {
	Definitions []apiextensionsv1.CustomResourceDefinition
	V3          map[string]map[string]any
	V2          map[string]any
}

func recordedCustom(t *testing.T) *recordedDocuments {
	t.Helper()
	body, err := testdata.ReadFile("testdata/custom.json")
	require.NoError(t, err)
	r := new(recordedDocuments)
	require.NoError(t, json.Unmarshal(body, r))
	return r
}

// customOf returns the custom resources of a definition.
func customOf(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) []*CustomResource {
	t.Helper()
	var all []*CustomResource
	for _, v := range crd.Spec.Versions {
		var props apiextensions.JSONSchemaProps
		require.NoError(t, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &props, nil))
		s, err := structuralschema.NewStructural(&props)
		require.NoError(t, err)
		c := &CustomResource{
			Group: crd.Spec.Group, Version: v.Name, Plural: crd.Spec.Names.Plural,
			Kind: crd.Spec.Names.Kind, ListKind: crd.Spec.Names.ListKind,
			Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped, Schema: s,
		}
		if v.Subresources != nil {
			c.Status, c.Scale = v.Subresources.Status != nil, v.Subresources.Scale != nil
		}
		for _, f := range v.SelectableFields {
			c.SelectableFields = append(c.SelectableFields, f.JSONPath)
		}
		all = append(all, c)
	}
	return all
}

func allCustom(t *testing.T, r *recordedDocuments) []*CustomResource {
	t.Helper()
	var all []*CustomResource
	for i := range r.Definitions {
		all = append(all, customOf(t, &r.Definitions[i])...)
	}
	return all
}

func asMap(t *testing.T, body []byte) map[string]any {
	t.Helper()
	m := make(map[string]any)
	require.NoError(t, json.Unmarshal(body, &m))
	return m
}

// withoutShards removes the parameter shardSelector, which is alpha and not served here.
func withoutShards(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			v[name] = withoutShards(value)
		}
	case []any:
		v = slices.DeleteFunc(v, func(item any) bool {
			ref, _ := at(item, "$ref").(string)
			return at(item, "name") == "shardSelector" || strings.HasPrefix(ref, "#/parameters/shardSelector-")
		})
		for i := range v {
			v[i] = withoutShards(v[i])
		}
		return v
	}
	return v
}

func at(m any, path ...string) any {
	for _, name := range path {
		object, _ := m.(map[string]any)
		m = object[name]
	}
	return m
}

func TestCustomV3IsThatOfARealServer(t *testing.T) {
	r := recordedCustom(t)
	docs := documents().WithCustomResources(allCustom(t, r))
	require.Len(t, r.V3, 3)
	for name, want := range r.V3 {
		got := asMap(t, docs.V3(name).JSON)
		require.Equal(t, want["info"], got["info"])
		require.Equal(t, want["openapi"], got["openapi"])
		schemas := at(got, "components", "schemas").(map[string]any)
		var names []any
		for _, n := range slices.Sorted(maps.Keys(schemas)) {
			names = append(names, n)
		}
		require.Empty(t, cmp.Diff(want["names"], any(names)), name)
		maps.DeleteFunc(schemas, func(n string, _ any) bool { return !strings.Contains(n, "example") })
		require.Empty(t, cmp.Diff(at(want, "components"), at(got, "components")), name)
		require.Empty(t, cmp.Diff(withoutShards(at(want, "paths")), at(got, "paths")), name)
	}
}

func TestCustomV2IsThatOfARealServer(t *testing.T) {
	r := recordedCustom(t)
	doc := documents().WithCustomResources(allCustom(t, r)).V2()
	got := asMap(t, doc.JSON)
	for _, part := range []string{"paths", "definitions"} {
		all := got[part].(map[string]any)
		require.NotEmpty(t, at(asMap(t, documents().V2().JSON), part))
		for name, value := range asMap(t, documents().V2().JSON)[part].(map[string]any) {
			require.Equal(t, value, all[name])
			delete(all, name)
		}
		require.Empty(t, cmp.Diff(withoutShards(r.V2[part]), any(all)), part)
	}
	requireReferences(t, doc.JSON, "#/parameters/", got["parameters"].(map[string]any))
}

// The protobuf document equals the JSON document.
func TestCustomV2InProtobuf(t *testing.T) {
	doc := documents().WithCustomResources(allCustom(t, recordedCustom(t))).V2()
	message := new(openapi_v2.Document)
	require.NoError(t, proto.Unmarshal(doc.Protobuf(), message))
	back := new(spec.Swagger)
	complete, err := back.FromGnostic(message)
	require.NoError(t, err)
	require.True(t, complete, "the form holds more than can be read")
	want := asMap(t, doc.JSON)
	// The message does not distinguish a limit of 0 from none, on a real server either.
	size := at(want, "definitions", "com.example.oracle.v1.Widget", "properties", "spec", "properties", "size").(map[string]any)
	require.Equal(t, 0.0, size["minimum"])
	delete(size, "minimum")
	require.Empty(t, cmp.Diff(want, asMap(t, encode(back))))
}

// Documents that a change does not affect are shared, and none is built before its first use.
func TestWithSharesWhatStays(t *testing.T) {
	all := allCustom(t, recordedCustom(t))
	first := documents().WithCustomResources(all)
	slices.Reverse(all)
	second := first.WithCustomResources(slices.Clone(all))
	const changed, same = "apis/oracle.example.com/v1", "apis/parts.example.org/v1"
	require.Same(t, first.V3(changed), second.V3(changed))
	require.Same(t, documents().V3("apis/apps/v1"), second.V3("apis/apps/v1"))
	require.Same(t, documents().V2(), second.WithCustomResources(nil).V2())
	require.Nil(t, second.WithCustomResources(nil).V3(changed))

	apps := &CustomResource{Group: "apps", Version: "v1", Plural: "things", Kind: "Thing", ListKind: "ThingList"}
	require.Same(t, documents().V3("apis/apps/v1"), second.WithCustomResources([]*CustomResource{apps}).V3("apis/apps/v1"))
	for i, c := range all {
		if c.Kind == "Widget" {
			other := *c
			other.Plural, other.Status = "gadgets", false
			all[i] = &other
		}
	}
	third := second.WithCustomResources(all)
	require.Same(t, first.V3(same), third.V3(same))
	require.NotEqual(t, first.V3(changed).Hash, third.V3(changed).Hash)
	require.NotEqual(t, first.V2().Hash, third.V2().Hash)
	require.Contains(t, string(third.V3(changed).JSON), "/gadgets/{name}")
	require.NotContains(t, string(third.V3(changed).JSON), "/gadgets/{name}/status")
	require.Contains(t, string(third.V3Index()), V3URL(changed, third.V3(changed).Hash))
	require.NotContains(t, string(documents().V3Index()), changed)
}

// A version without a schema allows any object.
func TestCustomWithoutSchema(t *testing.T) {
	c := &CustomResource{Group: "e.com", Version: "v1", Plural: "things", Kind: "Thing", ListKind: "ThingList"}
	docs := documents().WithCustomResources([]*CustomResource{c})
	want := map[string]any{"type": "object", "x-kubernetes-group-version-kind": []any{
		map[string]any{"group": "e.com", "version": "v1", "kind": "Thing"},
	}}
	require.Equal(t, want, at(asMap(t, docs.V3("apis/e.com/v1").JSON), "components", "schemas", "com.e.v1.Thing"))
	require.Equal(t, want, at(asMap(t, docs.V2().JSON), "definitions", "com.e.v1.Thing"))
}

// Cases that the recorded definitions do not have.
func TestSimplify(t *testing.T) {
	object := structuralschema.Generic{Type: "object"}
	null := structuralschema.Structural{Generic: structuralschema.Generic{Type: "string", Nullable: true}}
	plain := structuralschema.Structural{Generic: structuralschema.Generic{Type: "string"}}
	s := &structuralschema.Structural{
		Generic:         object,
		Properties:      map[string]structuralschema.Structural{"a": null, "b": plain},
		ValueValidation: &structuralschema.ValueValidation{Required: []string{"a", "b"}},
	}
	simplify(s)
	require.Equal(t, []string{"b"}, s.ValueValidation.Required)
	require.Empty(t, s.Properties["a"].Type)

	more := &structuralschema.Structural{
		Generic:              object,
		AdditionalProperties: &structuralschema.StructuralOrBool{Structural: &null},
		ValueValidation:      &structuralschema.ValueValidation{Required: []string{"a"}},
	}
	simplify(more)
	require.Nil(t, more.ValueValidation.Required)

	list := &structuralschema.Structural{Generic: structuralschema.Generic{Type: "array"}}
	simplify(list)
	require.Empty(t, list.Type, "kubectl wants items in an array")
}
