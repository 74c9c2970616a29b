package openapi

import (
	"encoding/json"
	"sync"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"example.com/fakeapi/fake/internal/resource/builtin"
)

var parsedV2 = sync.OnceValues(func() (*spec.Swagger, error) {
	doc := new(spec.Swagger)
	return doc, json.Unmarshal(documents().V2().JSON, doc)
})

func swagger(t *testing.T) *spec.Swagger {
	t.Helper()
	doc, err := parsedV2()
	require.NoError(t, err)
	return doc
}

func operationsV2(p spec.PathItem) map[string]*spec.Operation {
	return map[string]*spec.Operation{
		"get": p.Get, "put": p.Put, "post": p.Post, "patch": p.Patch, "delete": p.Delete, "head": p.Head, "options": p.Options,
	}
}

func TestV2(t *testing.T) {
	doc := swagger(t)
	require.Equal(t, "2.0", doc.Swagger)
	again, err := json.Marshal(doc)
	require.NoError(t, err)
	require.JSONEq(t, string(documents().V2().JSON), string(again), "it is what the types of OpenAPI hold")
	requireReferences(t, documents().V2().JSON, "#/definitions/", doc.Definitions)

	pods := doc.Paths.Paths["/api/v1/namespaces/{namespace}/pods"]
	require.Equal(t, "createCoreV1NamespacedPod", pods.Post.ID)
	require.Contains(t, pods.Get.Produces, "application/json;stream=watch")
	require.NotContains(t, string(documents().V2().JSON), `"oneOf":[`)
	port := doc.Definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]
	require.Equal(t, spec.StringOrArray{"string"}, port.Type)
	require.Equal(t, "int-or-string", port.Format)
	require.Nil(t, doc.Definitions["io.k8s.api.core.v1.ContainerPort"].Properties["protocol"].Default)
}

// The protobuf document, which client-go requests, equals the JSON document.
func TestProtobufV2(t *testing.T) {
	message := new(openapi_v2.Document)
	require.NoError(t, proto.Unmarshal(documents().V2().Protobuf(), message))
	back := new(spec.Swagger)
	complete, err := back.FromGnostic(message)
	require.NoError(t, err)
	require.True(t, complete, "the form holds more than can be read")
	body, err := json.Marshal(back)
	require.NoError(t, err)
	require.JSONEq(t, string(documents().V2().JSON), string(body))
}

// v2 and v3 schemas differ only in what v2 does not support.
func TestV2HasTheSchemasOfV3(t *testing.T) {
	v2, v3 := define(roots(builtin.Table()), true), define(roots(builtin.Table()), false)
	require.Len(t, v2, len(v3))
	for name, def := range v3 {
		other := v2[name].schema
		require.Equal(t, def.dependencies, v2[name].dependencies, name)
		require.Equal(t, def.schema.Required, other.Required, name)
		require.Equal(t, def.schema.Extensions, other.Extensions, name)
		require.Len(t, other.Properties, len(def.schema.Properties), name)
		for field, property := range def.schema.Properties {
			require.Equal(t, property.Type, other.Properties[field].Type, "%s of %s", field, name)
			require.Equal(t, property.Extensions, other.Properties[field].Extensions, "%s of %s", field, name)
			require.Equal(t, property.Enum, other.Properties[field].Enum, "%s of %s", field, name)
		}
	}
}
