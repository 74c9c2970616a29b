package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
)

const protobufMark = "k8s\x00"

// enveloped is a protobuf body: an envelope around a message.
func enveloped(t *testing.T, u runtime.Unknown, message interface{ Marshal() ([]byte, error) }) string {
	t.Helper()
	var err error
	if message != nil {
		u.Raw, err = message.Marshal()
		require.NoError(t, err)
	}
	b, err := u.Marshal()
	require.NoError(t, err)
	return protobufMark + string(b)
}

// What can be wrong with a body in protobuf, in the words of a real server (PB-02, PB-07).
func TestProtobufBodies(t *testing.T) {
	named := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	of := func(version, kind string) runtime.Unknown {
		return runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: version, Kind: kind}}
	}
	const unrecognized = "the object provided is unrecognized (must be of type ConfigMap): "
	const handled = ` in version "v1" cannot be handled as a ConfigMap: `
	whole := enveloped(t, of("v1", "ConfigMap"), named("whole"))
	packed := of("v1", "ConfigMap")
	packed.ContentEncoding = "gzip"
	typed := of("v1", "ConfigMap")
	typed.ContentType = inJSON
	broken := of("v1", "ConfigMap")
	broken.Raw = []byte("\x0a\xff")
	srv := fakeapi.Start(t)
	for name, tt := range map[string]struct {
		body string
		code int
		says string
	}{
		"whole":              {whole, 201, ""},
		"of no kind":         {enveloped(t, of("", ""), named("of-no-kind")), 201, ""},
		"content encoding":   {enveloped(t, packed, named("content-encoding")), 201, ""},
		"content type":       {enveloped(t, typed, named("content-type")), 201, ""},
		"another kind":       {enveloped(t, of("v1", "Secret"), named("x")), 400, "Secret" + handled + "converting (v1.Secret) to (v1.ConfigMap): unknown conversion"},
		"no kind of ours":    {enveloped(t, of("v1", "Nonsense"), named("x")), 400, "Nonsense" + handled + `no kind "Nonsense" is registered for version "v1" in scheme`},
		"no version of ours": {enveloped(t, of("v2", "ConfigMap"), named("x")), 400, `ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v2"`},
		"broken message":     {enveloped(t, broken, nil), 400, "ConfigMap" + handled + "unexpected EOF"},
		"cut off":            {whole[:20], 400, unrecognized + "unexpected EOF (6b3873000a0f0a0276311209436f6e6669674d61)"},
		"nothing":            {"", 400, unrecognized + "empty data (<empty>)"},
		"only the mark":      {protobufMark, 400, unrecognized + "empty body (6b387300)"},
		"no mark":            {whole[4:], 400, unrecognized + "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"},
	} {
		t.Run(name, func(t *testing.T) {
			got := sendWith(t, srv, http.MethodPost, limitMaps+"?fieldValidation=Strict", tt.body, "Content-Type", inProtobuf)
			require.Equal(t, tt.code, got.code, "%s", got.body)
			var s metav1.Status
			require.NoError(t, json.Unmarshal(got.body, &s))
			require.True(t, strings.HasPrefix(s.Message, tt.says), s.Message)
		})
	}
	// Input and output are independent (CN-07), and errors are in the output's (PB-06).
	got := sendWith(t, srv, http.MethodPut, limitMaps+"/whole", whole, "Content-Type", inProtobuf, "Accept", "application/yaml")
	require.Equal(t, "application/yaml", got.header.Get("Content-Type"))
	require.Contains(t, string(got.body), "\nkind: ConfigMap\n")
	got = sendWith(t, srv, http.MethodGet, limitMaps+"/none", "", "Accept", inProtobuf)
	require.Equal(t, inProtobuf, got.header.Get("Content-Type"))
	require.True(t, strings.HasPrefix(string(got.body), protobufMark))
}

// YAML bodies are one document; what follows it nobody reads.
func TestYAMLBodies(t *testing.T) {
	srv := fakeapi.Start(t)
	for name, tt := range map[string]struct {
		body string
		code int
	}{
		"a":           {"kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: a\n---\nkind: Nonsense\n", 201},
		"b":           {"---\nmetadata:\n  name: b\n", 201},
		"c":           {`{"metadata":{"name":"c"}}`, 201},
		"broken":      {"kind: [\n", 400},
		"only a text": {"just text", 400},
	} {
		got := sendWith(t, srv, http.MethodPost, limitMaps, tt.body, "Content-Type", "application/yaml")
		require.Equal(t, tt.code, got.code, "%s: %s", name, got.body)
	}
	list := sendWith(t, srv, http.MethodGet, limitMaps, "", "Accept", "application/yaml")
	require.Equal(t, 3, strings.Count(string(list.body), "- metadata:\n"))
	got := sendWith(t, srv, http.MethodDelete, limitMaps+"/a", "dryRun: [All]", "Content-Type", "application/yaml", "Accept", "application/yaml")
	require.Contains(t, string(got.body), "status: Success\n")
	require.Equal(t, http.StatusOK, sendWith(t, srv, http.MethodGet, limitMaps+"/a", "").code)
}

// Who accepts nothing that there is gets indented JSON without a newline (CN-03, CN-08).
func TestNothingAcceptable(t *testing.T) {
	srv := fakeapi.Start(t)
	for _, accept := range []string{"application/xml", inJSON + ";as=Nope;v=v1;g=meta.k8s.io"} {
		got := sendWith(t, srv, http.MethodGet, limitMaps+"/a", "", "Accept", accept)
		require.Equal(t, http.StatusNotAcceptable, got.code)
		require.Equal(t, inJSON, got.header.Get("Content-Type"))
		require.True(t, strings.HasPrefix(string(got.body), "{\n  \"kind\": \"Status\",\n"), "%s", got.body)
		require.True(t, strings.HasSuffix(string(got.body), "\n}"))
	}
}
