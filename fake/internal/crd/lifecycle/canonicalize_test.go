package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TestCanonicalize compares the result with that of a real v0.37.2 server.
func TestCanonicalize(t *testing.T) {
	crd := decodeCRD(t, []byte(`{"metadata":{"name":"foos.example.com"},"spec":{"group":"example.com","names":{"plural":"foos","kind":"FooBar"},
		"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"name":"a","namespace":"b"}}}},
		"versions":[
			{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
				"d":{"type":"object","default":{"b":1.0,"a":2}},"n":{"type":"string","nullable":true,"default":null}}}}},
			{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{
				"d":{"type":"object","default":{"a":2,"b":1.0}},"n":{"type":"string","nullable":true}}}}}]}}`), nil)
	require.Equal(t, "foobar", crd.Spec.Names.Singular)
	require.Equal(t, "FooBarList", crd.Spec.Names.ListKind)
	require.Equal(t, []string{"v1"}, crd.Status.StoredVersions)
	require.EqualValues(t, 443, *crd.Spec.Conversion.Webhook.ClientConfig.Service.Port)
	for _, v := range crd.Spec.Versions {
		require.JSONEq(t, `{"type":"object","properties":{"d":{"type":"object","default":{"a":2,"b":1}},"n":{"type":"string","nullable":true}}}`,
			string(mustJSON(t, v.Schema.OpenAPIV3Schema)))
		require.Equal(t, `{"a":2,"b":1}`, string(v.Schema.OpenAPIV3Schema.Properties["d"].Default.Raw))
	}
	one, other := crd.Spec.Versions[0].Schema, crd.Spec.Versions[1].Schema
	one.OpenAPIV3Schema.Properties["d"] = apiextensionsv1.JSONSchemaProps{}
	require.NotEmpty(t, other.OpenAPIV3Schema.Properties["d"].Type, "versions share no memory")
}

// TestCanonicalizeInvalidJSON has a value that is impossible in a JSON body.
func TestCanonicalizeInvalidJSON(t *testing.T) {
	crd := newCRD(t, "foos", "Foo", "example.com")
	crd.Spec.Names.Singular = ""
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Default = &apiextensionsv1.JSON{Raw: []byte("{")}
	require.Error(t, Canonicalize(crd))
	require.Empty(t, crd.Spec.Names.Singular, "the object is unchanged")
	require.NotEmpty(t, Validate(t.Context(), crd))
	require.NotEmpty(t, ValidateUpdate(t.Context(), crd, crd))
	require.Empty(t, WarningsOnCreate(crd))
	require.Len(t, reconcileCRD(crd, nil, crd.CreationTimestamp.Time), 2)
}
