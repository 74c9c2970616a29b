package openapi

import (
	"encoding/json"
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/kube-openapi/pkg/spec3"

	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/internal/cmd/golden/recordings"
)

// schemaOf returns a v3 schema of the document of core/v1 as decoded JSON.
func schemaOf(t *testing.T, name string) map[string]any {
	t.Helper()
	s := parsed(t, "api/v1").Components.Schemas[name]
	require.NotNil(t, s, name)
	body, err := json.Marshal(s)
	require.NoError(t, err)
	var plain map[string]any
	require.NoError(t, json.Unmarshal(body, &plain))
	return plain
}

func property(t *testing.T, name, field string) map[string]any {
	t.Helper()
	p := schemaOf(t, name)["properties"].(map[string]any)[field].(map[string]any)
	require.NotEmpty(t, p["description"], "%s of %s", field, name)
	delete(p, "description")
	return p
}

// Schemas of v1.37 types, each for another rule.
func TestSchemas(t *testing.T) {
	const core = "io.k8s.api.core.v1."
	list := func(of string, more map[string]any) map[string]any {
		more["type"], more["items"] = "array", map[string]any{"$ref": modelRef(core + of)}
		return more
	}
	for _, c := range []struct {
		name, field string
		want        map[string]any
	}{
		{"Container", "ports", list("ContainerPort", map[string]any{
			"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"containerPort", "protocol"},
			"x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "containerPort",
		})},
		{"ContainerPort", "protocol", map[string]any{"type": "string", "default": "TCP", "enum": []any{"SCTP", "TCP", "UDP"}}},
		{"ContainerPort", "containerPort", map[string]any{"type": "integer", "format": "int32", "default": 0.}},
		{"PodSpec", "containers", list("Container", map[string]any{
			"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"name"},
			"x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name",
		})},
		{"PodSpec", "volumes", list("Volume", map[string]any{
			"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"name"},
			"x-kubernetes-patch-strategy": "merge,retainKeys", "x-kubernetes-patch-merge-key": "name",
		})},
		{"PodSpec", "nodeSelector", map[string]any{
			"type": "object", "additionalProperties": map[string]any{"type": "string"}, "x-kubernetes-map-type": "atomic",
		}},
		{"Pod", "spec", map[string]any{"allOf": []any{map[string]any{"$ref": modelRef(core + "PodSpec")}}, "default": map[string]any{}}},
		{"Secret", "data", map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string", "format": "byte"}}},
		{"HTTPGetAction", "port", map[string]any{"allOf": []any{map[string]any{"$ref": modelRef("io.k8s.apimachinery.pkg.util.intstr.IntOrString")}}}},
		{"AzureDiskVolumeSource", "cachingMode", map[string]any{"type": "string", "default": "ReadWrite", "enum": []any{"None", "ReadOnly", "ReadWrite"}}},
	} {
		require.Empty(t, cmp.Diff(c.want, property(t, core+c.name, c.field)), "%s of %s", c.field, c.name)
	}
	require.Equal(t, []any{"containerPort"}, schemaOf(t, core+"ContainerPort")["required"])
	require.Equal(t, []any{"name"}, schemaOf(t, core+"Volume")["required"], "what is inlined is optional")
	require.Equal(t, "atomic", schemaOf(t, "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector")["x-kubernetes-map-type"])
	require.Contains(t, schemaOf(t, core+"Volume")["properties"], "emptyDir")
	require.Equal(t, []any{map[string]any{"group": "", "version": "v1", "kind": "Pod"}}, schemaOf(t, core+"Pod")[extensionKind])
	require.Equal(t, []any{map[string]any{
		"discriminator": "type", "fields-to-discriminateBy": map[string]any{"localhostProfile": "LocalhostProfile"},
	}}, schemaOf(t, core+"SeccompProfile")["x-kubernetes-unions"])
	require.Equal(t, []any{map[string]any{"type": "string"}, map[string]any{"type": "number"}},
		schemaOf(t, "io.k8s.apimachinery.pkg.api.resource.Quantity")["oneOf"])
}

// Kinds that belong to every version are narrowed to that of the document.
func TestCrossRegisteredKinds(t *testing.T) {
	for _, name := range []string{string(modelDeleteOptions), string(modelWatchEvent)} {
		var kinds []map[string]string
		require.NoError(t, parsed(t, "apis/apps/v1").Components.Schemas[name].Extensions.GetObject(extensionKind, &kinds))
		require.Len(t, kinds, 2)
		require.Equal(t, "", kinds[0]["group"])
		require.Equal(t, "apps", kinds[1]["group"])
		require.NotEmpty(t, parsed(t, "apis/apps/v1").Components.Schemas[name].Properties)
	}
}

// Schemas of a real server. The descriptions of types without SwaggerDoc differ.
func TestSchemasOfARealServer(t *testing.T) {
	recorded, err := recordings.Open("v1.37")
	require.NoError(t, err)
	body, err := fs.ReadFile(recorded, "openapi.json")
	require.NoError(t, err)
	var recording struct {
		Steps []struct {
			Response struct{ Body json.RawMessage }
		}
	}
	require.NoError(t, json.Unmarshal(body, &recording))
	ours := define(roots(builtin.Table()), false)
	compared := 0
	for _, step := range recording.Steps {
		var doc spec3.OpenAPI
		if json.Unmarshal(step.Response.Body, &doc) != nil || doc.Components == nil {
			continue // another step
		}
		for name, want := range doc.Components.Schemas {
			def := ours[name]
			if def == nil {
				continue // a recorded custom resource
			}
			have := *v3Schema(&def.schema)
			if undocumented[name] != "" {
				have.Description = want.Description
			}
			one, err := json.Marshal(want)
			require.NoError(t, err)
			other, err := json.Marshal(have)
			require.NoError(t, err)
			require.JSONEq(t, string(one), string(other), name)
			compared++
		}
	}
	require.GreaterOrEqual(t, compared, 15)
}

func TestZero(t *testing.T) {
	type inner struct{ A int32 }
	type wrapped struct{ inner }
	for _, c := range []struct {
		value     any
		omitempty bool
		want      any
	}{
		{"", false, ""}, {"", true, nil}, {int64(0), false, 0.}, {false, false, false}, {new(int), false, nil},
		{[]string(nil), false, nil}, {inner{}, true, map[string]any{}}, {wrapped{}, false, map[string]any{}},
	} {
		require.Equal(t, c.want, zero(reflect.TypeOf(c.value), c.omitempty), "%T", c.value)
	}
}

func TestEveryTypeIsDescribed(t *testing.T) {
	all := define(roots(builtin.Table()), false)
	fields, bare := 0, 0
	for name, def := range all {
		if strings.HasPrefix(name, "io.k8s.apiextensions-apiserver.") { // types without SwaggerDoc
			continue
		}
		require.NotEmpty(t, def.schema.Description, name)
		for _, p := range def.schema.Properties {
			fields++
			if p.Description == "" {
				bare++
			}
		}
	}
	require.Less(t, bare, fields/100, "fields without a comment")
	for name := range undocumented {
		require.NotNil(t, all[name], name)
	}
}
