package fakeapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

// Invalid requests return the same Status as a real v1.37 server and change nothing.
func TestBadRequests(t *testing.T) {
	const maps = "/api/v1/namespaces/default/configmaps"
	const unrecognized = "the object provided is unrecognized (must be of type ConfigMap): "
	tests := []struct {
		name, method, path, contentType, body string
		code                                  int
		reason                                metav1.StatusReason
		message                               string // a part of it
	}{
		{"truncated JSON", "POST", maps, "application/json", `{"kind":`, 400, "BadRequest",
			unrecognized + `couldn't get version/kind; json parse error: unexpected end of JSON input ({"kind":)`},
		{"empty body", "POST", maps, "application/json", ``, 400, "BadRequest", "unexpected end of JSON input (<empty>)"},
		{"a JSON array", "POST", maps, "application/json", `[]`, 400, "BadRequest", "(5b5d)"},
		{"JSON null", "POST", maps, "application/json", `null`, 422, "Invalid", "metadata.name: Required value: name or generateName is required"},
		{"text after the JSON", "POST", maps, "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}} more`, 400, "BadRequest",
			"invalid character 'm' after top-level value"},
		{"malformed YAML", "POST", maps, "application/yaml", "a: [", 400, "BadRequest", unrecognized},
		{"protobuf without the prefix", "POST", maps, "application/vnd.kubernetes.protobuf", "not protobuf", 400, "BadRequest",
			"provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"},
		{"garbage after the prefix", "POST", maps, "application/vnd.kubernetes.protobuf", "k8s\x00garbage", 400, "BadRequest", "proto: illegal wireType 7"},
		{"another kind of the same version", "POST", maps, "application/json", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`, 400, "BadRequest",
			`Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (v1.ConfigMap): unknown conversion`},
		{"an unknown kind", "POST", maps, "application/json", `{"apiVersion":"v1","kind":"Wrong","metadata":{"name":"x"}}`, 400, "BadRequest",
			`Wrong in version "v1" cannot be handled as a ConfigMap: no kind "Wrong" is registered for version "v1"`},
		{"another version of the kind", "POST", "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers", "application/json",
			`{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"x"}}`, 400, "BadRequest",
			"the API version in the data (autoscaling/v2) does not match the expected API version (autoscaling/v1)"},
		{"the kind from another group", "PUT", "/apis/events.k8s.io/v1/namespaces/default/events/x", "application/json",
			`{"apiVersion":"v1","kind":"Event","metadata":{"name":"x"}}`, 400, "BadRequest",
			"the API version in the data (v1) does not match the expected API version (events.k8s.io/v1)"},
		{"a wrong type in a field", "POST", maps, "application/json", `{"metadata":{"name":5}}`, 400, "BadRequest",
			"json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string"},
		{"an unknown field, strictly", "POST", maps + "?fieldValidation=Strict", "application/json", `{"metadata":{"name":"x"},"bogus":1}`, 400, "BadRequest",
			`strict decoding error: unknown field "bogus"`},
		{"no such validation", "POST", maps + "?fieldValidation=Maybe", "application/json", `{"metadata":{"name":"x"}}`, 422, "Invalid", "fieldValidation: Unsupported value"},
		{"an invalid name", "POST", maps, "application/json", `{"metadata":{"name":"UPPER_case"}}`, 422, "Invalid", "a lowercase RFC 1123 subdomain must consist of"},
		{"a name with a slash", "POST", maps, "application/json", `{"metadata":{"name":"a/b"}}`, 422, "Invalid", "metadata.name"},
		{"a name too long", "POST", maps, "application/json", `{"metadata":{"name":"` + strings.Repeat("x", 254) + `"}}`, 422, "Invalid", "must be no more than 253 characters"},
		{"an invalid label key", "POST", maps, "application/json", `{"metadata":{"name":"x","labels":{"bad key!":"v"}}}`, 422, "Invalid", "metadata.labels"},
		{"another namespace", "POST", maps, "application/json", `{"metadata":{"name":"x","namespace":"other"}}`, 400, "BadRequest",
			"the namespace of the provided object does not match the namespace sent on the request"},
		{"a namespace that does not exist", "POST", "/api/v1/namespaces/nowhere/configmaps", "application/json", `{"metadata":{"name":"x"}}`, 404, "NotFound",
			`namespaces "nowhere" not found`},
		{"a name in use", "POST", maps, "application/json", `{"metadata":{"name":"there"}}`, 409, "AlreadyExists", `configmaps "there" already exists`},
		{"a resourceVersion on create", "POST", maps, "application/json", `{"metadata":{"name":"x","resourceVersion":"7"}}`, 500, "",
			"resourceVersion should not be set on objects to be created"},
		{"an unsupported content type", "POST", maps, "text/plain", `{}`, 415, "UnsupportedMediaType", "the body of the request was in an unknown format"},
		{"a body of 4 MiB", "POST", maps, "application/json", strings.Repeat(" ", 4<<20), 413, "RequestEntityTooLarge", "limit is 3145728"},
		{"a body of 4 MiB of an unknown type", "POST", maps, "text/plain", strings.Repeat(" ", 4<<20), 415, "UnsupportedMediaType", ""},
		{"a body of 4 MiB with a bad option", "POST", maps + "?dryRun=Some", "application/json", strings.Repeat(" ", 4<<20), 413, "RequestEntityTooLarge", ""},
		{"a PUT of 4 MiB of an unknown type", "PUT", maps + "/there", "text/plain", strings.Repeat(" ", 4<<20), 413, "RequestEntityTooLarge", ""},
		{"a PUT of an unknown type with a bad option", "PUT", maps + "/there?dryRun=Some", "text/plain", `{}`, 422, "Invalid", "dryRun: Unsupported value"},
		{"an object of 1.6 MiB", "POST", "/api/v1/namespaces/default/podtemplates", "application/json",
			`{"metadata":{"name":"x"},"template":{"spec":{"containers":[{"name":"c","image":"i","args":["` + strings.Repeat("x", 16<<20/10) + `"]}]}}}`, 500, "", "etcdserver: request is too large"},
		{"an object of more than 2 MiB", "POST", "/api/v1/namespaces/default/podtemplates", "application/json",
			`{"metadata":{"name":"x"},"template":{"spec":{"containers":[{"name":"c","image":"i","args":["` + strings.Repeat("x", 2<<20) + `"]}]}}}`, 500, "",
			"rpc error: code = ResourceExhausted desc = trying to send message larger than max (2097"},
		{"a ConfigMap of more than a MiB", "POST", maps, "application/json",
			`{"metadata":{"name":"x"},"data":{"k":"` + strings.Repeat("x", 1<<20+1) + `"}}`, 422, "Invalid", "[]: Too long: may not be more than 1048576 bytes"},
		{"an invalid key", "POST", maps, "application/json", `{"metadata":{"name":"x"},"data":{"a b":"c"}}`, 422, "Invalid", "data[a b]: Invalid value"},
		{"a PUT of another name", "PUT", maps + "/there", "application/json", `{"metadata":{"name":"other"}}`, 400, "BadRequest",
			"the name of the object (other) does not match the name on the URL (there)"},
		{"a stale PUT", "PUT", maps + "/there", "application/json", `{"metadata":{"name":"there","resourceVersion":"7"}}`, 409, "Conflict", "the object has been modified"},
		{"a PUT with another uid", "PUT", maps + "/there", "application/json", `{"metadata":{"name":"there","uid":"u"}}`, 409, "Conflict", "Precondition failed: UID in precondition: u"},
		{"a dry run of it", "PUT", maps + "/there?dryRun=All", "application/json", `{"metadata":{"name":"there","uid":"u"}}`, 409, "Conflict", "Key: /configmaps/default/there, "},
		{"a PUT that would create, with an invalid resourceVersion", "PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/absent", "application/json",
			`{"metadata":{"name":"absent","resourceVersion":"abc"}}`, 500, "", `strconv.ParseUint: parsing "abc": invalid syntax`},
		{"a PUT of a missing object", "PUT", maps + "/absent", "application/json", `{"metadata":{"name":"absent"}}`, 404, "NotFound", `configmaps "absent" not found`},
		{"an unknown patch type", "PATCH", maps + "/there", "application/json", `{}`, 415, "UnsupportedMediaType", "415: Unsupported Media Type"},
		{"a patch that is not JSON", "PATCH", maps + "/there", "application/merge-patch+json", `nonsense`, 400, "BadRequest", "invalid JSON patch"},
		{"a JSON patch that fails its test", "PATCH", maps + "/there", "application/json-patch+json", `[{"op":"test","path":"/data/k","value":"9"}]`, 422, "Invalid",
			"the server rejected our request due to an error in our request"},
		{"a merge patch with a wrong type", "PATCH", maps + "/there", "application/merge-patch+json", `{"metadata":{"labels":"x"}}`, 422, "Invalid", "patch: Invalid value"},
		{"a rename by patch", "PATCH", maps + "/there", "application/merge-patch+json", `{"metadata":{"name":"zz"}}`, 400, "BadRequest", "(zz) does not match the name on the URL"},
		{"delete options of a wrong kind", "DELETE", maps + "/there", "application/json", `{"kind":"Wrong","apiVersion":"v1"}`, 400, "BadRequest", `no kind "Wrong" is registered`},
		{"deletion of a readable object as unreadable", "DELETE", maps + "/there?ignoreStoreReadErrorWithClusterBreakingPotential=true", "", "", 409, "Conflict", "decodable from storage"},
		{"deletion of a missing object as unreadable", "DELETE", maps + "/nothing?ignoreStoreReadErrorWithClusterBreakingPotential=true", "", "", 404, "NotFound", "not found"},
		{"deletion of a collection as unreadable", "DELETE", maps + "?ignoreStoreReadErrorWithClusterBreakingPotential=true", "", "", 422, "Invalid", "DELETECOLLECTION"},
		{"a policy that does not exist", "DELETE", maps + "/there?propagationPolicy=Bogus", "", "", 422, "Invalid", "propagationPolicy: Unsupported value"},
		{"a bad label selector", "GET", maps + "?labelSelector=a%20b", "", "", 400, "BadRequest", "unable to parse requirement"},
		{"a bad field selector", "GET", maps + "?fieldSelector=abc", "", "", 400, "BadRequest", "invalid selector: 'abc'; can't understand 'abc'"},
		{"an unsupported field selector", "GET", maps + "?fieldSelector=spec.x%3D1", "", "", 400, "BadRequest", `"spec.x" is not a known field selector`},
		{"an invalid limit", "GET", maps + "?limit=abc", "", "", 400, "BadRequest", `strconv.ParseInt: parsing "abc": invalid syntax`},
		{"a bad continue token", "GET", maps + "?continue=abc", "", "", 400, "BadRequest", "invalid continue token: continue key is not valid"},
		{"an invalid resourceVersion", "GET", maps + "?resourceVersion=abc", "", "", 400, "BadRequest", `invalid resource version: resourceVersion: Invalid value: "abc"`},
		{"an unknown resource", "GET", "/apis/apps/v1/nothings", "", "", 404, "NotFound", "the server could not find the requested resource"},
		{"a version that is not served", "GET", "/apis/apps/v9/deployments", "", "", 404, "NotFound", "the server could not find the requested resource"},
		{"a watch path of a subresource", "GET", "/api/v1/watch/namespaces/default/pods/x/status", "", ``, 404, "NotFound", "the server could not find the requested resource"},
		{"a watch path without a watch", "GET", "/api/v1/watch/componentstatuses", "", ``, 404, "NotFound", "the server could not find the requested resource"},
		{"a watch path of what is only created", "POST", "/api/v1/watch/namespaces/default/bindings", "application/json", `{}`, 404, "NotFound", "the server could not find the requested resource"},
		{"POST to a watch path", "POST", "/api/v1/watch/pods", "application/json", `{}`, 405, "MethodNotAllowed", "the server does not allow this method on the requested resource"},
		{"a watch of what cannot be watched", "GET", "/api/v1/componentstatuses?watch=true", "", ``, 405, "MethodNotAllowed", `watch is not supported on resources of kind "componentstatuses"`},
		{"a watch of it with bad options", "GET", "/api/v1/componentstatuses?watch=true&limit=x", "", ``, 400, "BadRequest", `strconv.ParseInt: parsing "x": invalid syntax`},
		{"an unsupported method", "POST", maps + "/there", "application/json", `{}`, 405, "MethodNotAllowed", "the server does not allow this method on the requested resource"},
		{"an invalid timeout", "GET", maps + "?timeout=soon", "", "", 400, "BadRequest", "invalid timeout specified in the request URL"},
		{"an apply without a manager", "PATCH", maps + "/there", "application/apply-patch+yaml", `{}`, 422, "Invalid", "fieldManager: Required value: is required for apply patch"},
		{"an apply without a kind", "PATCH", maps + "/there?fieldManager=m", "application/apply-patch+yaml", `{}`, 400, "BadRequest", "invalid object type: /, Kind="},
		{"an update of a lease without a resourceVersion", "PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/there", "application/json", `{"metadata":{"name":"there"}}`, 422, "Invalid", `leases.coordination.k8s.io "there" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified`},
		{"an apply that creates, with an invalid resourceVersion", "PATCH", maps + "/new?fieldManager=m", "application/apply-patch+yaml", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"new","resourceVersion":"x"}}`, 500, "", "strconv.ParseUint"},
		{"an apply that is not YAML", "PATCH", maps + "/there?fieldManager=m", "application/apply-patch+yaml", "a: [", 400, "BadRequest", "error encoding patch: yaml: line 1: did not find"},
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "there", Namespace: "default"}}
	srv := fakeapi.Start(t, fakeapi.WithObjects(configMap("there", "1"), lease))
	before := srv.ResourceVersion()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, _, body := send(t, srv, tt.method, tt.path, tt.contentType, []byte(tt.body))
			require.Equal(t, tt.code, code, "%s", body)
			var s metav1.Status
			require.NoError(t, json.Unmarshal(body, &s), "%s", body)
			require.Equal(t, "Status", s.Kind)
			require.Equal(t, metav1.StatusFailure, s.Status)
			require.Equal(t, int32(tt.code), s.Code)
			require.Equal(t, tt.reason, s.Reason)
			require.Contains(t, s.Message, tt.message)
			require.Equal(t, before, srv.ResourceVersion(), "the resourceVersion after a failed request")
		})
	}
}

