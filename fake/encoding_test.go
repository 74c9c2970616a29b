package fakeapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/client-go/kubernetes/scheme"

	fakeapi "example.com/fakeapi/fake"
)

const cborPrefix = "\xd9\xd9\xf7"

// httpResponse is a response with its body.
type httpResponse struct {
	code   int
	header http.Header
	body   []byte
}

// sendWith sends a request. headers are names and values in turn.
func sendWith(t *testing.T, srv *fakeapi.Server, method, path, body string, headers ...string) httpResponse {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, srv.URL()+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("User-Agent", "test/1")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return httpResponse{resp.StatusCode, resp.Header, read}
}

// item encodes v as CBOR, as apimachinery does.
func item(t testing.TB, v any) string {
	t.Helper()
	b, err := direct.Marshal(v)
	require.NoError(t, err)
	return cborPrefix + string(b)
}

// requireSameAsJSON checks that two bodies have the same content.
func requireSameAsJSON(t *testing.T, cborBody, jsonBody []byte) {
	t.Helper()
	require.True(t, bytes.HasPrefix(cborBody, []byte(cborPrefix)), "CB-03: %x", cborBody)
	var got, want any
	require.NoError(t, direct.Unmarshal(cborBody, &got))
	again, err := json.Marshal(got)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(jsonBody, &want))
	wanted, err := json.Marshal(want)
	require.NoError(t, err)
	require.JSONEq(t, string(wanted), string(again))
}

// widgetsOfAnyFields defines custom resources without a schema.
const widgetsOfAnyFields = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// Every response in CBOR has the same content as in JSON.
func TestCBORResponses(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithFeature(fakeapi.CBOR, true), fakeapi.WithObjects(newKiBConfigMaps(30)...), fakeapi.WithObjects(newDeployment("web")))
	require.NoError(t, srv.LoadYAML(widgetsOfAnyFields))
	const widgets = "/apis/example.com/v1/namespaces/default/widgets"
	for _, n := range []int{1, 30, 300} {
		widget := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w" + strconv.Itoa(n)}}
		for i := range n {
			widget["f"+strconv.Itoa(i)] = i
		}
		body, err := json.Marshal(widget)
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, sendWith(t, srv, http.MethodPost, widgets, string(body)).code)
	}
	const meta = ";g=meta.k8s.io;v=v1"
	for _, tt := range []struct{ path, params string }{
		{configMapsPath + "/m0000001", ""},
		{configMapsPath + "/m0000001", ";as=PartialObjectMetadata" + meta},
		{configMapsPath, ""},
		{configMapsPath + "?limit=2", ""},
		{configMapsPath, ";as=PartialObjectMetadataList" + meta},
		{"/api/v1/namespaces/default/pods", ""},
		{"/apis/apps/v1/namespaces/default/deployments/web", ""},
		{"/apis/apps/v1/namespaces/default/deployments/web/scale", ""},
		{widgets + "/w1", ""},
		{widgets + "/w30", ""},
		{widgets + "/w300", ""},
		{widgets + "/w30", ";as=PartialObjectMetadata" + meta},
		{widgets, ""},
		{widgets + "?limit=2", ""},
		{configMapsPath + "/none", ""},
		{"/api/v1", ""},
		{"/apis", ""},
		{"/apis", ";as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io"},
	} {
		got := sendWith(t, srv, http.MethodGet, tt.path, "", "Accept", mediaCBOR+tt.params)
		want := sendWith(t, srv, http.MethodGet, tt.path, "", "Accept", mediaJSON+tt.params)
		require.Equal(t, want.code, got.code, tt.path)
		media, _, _ := strings.Cut(got.header.Get("Content-Type"), ";")
		require.Equal(t, mediaCBOR, media, tt.path)
		requireSameAsJSON(t, got.body, want.body)
	}
}

