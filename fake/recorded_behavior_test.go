package fakeapi_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// Responses of a real v1.37 server for which there is no rule.
func TestRecordedBehavior(t *testing.T) {
	const (
		maps         = "/api/v1/namespaces/default/configmaps"
		widgets      = "/apis/oracle.example.com/v1/namespaces/default/widgets"
		merge        = "application/merge-patch+json"
		metadataList = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
		widget       = `{"apiVersion":"oracle.example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":1}}`
	)
	srv := fakeapi.Start(t, fakeapi.WithCRDs(fakeapi.CRDsFromObjects(widgetDefinition(t))))
	for _, tt := range []struct {
		name, method, path, body, contentType, accept string
		code                                          int
		want                                          string // a part of the response
	}{
		{"get with an invalid name", "GET", maps + "/a%25b", "", "", "", 400, `Name parameter invalid: \"a%b\": may not contain '%'`},
		{"delete with an invalid name", "DELETE", maps + "/%25", "", "", "", 400, `Name parameter invalid: \"%\": may not contain '%'`},
		{"patch with an invalid name", "PATCH", widgets + "/%25", "{}", merge, "", 400, `Name parameter invalid: \"%\": may not contain '%'`},
		{"create of a custom resource below a name", "POST", widgets + "/whatever", widget, "application/json", "", 201, `"name":"a"`},
		{"create of a built-in type below a name", "POST", maps + "/whatever", `{"metadata":{"name":"a"}}`, "application/json", "", 405, `not allow`},
		{"unknown patch type without a name", "PATCH", widgets, "{}", "application/json", "", 415, `accepted media types include: application/json-patch+json`},
		{"patch without a name", "PATCH", widgets, "{}", merge, "", 400, "name must be provided"},
		{"unknown patch type that accepts no format", "PATCH", maps + "/a", "{}", "application/json", "text/html", 415, "415: Unsupported Media Type"},
		{"empty list of metadata", "GET", maps + "?labelSelector=no%3Done", "", "", "application/json" + metadataList, 200, `"items":null`},
		{"empty list of metadata in YAML", "GET", maps + "?labelSelector=no%3Done", "", "", "application/yaml" + metadataList, 200, "items: null\n"},
		{"empty list", "GET", maps + "?labelSelector=no%3Done", "", "", "", 200, `"items":[]`},
		{"update of a Scale with another kind", "PUT", widgets + "/a/scale", `{"kind":"Foo"}`, "application/json", "", 400, `no kind is registered for the type v1.Scale in scheme`},
		{"invalid status with another kind", "PATCH", widgets + "/a/status", `{"kind":"Other","status":{"replicas":"x"}}`, merge, "", 422, `"message":"Other.oracle.example.com \"a\" is invalid: [status.replicas: `},
		{"invalid patch of a Scale", "PATCH", widgets + "/a/scale", `{"spec":{"replicas":"x"}}`, merge, "", 422, `{\\\"apiVersion\\\":\\\"autoscaling/v1\\\",\\\"kind\\\":\\\"Scale\\\",`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := sendWith(t, srv, tt.method, tt.path, tt.body, "Content-Type", tt.contentType, "Accept", tt.accept)
			require.Equal(t, tt.code, got.code, "%s", got.body)
			require.Contains(t, string(got.body), tt.want)
		})
	}
}

// The exact state of one object is read from etcd without waiting. The error has no Retry-After.
func TestExactReadOfOneDoesNotWait(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithResourceVersionTimeout(time.Hour))
	for _, query := range []string{"resourceVersionMatch=Exact", "limit=1"} {
		code, header, body := send(t, srv, http.MethodGet, "/api/v1/namespaces?fieldSelector=metadata.name%3Da&resourceVersion=999999999999&"+query, "", nil)
		require.Equal(t, http.StatusGatewayTimeout, code, "%s", body)
		require.Empty(t, header.Get("Retry-After"))
		require.False(t, strings.Contains(string(body), "retryAfterSeconds"), "%s", body)
	}
}

// A second delete of an object in its grace period does not change its finalizers (DL-24).
func TestPendingDeleteKeepsPolicy(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithManifests(fstest.MapFS{"pod.yaml": {Data: []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`)}}))
	const pod = "/api/v1/namespaces/default/pods/p"
	code, _, body := send(t, srv, http.MethodDelete, pod, "", nil)
	require.Equal(t, http.StatusOK, code, "%s", body)
	before := srv.ResourceVersion()
	code, _, body = send(t, srv, http.MethodDelete, pod+"?propagationPolicy=Foreground", "", nil)
	require.Equal(t, http.StatusOK, code, "%s", body)
	require.NotContains(t, string(body), "foregroundDeletion")
	require.Equal(t, before, srv.ResourceVersion())
}
