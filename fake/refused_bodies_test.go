package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

const widgetsWithVersions = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com},
spec: {group: example.com, scope: Namespaced, names: {plural: widgets, kind: Widget}, versions: [
{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {n: {type: number}}}}}}},
{name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {other: {type: string}}}}}]}}`

// A body of another version has the warnings of the schema of that version, as on a real server,
// and one of another kind only those of its metadata.
func TestWarningsOfRefusedBodies(t *testing.T) {
	srv := fakeapi.Start(t)
	require.NoError(t, srv.LoadYAML(widgetsWithVersions))
	const path = "/apis/example.com/v1/namespaces/default/widgets"
	for _, test := range []struct {
		body     string
		code     int
		warnings []string
	}{
		{`{"apiVersion":"example.com/v9","kind":"Widget","x":1,"spec":{"n":1},"metadata":{"name":"a"}}`, 400, []string{`unknown field "spec"`, `unknown field "x"`}},
		{`{"apiVersion":"example.com/v2","kind":"Widget","other":"a","spec":{"n":1},"metadata":{"name":"a"}}`, 400, []string{`unknown field "spec"`}},
		{`{"apiVersion":"other.example.com/v1","kind":"Widget","x":1,"metadata":{"name":"a"}}`, 400, nil},
		{`{"apiVersion":"example.com/v1","kind":"Other","x":1,"metadata":{"name":"a"}}`, 422, nil},
		{`{"apiVersion":"example.com/v1","kind":"Other","metadata":{"name":"a","y":1}}`, 422, []string{`unknown field "metadata.y"`}},
	} {
		code, header, body := send(t, srv, "POST", path, "application/json", []byte(test.body))
		require.Equal(t, test.code, code, "%s: %s", test.body, body)
		var want []string
		for _, text := range test.warnings {
			want = append(want, `299 - "`+strings.ReplaceAll(text, `"`, `\"`)+`"`)
		}
		require.Equal(t, want, header.Values("Warning"), test.body)
	}
}

// The kind is known when a number does not decode.
func TestNumberThatDoesNotDecode(t *testing.T) {
	srv := fakeapi.Start(t)
	require.NoError(t, srv.LoadYAML(widgetsWithVersions))
	code, _, body := send(t, srv, "POST", "/apis/example.com/v1/namespaces/default/widgets", "application/json",
		[]byte(`{"apiVersion":"example.com/v1","kind":"Widget","spec":{"n":1e400},"metadata":{"name":"a"}}`))
	require.Equal(t, http.StatusBadRequest, code)
	require.Contains(t, string(body), `"message":"Widget in version \"v1\" cannot be handled as a Widget: json: cannot unmarshal number 1e400 into Go value of type float64"`)
}

// A PATCH of a collection of custom resources lacks a name before the response has a form.
func TestPatchOfCollectionBeforeAccept(t *testing.T) {
	srv := fakeapi.Start(t)
	require.NoError(t, srv.LoadYAML(widgetsWithVersions))
	for path, want := range map[string]int{
		"/apis/example.com/v1/namespaces/default/widgets": http.StatusBadRequest,
		"/api/v1/namespaces/default/configmaps":           http.StatusMethodNotAllowed,
	} {
		request, err := http.NewRequestWithContext(t.Context(), "PATCH", srv.URL()+path, http.NoBody)
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/merge-patch+json")
		request.Header.Set("Accept", "text/none")
		response, err := srv.Client().Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want, response.StatusCode, path)
	}
}

// A path with an empty group is not served by a group.
func TestEmptyGroup(t *testing.T) {
	srv := fakeapi.Start(t)
	for _, path := range []string{"/apis//v1", "/apis//v1/namespaces"} {
		code, header, body := send(t, srv, "GET", path, "", nil)
		require.Equal(t, http.StatusNotFound, code)
		require.Equal(t, "text/plain; charset=utf-8", header.Get("Content-Type"), path)
		require.Equal(t, "404 page not found\n", string(body))
	}
}

// An update of the status of a pod does not change its deletion.
func TestPodStatusIgnoresDeletionTimestamp(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithoutControllers())
	require.NoError(t, srv.LoadYAML(`{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}, spec: {nodeName: node, containers: [{name: c, image: i}]}}`))
	const path = "/api/v1/namespaces/default/pods/a"
	sent := []byte(`{"metadata":{"name":"a","deletionTimestamp":"2020-01-01T00:00:00Z"},"status":{"phase":"Running"}}`)
	code, _, body := send(t, srv, "PUT", path+"/status", "application/json", sent)
	require.Equal(t, http.StatusOK, code, string(body))
	require.NotContains(t, string(body), "deletionTimestamp")
	require.Contains(t, string(body), `"phase":"Running"`)
	code, _, _ = send(t, srv, "DELETE", path, "", nil)
	require.Equal(t, http.StatusOK, code)
	code, _, body = send(t, srv, "PUT", path+"/status", "application/json", sent)
	require.Equal(t, http.StatusOK, code, string(body))
	require.Contains(t, string(body), "deletionTimestamp")
	require.NotContains(t, string(body), "2020-01-01")
}

// The dry run of a delete that removes the last finalizers returns an object without fields, and of
// other deletes a Status, as on a real server.
func TestDryRunOfDeleteWithFinalizers(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithoutControllers())
	require.NoError(t, srv.LoadYAML(widgetsWithVersions))
	require.NoError(t, srv.LoadYAML(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, finalizers: [foregroundDeletion]}}
---
{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: default, finalizers: [orphan]}}
---
{apiVersion: example.com/v1, kind: Widget, metadata: {name: b, namespace: default}}`))
	for path, want := range map[string]string{
		"/api/v1/namespaces/default/configmaps/a":           `{"kind":"ConfigMap","apiVersion":"v1","metadata":{}}`,
		"/apis/example.com/v1/namespaces/default/widgets/a": `{"apiVersion":"example.com/v1","kind":"Widget"}`,
	} {
		code, _, body := send(t, srv, "DELETE", path, "application/json", []byte(`{"dryRun":["All"],"propagationPolicy":"Background"}`))
		require.Equal(t, http.StatusOK, code)
		require.Equal(t, want, strings.TrimSpace(string(body)))
		code, _, _ = send(t, srv, "GET", path, "", nil)
		require.Equal(t, http.StatusOK, code)
	}
	_, _, body := send(t, srv, "DELETE", "/apis/example.com/v1/namespaces/default/widgets/b?dryRun=All", "", nil)
	require.Contains(t, string(body), `"status":"Success"`)
}

