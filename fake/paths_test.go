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

// Unusual paths and methods have the responses of a real server, of which some have no meaning.
func TestUnusualPathsAndMethods(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(configMap("a", "0")))
	require.NoError(t, srv.LoadYAML(widgetsWithVersions))
	const (
		notRouted   = "404 page not found\n"
		notFound    = "the server could not find the requested resource"
		notAllowed  = "the server does not allow this method on the requested resource"
		noNamespace = "Namespace parameter required."
		versions    = `"kind":"APIVersions"`
		group       = `"kind":"APIGroup"`
		resources   = `"kind":"APIResourceList"`
		version     = `"gitVersion"`
		index       = `"paths"`
	)
	for _, tt := range []struct {
		methods, path string
		code          int
		body          string
	}{
		// Slashes at the end.
		{"GET", "/api//", 200, versions},
		{"GET", "/api/v1//", 200, resources},
		{"GET", "/apis/apps//", 200, group},
		{"GET", "/apis/apps/v1//", 200, resources},
		{"GET", "/apis/example.com//", 200, group},
		{"GET", "/apis/example.com/v1//", 200, resources},
		{"GET", "/version//", 200, version},
		{"GET POST", "/apis//", 404, notRouted},
		{"POST", "/api//", 405, notAllowed},
		// Empty segments.
		{"GET POST PUT", "/api/v1//namespaces/default/configmaps/a", 404, notFound},
		{"GET POST PUT", "/api/v1/namespaces/default/configmaps//a", 404, notFound},
		{"GET POST PUT", "/apis/example.com/v1//namespaces/default/widgets/a", 404, notRouted},
		{"GET PUT DELETE", "/api/v1/namespaces//configmaps/a", 400, noNamespace},
		{"POST", "/api/v1/namespaces//configmaps/a", 405, notAllowed},
		{"GET", "/api/v1/namespaces//configmaps", 200, `"name":"a"`},
		{"GET", "/api/v1/watch/namespaces//configmaps/a?resourceVersion=x", 500, `Invalid value: \"x\"`},
		{"DELETE", "/api/v1/namespaces//configmaps?labelSelector=a=b", 200, `"items":[]`},
		{"DELETE", "/api/v1/namespaces//configmaps", 400, noNamespace},
		{"PUT PATCH", "/api/v1/namespaces//configmaps", 405, notAllowed},
		{"GET PUT DELETE", "/api/v1/configmaps/a", 404, notFound},
		{"GET PUT DELETE", "/api/v1/namespaces/default/namespaces/default", 404, notFound},
		{"GET", "/api/v1/namespaces//nodes", 404, notFound},
		// Discovery that is served before the router.
		{"GET POST PUT OPTIONS", "/apis/example.com", 200, group},
		{"GET POST PUT OPTIONS", "/apis/example.com/v1", 200, resources},
		{"GET POST PUT OPTIONS", "/apis/apps", 200, group},
		{"POST PUT OPTIONS", "/apis/apps/v1", 405, notAllowed},
		{"POST PUT OPTIONS", "/apis/apiregistration.k8s.io", 405, notAllowed},
		{"GET POST", "/index.html", 200, index},
		// Watches by path.
		{"POST PUT PATCH DELETE", "/api/v1/watch/namespaces/default/configmaps", 405, notAllowed},
		{"GET POST PUT PATCH DELETE", "/apis/example.com/v1/watch/widgets?labelSelector=!!", 400, "unable to parse requirement"},
	} {
		for method := range strings.FieldsSeq(tt.methods) {
			code, header, body := send(t, srv, method, tt.path, "", nil)
			require.Equal(t, tt.code, code, "%s %s: %s", method, tt.path, body)
			if tt.body == notRouted {
				require.Equal(t, notRouted, string(body), "%s %s", method, tt.path)
				continue
			}
			require.Equal(t, "application/json", header.Get("Content-Type"), "%s %s", method, tt.path)
			require.Contains(t, string(body), tt.body, "%s %s", method, tt.path)
		}
	}
	for _, metadata := range []string{`{"name":"b"}`, `{"name":"b","namespace":"default"}`} {
		code, _, body := send(t, srv, "POST", "/api/v1/namespaces//configmaps", "application/json", []byte(`{"metadata":`+metadata+`}`))
		require.Equal(t, 422, code, "%s: %s", metadata, body)
		require.Contains(t, string(body), `ConfigMap \"b\" is invalid: metadata.namespace: Required value`)
	}
}

// The versions of custom resources are served without a router, which negotiates in another way,
// and the group of APIServices with one.
func TestNegotiationOfUnroutedDiscovery(t *testing.T) {
	srv := fakeapi.Start(t)
	require.NoError(t, srv.LoadYAML(widgetsWithVersions))
	const routed, unrouted = "406: Not Acceptable", "only the following media types are accepted"
	for path, want := range map[string]string{
		"/apis/example.com": unrouted, "/apis/example.com/v1": unrouted, "/apis/apps": unrouted,
		"/apis/apps/v1": routed, "/apis/apiregistration.k8s.io": routed, "/apis/apiregistration.k8s.io/v1": routed, "/api": routed,
	} {
		code, _, body := getWithAccept(t, srv, "GET", path, "text/plain")
		require.Equal(t, http.StatusNotAcceptable, code)
		var status metav1.Status
		require.NoError(t, json.Unmarshal([]byte(body), &status))
		require.Contains(t, status.Message, want, path)
		code, _, _ = getWithAccept(t, srv, "GET", path, "application/*")
		require.Equal(t, want == unrouted, code == http.StatusOK, path)
	}
	// /apis/ has one form, and a wildcard is known before the router.
	const aggregated = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	for path, want := range map[string]int{"/apis": http.StatusOK, "/apis/": http.StatusNotAcceptable, "/api": http.StatusNotAcceptable} {
		code, _, _ := getWithAccept(t, srv, "GET", path, "application/*"+aggregated)
		require.Equal(t, want, code, path)
	}
	code, header, _ := getWithAccept(t, srv, "GET", "/apis/", "application/json"+aggregated+",application/json")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "application/json", header.Get("Content-Type"))
}

// A deprecated version of custom resources has its warning also in responses to unknown
// subresources and methods.
func TestDeprecationWarningsOfErrors(t *testing.T) {
	srv := fakeapi.Start(t)
	require.NoError(t, srv.LoadYAML(strings.Replace(widgetsWithVersions, "name: v1,", "name: v1, deprecated: true,", 1)))
	for _, tt := range []struct {
		method, path string
		code         int
		warned       bool
	}{
		{"GET", "/apis/example.com/v1/namespaces/default/widgets/a/nothing", 404, true},
		{"FOO", "/apis/example.com/v1/namespaces/default/widgets/a", 405, true},
		{"GET", "/apis/example.com/v1/namespaces/default/widgets/a", 404, true},
		{"GET", "/apis/example.com/v1/widgets/a", 404, false}, // no such path
	} {
		code, header, body := send(t, srv, tt.method, tt.path, "", nil)
		require.Equal(t, tt.code, code, "%s", body)
		require.Equal(t, tt.warned, strings.Contains(header.Get("Warning"), "deprecated"), "%s %s: %v", tt.method, tt.path, header)
	}
}
