package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
)

const protobufPrefix = "k8s\x00"

// protobufEnvelope returns a protobuf body with the envelope u around message.
func protobufEnvelope(t *testing.T, u runtime.Unknown, message interface{ Marshal() ([]byte, error) }) string {
	t.Helper()
	var err error
	if message != nil {
		u.Raw, err = message.Marshal()
		require.NoError(t, err)
	}
	b, err := u.Marshal()
	require.NoError(t, err)
	return protobufPrefix + string(b)
}

// The errors of invalid protobuf bodies are those of a real server (PB-02, PB-07).
func TestProtobufBodies(t *testing.T) {
	named := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	of := func(version, kind string) runtime.Unknown {
		return runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: version, Kind: kind}}
	}
	const unrecognized = "the object provided is unrecognized (must be of type ConfigMap): "
	const handled = ` in version "v1" cannot be handled as a ConfigMap: `
	valid := protobufEnvelope(t, of("v1", "ConfigMap"), named("whole"))
	packed := of("v1", "ConfigMap")
	packed.ContentEncoding = "gzip"
	typed := of("v1", "ConfigMap")
	typed.ContentType = mediaJSON
	broken := of("v1", "ConfigMap")
	broken.Raw = []byte("\x0a\xff")
	srv := fakeapi.Start(t)
	for name, tt := range map[string]struct {
		body    string
		code    int
		message string
	}{
		"valid":            {valid, 201, ""},
		"no kind":          {protobufEnvelope(t, of("", ""), named("of-no-kind")), 201, ""},
		"content encoding": {protobufEnvelope(t, packed, named("content-encoding")), 201, ""},
		"content type":     {protobufEnvelope(t, typed, named("content-type")), 201, ""},
		"another kind":     {protobufEnvelope(t, of("v1", "Secret"), named("x")), 400, "Secret" + handled + "converting (v1.Secret) to (v1.ConfigMap): unknown conversion"},
		"unknown kind":     {protobufEnvelope(t, of("v1", "Nonsense"), named("x")), 400, "Nonsense" + handled + `no kind "Nonsense" is registered for version "v1" in scheme`},
		"unknown version":  {protobufEnvelope(t, of("v2", "ConfigMap"), named("x")), 400, `ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v2"`},
		"broken message":   {protobufEnvelope(t, broken, nil), 400, "ConfigMap" + handled + "unexpected EOF"},
		"truncated":        {valid[:20], 400, unrecognized + "unexpected EOF (6b3873000a0f0a0276311209436f6e6669674d61)"},
		"empty":            {"", 400, unrecognized + "empty data (<empty>)"},
		"only the prefix":  {protobufPrefix, 400, unrecognized + "empty body (6b387300)"},
		"no prefix":        {valid[4:], 400, unrecognized + "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"},
	} {
		t.Run(name, func(t *testing.T) {
			got := sendWith(t, srv, http.MethodPost, configMapsPath+"?fieldValidation=Strict", tt.body, "Content-Type", mediaProtobuf)
			require.Equal(t, tt.code, got.code, "%s", got.body)
			var s metav1.Status
			require.NoError(t, json.Unmarshal(got.body, &s))
			require.True(t, strings.HasPrefix(s.Message, tt.message), s.Message)
		})
	}
	// The formats of request and response are independent (CN-07). Errors are in the format of the
	// response (PB-06).
	got := sendWith(t, srv, http.MethodPut, configMapsPath+"/whole", valid, "Content-Type", mediaProtobuf, "Accept", "application/yaml")
	require.Equal(t, "application/yaml", got.header.Get("Content-Type"))
	require.Contains(t, string(got.body), "\nkind: ConfigMap\n")
	got = sendWith(t, srv, http.MethodGet, configMapsPath+"/none", "", "Accept", mediaProtobuf)
	require.Equal(t, mediaProtobuf, got.header.Get("Content-Type"))
	require.True(t, strings.HasPrefix(string(got.body), protobufPrefix))
}