// Valid and invalid bodies in CBOR, with the responses of a real server.
func TestCBORBodies(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithFeature(fakeapi.CBOR, true))
	cm := func(name string, more ...any) map[string]any {
		m := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}}
		for i := 0; i < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return m
	}
	twice := cborPrefix + "\xa3DkindIConfigMapJapiVersionBv1Ddata\xa2AkA1AkA2"
	for name, tt := range map[string]struct {
		body, query string
		code        int
		message     string
		warning     string
	}{
		"created":        {body: item(t, cm("a", "data", map[string]any{"k": "1"})), code: 201},
		"without prefix": {body: strings.TrimPrefix(item(t, cm("b")), cborPrefix), code: 201},
		"unknown field":  {body: item(t, cm("c", "nope", "1")), code: 201, warning: "cbor: found unknown field at map element index 1"},
		"ignored":        {body: item(t, cm("d", "nope", "1")), query: "?fieldValidation=Ignore", code: 201},
		"strict":         {body: item(t, cm("e", "nope", "1")), query: "?fieldValidation=Strict", code: 400, message: `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: cbor: found unknown field at map element index 1`},
		"duplicate key":  {body: twice, query: "?fieldValidation=Ignore", code: 400, message: `ConfigMap in version "v1" cannot be handled as a ConfigMap: cbor: found duplicate map key "k" at map element index 1`},
		"another kind":   {body: item(t, map[string]any{"apiVersion": "v1", "kind": "Secret"}), code: 400, message: `Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (v1.ConfigMap): unknown conversion`},
		"another type":   {body: item(t, cm("f", "data", map[string]any{"k": 1})), code: 400, message: `ConfigMap in version "v1" cannot be handled as a ConfigMap: cbor: cannot unmarshal positive integer into Go struct field v1.ConfigMap.data of type string`},
		"empty":          {body: "", code: 400, message: "the object provided is unrecognized (must be of type ConfigMap): unable to determine group/version/kind: EOF (<empty>)"},
		"not a map":      {body: "\x00", code: 400, message: "the object provided is unrecognized (must be of type ConfigMap): unable to determine group/version/kind: cbor: cannot unmarshal positive integer into Go value of type v1.TypeMeta (00)"},
		"truncated":      {body: cborPrefix + "\xa1", code: 400, message: "the object provided is unrecognized (must be of type ConfigMap): unable to determine group/version/kind: unexpected EOF (d9d9f7a1)"},
		"without a kind": {body: item(t, map[string]any{"metadata": map[string]any{"name": "g"}}), code: 201},
	} {
		t.Run(name, func(t *testing.T) {
			got := sendWith(t, srv, http.MethodPost, configMapsPath+tt.query, tt.body, "Content-Type", mediaCBOR)
			require.Equal(t, tt.code, got.code, "%s", got.body)
			if tt.message != "" {
				var s metav1.Status
				require.NoError(t, json.Unmarshal(got.body, &s))
				require.Equal(t, tt.message, s.Message)
			}
			if tt.warning != "" {
				require.Equal(t, `299 - "`+tt.warning+`"`, got.header.Get("Warning"))
			} else {
				require.Empty(t, got.header.Get("Warning"))
			}
		})
	}
	// Apply patches and delete options in CBOR.
	const applied = configMapsPath + "/applied?fieldManager=test"
	got := sendWith(t, srv, http.MethodPatch, applied, item(t, cm("applied", "data", map[string]any{"k": "1"})),
		"Content-Type", "application/apply-patch+cbor", "Accept", mediaCBOR)
	require.Equal(t, http.StatusCreated, got.code, "%s", got.body)
	got = sendWith(t, srv, http.MethodPatch, applied, "apiVersion: v1", "Content-Type", "application/apply-patch+cbor")
	require.Equal(t, http.StatusBadRequest, got.code)
	require.Contains(t, string(got.body), "error decoding patch: cbor: 12 bytes of extraneous data starting at index 2")
	got = sendWith(t, srv, http.MethodDelete, configMapsPath+"/applied", cborPrefix+"\xa1", "Content-Type", mediaCBOR)
	require.Contains(t, string(got.body), `"unable to determine group/version/kind: unexpected EOF"`)
	got = sendWith(t, srv, http.MethodDelete, configMapsPath+"/applied", item(t, map[string]any{"dryRun": []string{"All"}}),
		"Content-Type", mediaCBOR, "Accept", mediaCBOR)
	require.Equal(t, http.StatusOK, got.code)
	obj, _, err := cbor.NewSerializer(scheme.Scheme, scheme.Scheme).Decode(got.body, nil, nil)
	require.NoError(t, err)
	require.Equal(t, "Success", obj.(*metav1.Status).Status)
	require.Equal(t, http.StatusOK, sendWith(t, srv, http.MethodGet, configMapsPath+"/applied", "").code, "the delete was a dry run")
}

