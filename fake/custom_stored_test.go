package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// gaugeCRD defines gauges with numbers and a default for the status.
const gaugeCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gauges.gauge.example.com}
spec:
  group: gauge.example.com
  scope: Namespaced
  names: {plural: gauges, singular: gauge, kind: Gauge}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    selectableFields: [{jsonPath: .spec.whole}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          data: {type: string}
          spec:
            type: object
            properties:
              whole: {type: integer}
              number: {type: number}
              half: {type: number, multipleOf: 0.5}
              text: {type: string}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              missing: {type: string}
          status:
            type: object
            properties: {phase: {type: string}}
`

const gaugesPath = "/apis/gauge.example.com/v1/namespaces/default/gauges"

// startGauges starts a server with gaugeCRD after change.
func startGauges(t *testing.T, change func(*apiextensionsv1.CustomResourceDefinition)) *fakeapi.Server {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(gaugeCRD), crd))
	if change != nil {
		change(crd)
	}
	return fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithCRDs(fakeapi.CRDsFromObjects(crd)))
}

// gauge returns a gauge with a name and the JSON of its spec.
func gauge(name, spec string) string {
	return `{"apiVersion":"gauge.example.com/v1","kind":"Gauge","metadata":{"name":"` + name + `"},"spec":` + spec + `}`
}

// gaugeState is the part of a gauge that the tests compare.
type gaugeState struct {
	Metadata struct {
		ResourceVersion string
		Generation      int64
	}
	Spec   json.RawMessage
	Status json.RawMessage
}

// gaugeRequest sends a request and returns the response and what it contains.
func gaugeRequest(t *testing.T, srv *fakeapi.Server, method, path, contentType, body string, want int) ([]byte, gaugeState) {
	t.Helper()
	code, _, answer := send(t, srv, method, path, contentType, []byte(body))
	require.Equal(t, want, code, "%s %s: %s", method, body, answer)
	var state gaugeState
	require.NoError(t, json.Unmarshal(answer, &state), "%s", answer)
	return answer, state
}

// Every read of a custom resource returns the numbers that decoding its stored JSON returns, whose
// JSON has no decimal point in whole numbers. Writing back what was read changes nothing, whatever
// the size of the object, and a patch with another spelling of the same number changes the
// generation (recorded from a real server).
func TestWholeNumbersInCustomResources(t *testing.T) {
	for _, size := range []int{1, 100_000, 300_000} {
		srv := startGauges(t, nil)
		for _, test := range []struct{ name, spec, patch, want string }{
			{"a", `"whole":2.0`, `{"whole":2.0}`, `"whole":2`},
			{"b", `"number":1e3`, `{"number":1e3}`, `"number":1000`},
			{"c", `"half":0.1e1`, `{"half":1.0}`, `"half":1`},
			{"d", `"free":{"x":[2.0,{"y":3.0}]}`, `{"free":{"x":[2.0,{"y":3.0}]}}`, `"free":{"x":[2,{"y":3}]}`},
			{"e", `"number":9007199254740993.0`, `{"number":9007199254740993.0}`, `"number":9007199254740992`},
		} {
			text := `"text":"` + strings.Repeat("x", size) + `"`
			path := gaugesPath + "/" + test.name
			_, created := gaugeRequest(t, srv, http.MethodPost, gaugesPath, mediaJSON, gauge(test.name, "{"+test.spec+","+text+"}"), 201)
			require.Contains(t, string(created.Spec), test.want)
			body, read := gaugeRequest(t, srv, http.MethodGet, path, "", "", 200)
			require.Equal(t, created, read)
			_, written := gaugeRequest(t, srv, http.MethodPut, path, mediaJSON, string(body), 200)
			require.Equal(t, read, written, "writing back what was read changes nothing")
			_, patched := gaugeRequest(t, srv, http.MethodPatch, path, mergeJSON, `{"spec":`+test.patch+`}`, 200)
			require.EqualValues(t, 2, patched.Metadata.Generation)
			require.Equal(t, string(read.Spec), string(patched.Spec))
		}
	}
}

// A whole number is selected by its integer.
func TestWholeNumbersInFieldSelectors(t *testing.T) {
	srv := startGauges(t, nil)
	gaugeRequest(t, srv, http.MethodPost, gaugesPath, "application/json", gauge("a", `{"whole":1e6}`), 201)
	body, _ := gaugeRequest(t, srv, http.MethodGet, gaugesPath+"?fieldSelector=spec.whole%3D1000000", "", "", 200)
	require.Contains(t, string(body), `"name":"a"`)
}

// An object that was stored before its field had a default is selected by the default.
func TestNewDefaultsInFieldSelectors(t *testing.T) {
	srv := startGauges(t, nil)
	gaugeRequest(t, srv, http.MethodPost, gaugesPath, mediaJSON, gauge("a", `{}`), 201)
	code, _, answer := send(t, srv, http.MethodPatch, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gauges.gauge.example.com",
		"application/json-patch+json", []byte(`[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/whole/default","value":7}]`))
	require.Equal(t, 200, code, "%s", answer)
	for selected, want := range map[string]bool{"7": true, "": false} {
		body, _ := gaugeRequest(t, srv, http.MethodGet, gaugesPath+"?fieldSelector=spec.whole%3D"+selected, "", "", 200)
		require.Equal(t, want, strings.Contains(string(body), `"name":"a"`), "%q: %s", selected, body)
	}
}

// The negative zero is stored as -0 and read as 0, so that writing back 0 is a write.
func TestNegativeZeroInCustomResources(t *testing.T) {
	srv := startGauges(t, nil)
	_, created := gaugeRequest(t, srv, http.MethodPost, gaugesPath, "application/json", gauge("a", `{"number":-0.0}`), 201)
	require.Equal(t, `{"number":0}`, string(created.Spec))
	body, _ := gaugeRequest(t, srv, http.MethodGet, gaugesPath+"/a", "", "", 200)
	_, first := gaugeRequest(t, srv, http.MethodPut, gaugesPath+"/a", "application/json", string(body), 200)
	require.NotEqual(t, created.Metadata.ResourceVersion, first.Metadata.ResourceVersion)
	require.EqualValues(t, 1, first.Metadata.Generation)
	body, _ = gaugeRequest(t, srv, http.MethodGet, gaugesPath+"/a", "", "", 200)
	_, second := gaugeRequest(t, srv, http.MethodPut, gaugesPath+"/a", "application/json", string(body), 200)
	require.Equal(t, first, second)
}

// A default of the status is in every response, also in that of the create, which drops the status.
// It is not stored before the next write.
func TestStatusDefaultsOfCustomResources(t *testing.T) {
	srv := startGauges(t, func(crd *apiextensionsv1.CustomResourceDefinition) {
		schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		status := schema.Properties["status"]
		status.Default = &apiextensionsv1.JSON{Raw: []byte(`{"phase":"new"}`)}
		schema.Properties["status"] = status
	})
	const want = `{"phase":"new"}`
	sent := strings.TrimSuffix(gauge("a", `{"whole":1}`), "}") + `,"status":{"phase":"old"}}`
	for _, query := range []string{"?dryRun=All", ""} {
		_, created := gaugeRequest(t, srv, http.MethodPost, gaugesPath+query, "application/json", sent, 201)
		require.Equal(t, want, string(created.Status), query)
	}
	body, read := gaugeRequest(t, srv, http.MethodGet, gaugesPath+"/a", "", "", 200)
	require.Equal(t, want, string(read.Status))
	list, _ := gaugeRequest(t, srv, http.MethodGet, gaugesPath, "", "", 200)
	require.Contains(t, string(list), `"status":`+want)
	require.Equal(t, want, string(firstGaugeEvent(t, srv).Status))
	_, first := gaugeRequest(t, srv, http.MethodPut, gaugesPath+"/a", "application/json", string(body), 200)
	require.NotEqual(t, read.Metadata.ResourceVersion, first.Metadata.ResourceVersion, "now the default is stored")
	require.Equal(t, want, string(first.Status))
	require.EqualValues(t, 1, first.Metadata.Generation)
}

// firstGaugeEvent returns the object of the first event of a watch.
func firstGaugeEvent(t *testing.T, srv *fakeapi.Server) gaugeState {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL()+gaugesPath+"?watch=1", nil)
	require.NoError(t, err)
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	var event struct{ Object gaugeState }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&event))
	return event.Object
}