// Rules are evaluated for a body of another kind, and each invalid finalizer is reported once.
func TestErrorsOfInvalidCustomResources(t *testing.T) {
	srv := fakeapi.Start(t)
	require.NoError(t, srv.LoadYAML(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com},
spec: {group: example.com, scope: Namespaced, names: {plural: widgets, kind: Widget}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema:
{type: object, properties: {extra: {type: string, x-kubernetes-validations: [{rule: self.size() < 3, message: too long}]}}}}}]}}`))
	for body, want := range map[string][]string{
		`{"apiVersion":"example.com/v1","kind":"Other","metadata":{"name":"a"},"extra":"abc"}`:                       {"kind", "extra"},
		`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","finalizers":["bad/","bad/"]}}`:       {"metadata.finalizers", "metadata.finalizers"},
		`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","finalizers":["bad/","other bad/"]}}`: {"metadata.finalizers", "metadata.finalizers", "metadata.finalizers", "metadata.finalizers", "metadata.finalizers"},
	} {
		code, _, answer := send(t, srv, "POST", "/apis/example.com/v1/namespaces/default/widgets", "application/json", []byte(body))
		require.Equal(t, http.StatusUnprocessableEntity, code)
		var status metav1.Status
		require.NoError(t, json.Unmarshal(answer, &status))
		var fields []string
		for _, cause := range status.Details.Causes {
			fields = append(fields, cause.Field)
		}
		require.ElementsMatch(t, want, fields, body)
	}
}