// Bodies of custom resources in CBOR, with the responses of a real server, which does not look for
// unknown fields in them.
func TestCBORBodiesOfCustomResources(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithFeature(fakeapi.CBOR, true))
	require.NoError(t, srv.LoadYAML(widgetsWithVersions))
	widget := func(name string, spec any) map[string]any {
		return map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name, "nope": 1}, "spec": spec, "nope": 1}
	}
	const unrecognized = "the object provided is unrecognized (must be of type Widget): "
	const handled = ` cannot be handled as a Widget: `
	for name, tt := range map[string]struct {
		body, query string
		code        int
		message     string
	}{
		"created":           {item(t, widget("a", nil)), "", 201, ""},
		"strict":            {item(t, widget("b", nil)), "?fieldValidation=Strict", 201, ""},
		"without a kind":    {cborPrefix + "\xa1DkindA", "?fieldValidation=Ignore", 400, unrecognized + "unable to determine group/version/kind: unexpected EOF (d9d9f7a1446b696e6441)"},
		"null as kind":      {cborPrefix + "\xa1Dkind\xf6", "?fieldValidation=Ignore", 400, unrecognized + "Object 'Kind' is missing in '55799({'kind': null})' (d9d9f7a1446b696e64f6)"},
		"without a version": {item(t, map[string]any{"kind": "Widget"}), "", 400, `Widget in version ""` + handled + `Object 'apiVersion' is missing in '55799({'kind': 'Widget'})'`},
		"a large number":    {item(t, widget("c", uint64(1<<63))), "", 400, `Widget in version "v1"` + handled + "cbor: cannot unmarshal positive integer into Go value of type int64 (9223372036854775808 overflows Go's int64)"},
		"a list":            {cborPrefix + "\x80", "", 400, unrecognized + "unable to determine group/version/kind: cbor: cannot unmarshal array into Go value of type v1.TypeMeta (cannot decode CBOR array to struct without toarray option) (d9d9f780)"},
		"a duplicate key":   {cborPrefix + "\xa2Aa\x01Aa\x02", "", 400, unrecognized + `unable to determine group/version/kind: cbor: found duplicate map key "a" at map element index 1 (d9d9f7a2416101416102)`},
	} {
		t.Run(name, func(t *testing.T) {
			got := sendWith(t, srv, http.MethodPost, "/apis/example.com/v1/namespaces/default/widgets"+tt.query, tt.body, "Content-Type", mediaCBOR)
			require.Equal(t, tt.code, got.code, "%s", got.body)
			require.Empty(t, got.header.Get("Warning"))
			if tt.message == "" {
				require.NotContains(t, string(got.body), "nope")
				return
			}
			var s metav1.Status
			require.NoError(t, json.Unmarshal(got.body, &s))
			require.Equal(t, tt.message, s.Message)
		})
	}
	got := sendWith(t, srv, http.MethodPatch, "/apis/example.com/v1/namespaces/default/widgets/a", "{}", "Content-Type", mediaJSON)
	require.Equal(t, http.StatusUnsupportedMediaType, got.code)
	require.Contains(t, string(got.body), "application/apply-patch+yaml, application/apply-patch+cbor")
}