// The types of the aggregator and of the definitions of custom resources are decoded as by a real
// server.
func TestProtobufBodiesOfExtensions(t *testing.T) {
	of := func(version, kind string) runtime.Unknown {
		return runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: version, Kind: kind}}
	}
	definition := func(value string) *apiextensionsv1.CustomResourceDefinition {
		schema := &apiextensionsv1.JSONSchemaProps{Type: "object", Default: &apiextensionsv1.JSON{Raw: []byte(value)}}
		return &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema}}},
		}}
	}
	crd := of("apiextensions.k8s.io/v1", "CustomResourceDefinition")
	const definitions, services = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/apiregistration.k8s.io/v1/apiservices"
	const handled = ` cannot be handled as a CustomResourceDefinition: `
	srv := fakeapi.Start(t)
	for name, tt := range map[string]struct{ path, body, message string }{
		"garbage in a schema":   {definitions, protobufEnvelope(t, crd, definition("garbage")), `CustomResourceDefinition in version "v1"` + handled + "invalid character 'g' looking for beginning of value"},
		"truncated in a schema": {definitions, protobufEnvelope(t, crd, definition("{")), `CustomResourceDefinition in version "v1"` + handled + "unexpected end of JSON input"},
		"Status":                {definitions, protobufEnvelope(t, of("v1", "Status"), nil), `Status in version "v1"` + handled + "converting (v1.Status) to (apiextensions.CustomResourceDefinition): unknown conversion"},
		"options":               {services, protobufEnvelope(t, of("v1", "CreateOptions"), nil), `CreateOptions in version "v1" cannot be handled as a APIService: converting (v1.CreateOptions) to (apiregistration.APIService): unknown conversion`},
		"an old APIService":     {services, protobufEnvelope(t, of("apiregistration.k8s.io/v1beta1", "APIService"), nil), "the API version in the data (apiregistration.k8s.io/v1beta1) does not match the expected API version (apiregistration.k8s.io/v1)"},
		"an old definition":     {definitions, protobufEnvelope(t, of("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition"), nil), "the API version in the data (apiextensions.k8s.io/v1beta1) does not match the expected API version (apiextensions.k8s.io/v1)"},
	} {
		t.Run(name, func(t *testing.T) {
			got := sendWith(t, srv, http.MethodPost, tt.path, tt.body, "Content-Type", mediaProtobuf)
			var s metav1.Status
			require.NoError(t, json.Unmarshal(got.body, &s), "%s", got.body)
			require.EqualValues(t, http.StatusBadRequest, s.Code)
			require.Equal(t, tt.message, s.Message)
		})
	}
}

// A YAML body is one document. Documents after it are ignored.
func TestYAMLBodies(t *testing.T) {
	srv := fakeapi.Start(t)
	for name, tt := range map[string]struct {
		body string
		code int
	}{
		"a":          {"kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: a\n---\nkind: Nonsense\n", 201},
		"b":          {"---\nmetadata:\n  name: b\n", 201},
		"c":          {`{"metadata":{"name":"c"}}`, 201},
		"broken":     {"kind: [\n", 400},
		"plain text": {"just text", 400},
	} {
		got := sendWith(t, srv, http.MethodPost, configMapsPath, tt.body, "Content-Type", "application/yaml")
		require.Equal(t, tt.code, got.code, "%s: %s", name, got.body)
	}
	list := sendWith(t, srv, http.MethodGet, configMapsPath, "", "Accept", "application/yaml")
	require.Equal(t, 3, strings.Count(string(list.body), "- metadata:\n"))
	got := sendWith(t, srv, http.MethodDelete, configMapsPath+"/a", "dryRun: [All]", "Content-Type", "application/yaml", "Accept", "application/yaml")
	require.Contains(t, string(got.body), "status: Success\n")
	require.Equal(t, http.StatusOK, sendWith(t, srv, http.MethodGet, configMapsPath+"/a", "").code)
}

// A request that accepts no available format receives indented JSON without a newline (CN-03,
// CN-08).
func TestNotAcceptable(t *testing.T) {
	srv := fakeapi.Start(t)
	for _, accept := range []string{"application/xml", mediaJSON + ";as=Nope;v=v1;g=meta.k8s.io"} {
		got := sendWith(t, srv, http.MethodGet, configMapsPath+"/a", "", "Accept", accept)
		require.Equal(t, http.StatusNotAcceptable, got.code)
		require.Equal(t, mediaJSON, got.header.Get("Content-Type"))
		require.True(t, strings.HasPrefix(string(got.body), "{\n  \"kind\": \"Status\",\n"), "%s", got.body)
		require.True(t, strings.HasSuffix(string(got.body), "\n}"))
	}
}

// The fields of a PartialObjectMetadataList have other numbers in meta.k8s.io/v1beta1.
func TestProtobufListOfMetadata(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(configMap("a", "1"), configMap("b", "2")))
	read := func(version string, list interface{ Unmarshal([]byte) error }) {
		t.Helper()
		got := sendWith(t, srv, http.MethodGet, configMapsPath, "", "Accept", "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v="+version)
		require.Equal(t, http.StatusOK, got.code, "%s", got.body)
		var u runtime.Unknown
		require.NoError(t, u.Unmarshal([]byte(strings.TrimPrefix(string(got.body), protobufPrefix))))
		require.Equal(t, runtime.TypeMeta{APIVersion: "meta.k8s.io/" + version, Kind: "PartialObjectMetadataList"}, u.TypeMeta)
		require.NoError(t, list.Unmarshal(u.Raw))
	}
	var stable metav1.PartialObjectMetadataList
	read("v1", &stable)
	require.Len(t, stable.Items, 2)
	require.Equal(t, srv.ResourceVersion(), stable.ResourceVersion)
	var beta metav1beta1.PartialObjectMetadataList
	read("v1beta1", &beta)
	require.Equal(t, stable.Items, beta.Items)
	require.Equal(t, stable.ListMeta, beta.ListMeta)
}