// A strict decoding error names the kind in the body, and a body without apiVersion has an error of
// its own then.
func TestStrictErrorsOfCustomResources(t *testing.T) {
	srv := fakeapi.Start(t)
	require.NoError(t, srv.LoadYAML(widgetsWithVersions))
	for body, want := range map[string]string{
		`{"apiVersion":"example.com/v1","kind":"Other","metadata":{"name":"a","x":1}}`:  `Other in version "v1" cannot be handled as a Other: strict decoding error: unknown field "metadata.x"`,
		`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","x":1}}`: `Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "metadata.x"`,
		`{"kind":"Widget","metadata":{"name":"a","x":1}}`:                               `Object 'apiVersion' is missing in 'object has no apiVersion field'`,
	} {
		code, _, answer := send(t, srv, "POST", "/apis/example.com/v1/namespaces/default/widgets?fieldValidation=Strict", "application/json", []byte(body))
		require.Equal(t, http.StatusBadRequest, code)
		var status metav1.Status
		require.NoError(t, json.Unmarshal(answer, &status))
		require.Equal(t, want, status.Message)
	}
}

// The names kind and apiVersion of a custom resource have one spelling.
func TestSpellingOfKindOfCustomResources(t *testing.T) {
	srv := fakeapi.Start(t)
	require.NoError(t, srv.LoadYAML(widgetsWithVersions))
	const (
		lowerVersion = `{"apiversion":"example.com/v1","kind":"Widget"}`
		upperKind    = `{"apiVersion":"example.com/v1","Kind":"Widget"}`
		missing      = `Object 'Kind' is missing in '` + upperKind + `'`
	)
	for _, tt := range []struct{ validation, body, want string }{
		{"Ignore", lowerVersion, "the API version in the data () does not match the expected API version (example.com/v1)"},
		{"Warn", lowerVersion, "the API version in the data () does not match the expected API version (example.com/v1)"},
		{"Ignore", upperKind, `Widget in version "v1" cannot be handled as a Widget: ` + missing},
		{"Warn", upperKind, "the object provided is unrecognized (must be of type Widget): " + missing + ` ({"apiVersion":"example.com/v1" ...)`},
	} {
		code, _, answer := send(t, srv, "POST", "/apis/example.com/v1/namespaces/default/widgets?fieldValidation="+tt.validation, "application/json", []byte(tt.body))
		require.Equal(t, http.StatusBadRequest, code)
		var status metav1.Status
		require.NoError(t, json.Unmarshal(answer, &status))
		require.Equal(t, tt.want, status.Message)
	}
}

// A delete that removes the last finalizers fails with a precondition of a resourceVersion, as on a
// real server.
func TestDeletePreconditionWithLastFinalizer(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithoutControllers())
	require.NoError(t, srv.LoadYAML(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, finalizers: [foregroundDeletion]}}`))
	const path = "/api/v1/namespaces/default/configmaps/a"
	rv := srv.ResourceVersion()
	code, _, body := send(t, srv, "DELETE", path, "application/json", []byte(`{"propagationPolicy":"Background","preconditions":{"resourceVersion":"`+rv+`"}}`))
	require.Equal(t, http.StatusConflict, code)
	require.Contains(t, string(body), "Key: /registry/configmaps/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ResourceVersion in precondition: , ResourceVersion in object meta: "+rv)
	code, _, _ = send(t, srv, "DELETE", path, "application/json", []byte(`{"propagationPolicy":"Background"}`))
	require.Equal(t, http.StatusOK, code)
	code, _, _ = send(t, srv, "GET", path, "", nil)
	require.Equal(t, http.StatusNotFound, code)
}