// The types of the aggregator and of the definitions of custom resources have no Tables of their
// status, and errors name internal types, as on a real server.
func TestFormsOfExtensions(t *testing.T) {
	srv := fakeapi.Start(t)
	require.NoError(t, srv.LoadYAML(widgetsWithVersions))
	const g = ";g=meta.k8s.io;v=v1"
	const definitions, services = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/apiregistration.k8s.io/v1/apiservices"
	for _, tt := range []struct{ path, form, message string }{
		{definitions, "Table", ""},
		{definitions + "/widgets.example.com", "Table", ""},
		{definitions + "/widgets.example.com/status", "PartialObjectMetadata", ""},
		{definitions + "/widgets.example.com/status", "Table", "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"},
		{services + "/v1./status", "Table", "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"},
		{definitions, "PartialObjectMetadata", "you requested PartialObjectMetadata, but the requested object is a list (*apiextensions.CustomResourceDefinitionList)"},
		{services, "PartialObjectMetadata", "you requested PartialObjectMetadata, but the requested object is a list (*apiregistration.APIServiceList)"},
		{services + "/v1.", "PartialObjectMetadataList", "you requested PartialObjectMetadataList, but the requested object is not a list (*apiregistration.APIService)"},
		{configMapsPath, "PartialObjectMetadata", "you requested PartialObjectMetadata, but the requested object is a list (*v1.ConfigMapList)"},
	} {
		got := sendWith(t, srv, http.MethodGet, tt.path, "", "Accept", "application/json;as="+tt.form+g)
		if tt.message == "" {
			require.Equal(t, http.StatusOK, got.code, "%s %s", tt.path, tt.form)
			continue
		}
		var s metav1.Status
		require.NoError(t, json.Unmarshal(got.body, &s))
		require.EqualValues(t, http.StatusNotAcceptable, s.Code)
		require.Equal(t, tt.message, s.Message)
	}
}

// CBOR is disabled by default (CB-01, CB-04).
func TestCBORIsDisabledByDefault(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(configMap("a", "1")))
	require.Equal(t, http.StatusNotAcceptable, sendWith(t, srv, http.MethodGet, configMapsPath+"/a", "", "Accept", mediaCBOR).code)
	for method, contentType := range map[string]string{
		http.MethodPost: mediaCBOR, http.MethodPut: mediaCBOR, http.MethodDelete: mediaCBOR,
		http.MethodPatch: "application/apply-patch+cbor",
	} {
		path := configMapsPath + "/a"
		if method == http.MethodPost {
			path = configMapsPath
		}
		got := sendWith(t, srv, method, path, item(t, map[string]any{}), "Content-Type", contentType)
		require.Equal(t, http.StatusUnsupportedMediaType, got.code, "%s: %s", method, got.body)
	}
	fallback := sendWith(t, srv, http.MethodGet, configMapsPath+"/a", "", "Accept", "application/cbor, application/json;q=0.5")
	require.Equal(t, mediaJSON, fallback.header.Get("Content-Type"))
}

// A watch in CBOR is a sequence of items. Each item and the object in it start with the CBOR
// prefix.
func TestCBORWatch(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithFeature(fakeapi.CBOR, true), fakeapi.WithObjects(configMap("a", "1")))
	const watched = configMapsPath + "?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
	got := sendWith(t, srv, http.MethodGet, watched, "", "Accept", mediaCBOR)
	require.Equal(t, "application/cbor-seq", got.header.Get("Content-Type"))
	frames := cbor.NewFramer().NewFrameReader(io.NopCloser(bytes.NewReader(got.body)))
	serializer := cbor.NewSerializer(scheme.Scheme, scheme.Scheme)
	var seen []string
	buffer := make([]byte, 1<<20)
	for {
		n, err := frames.Read(buffer)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		var event metav1.WatchEvent
		_, _, err = cbor.NewSerializer(scheme.Scheme, scheme.Scheme, cbor.Transcode(false)).Decode(buffer[:n], nil, &event)
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(event.Object.Raw, []byte(cborPrefix)))
		obj, _, err := serializer.Decode(event.Object.Raw, nil, nil)
		require.NoError(t, err)
		seen = append(seen, event.Type+" "+obj.(*corev1.ConfigMap).Name)
	}
	require.Equal(t, []string{"ADDED a", "BOOKMARK "}, seen)
	got = sendWith(t, srv, http.MethodGet, configMapsPath+"?watch=1&resourceVersion=1", "", "Accept", mediaCBOR)
	require.Contains(t, string(got.body), "too old resource version", "the ERROR event")
}