// send sends a request and returns the code, the header and the body of the response.
func send(t testing.TB, srv *fakeapi.Server, method, path, contentType string, body []byte) (int, http.Header, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, srv.URL()+path, bytes.NewReader(body))
	require.NoError(t, err)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	response, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, resp.Header, response
}

// The message of a conflict has the key in etcd, which for some resources differs from their name.
func TestStorageKeysInConflicts(t *testing.T) {
	srv := fakeapi.Start(t)
	keys := map[string]string{
		"nodes":                  "/registry/minions/there",
		"configmaps":             "/registry/configmaps/default/there",
		"services":               "/registry/services/specs/default/there",
		"endpoints":              "/registry/services/endpoints/default/there",
		"replicationcontrollers": "/registry/controllers/default/there",
		"ingresses":              "/registry/ingress/default/there",
	}
	for _, res := range storedResources() {
		key := keys[res.Plural]
		if key == "" {
			continue
		}
		delete(keys, res.Plural)
		collection := strings.TrimPrefix((&resourceTest{srv: srv, res: res}).collection(), srv.URL())
		made, err := newObject(t, res, "there").MarshalJSON()
		require.NoError(t, err)
		code, _, body := send(t, srv, "POST", collection, "application/json", made)
		require.Equal(t, 201, code, "%s", body)
		code, _, body = send(t, srv, "PUT", collection+"/there", "application/json", []byte(`{"metadata":{"name":"there","uid":"u"}}`))
		require.Equal(t, 409, code, "%s", body)
		require.Contains(t, string(body), " Key: "+key+", ")
	}
	require.Empty(t, keys, "resources that were not found")
}

// The objects of the extension servers within kube-apiserver are stored below their group.
func TestStorageKeysOfExtensionServers(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(decodeCRD(t, gadgetCRD("v1", `{"strategy":"None"}`))))
	for path, key := range map[string]string{
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.example.com": "/registry/apiextensions.k8s.io/customresourcedefinitions/gadgets.example.com",
		"/apis/apiregistration.k8s.io/v1/apiservices/v1.apps":                         "/registry/apiregistration.k8s.io/apiservices/v1.apps",
	} {
		_, _, stored := send(t, srv, "GET", path, "", nil)
		var object map[string]any
		require.NoError(t, json.Unmarshal(stored, &object), "%s", stored)
		object["metadata"].(map[string]any)["uid"] = "u"
		sent, err := json.Marshal(object)
		require.NoError(t, err)
		code, _, body := send(t, srv, "PUT", path, "application/json", sent)
		require.Equal(t, 409, code, "%s", body)
		require.Contains(t, string(body), " Key: "+key+", ")
	}
}

// The REST storage of CustomResourceDefinitions checks the preconditions of a delete itself.
func TestPreconditionsOfDefinitions(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(decodeCRD(t, gadgetCRD("v1", `{"strategy":"None"}`))))
	const message = `Operation cannot be fulfilled on customresourcedefinitions.apiextensions.k8s.io \"gadgets.example.com\": precondition failed: `
	for preconditions, want := range map[string]string{
		`{"uid":"u"}`:             message + "UID in precondition: u, UID in object meta: ",
		`{"resourceVersion":"1"}`: message + "ResourceVersion in precondition: 1, ResourceVersion in object meta: ",
	} {
		code, _, body := send(t, srv, "DELETE", crdsPath+"/gadgets.example.com", "application/json", []byte(`{"preconditions":`+preconditions+`}`))
		require.Equal(t, 409, code, "%s", body)
		require.Contains(t, string(body), want)
	}
}
