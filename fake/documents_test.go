package fakeapi_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// getWithAccept sends a request with an Accept header and other headers, which are names and values
// in turn.
func getWithAccept(t *testing.T, srv *fakeapi.Server, method, path, accept string, headers ...string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, srv.URL()+path, nil)
	require.NoError(t, err)
	r.Header.Set("Accept", accept)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, resp.Header, string(body)
}

const aggregatedDiscovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// The aggregated document has an ETag. As on a real server, If-None-Match must be that one ETag, in
// its strong form.
func TestAggregatedDiscoveryIsCached(t *testing.T) {
	srv := fakeapi.Start(t)
	for _, path := range []string{"/api", "/apis"} {
		code, header, _ := getWithAccept(t, srv, "GET", path, aggregatedDiscovery)
		require.Equal(t, http.StatusOK, code)
		require.Equal(t, "public", header.Get("Cache-Control"))
		require.Equal(t, "Accept", header.Get("Vary"))
		tag := header.Get("ETag")
		for known, want := range map[string]int{
			tag: http.StatusNotModified, "W/" + tag: http.StatusOK, `"x", ` + tag: http.StatusOK, "*": http.StatusOK, strings.Trim(tag, `"`): http.StatusOK,
		} {
			code, header, body := getWithAccept(t, srv, "GET", path, aggregatedDiscovery, "If-None-Match", known)
			require.Equal(t, want, code, known)
			require.Equal(t, tag, header.Get("ETag"))
			require.Equal(t, want == http.StatusOK, body != "")
		}
		_, header, _ = getWithAccept(t, srv, "GET", path, "application/json")
		require.Empty(t, header.Get("ETag"), "only the aggregated document has an ETag")
		require.Equal(t, "no-cache, private", header.Get("Cache-Control"))
	}
}

// Documents that a real server's aggregator serves accept all methods, and those about versions of
// custom resources. The others accept only GET.
func TestDocumentMethods(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(newGadgetCRD()))
	for _, method := range []string{"HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "FOO"} {
		for path, want := range map[string]int{
			"/apis/end.example.com": 200, "/apis/end.example.com/v1": 200, "/apis/end.example.com/v3": 404,
			"/apis": 200, "/apis/": 200, "/apis/apps": 200, "/": 200, "/livez": 200, "/readyz/ping": 200,
			"/api": 405, "/api/v1": 405, "/apis/apps/v1": 405, "/version": 405, "/nope": 404, "/apis/nope": 404,
		} {
			code, _, body := getWithAccept(t, srv, method, path, "*/*")
			require.Equal(t, want, code, "%s %s: %s", method, path, body)
			require.Equal(t, method == "HEAD", body == "", "%s %s", method, path)
		}
	}
	for _, path := range []string{"/apis//", "//apis", "/livez/", "/readyz/ping/", "/readyz/nope", "/metrics/"} {
		code, _, body := getWithAccept(t, srv, "GET", path, "*/*")
		require.Equal(t, http.StatusNotFound, code, path)
		require.Equal(t, "404 page not found\n", body, path)
	}
}

// The router does not check the Accept header of a document about a version of custom resources.
func TestDocumentOfCustomResourcesIsUnrouted(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(newGadgetCRD()))
	code, _, body := getWithAccept(t, srv, "GET", "/apis/end.example.com/v1", "application/*")
	require.Equal(t, http.StatusOK, code, body)
	code, _, body = getWithAccept(t, srv, "GET", "/apis/end.example.com/v1", "text/html")
	require.Equal(t, http.StatusNotAcceptable, code)
	require.Contains(t, body, `"message": "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"`)
}

// /version is served as JSON only. The error is in the format that the client accepts.
func TestVersionIsJSON(t *testing.T) {
	srv := fakeapi.Start(t)
	for _, accept := range []string{"", "*/*", "application/json", "text/html, application/json;q=0.1"} {
		code, header, body := getWithAccept(t, srv, "GET", "/version", accept)
		require.Equal(t, http.StatusOK, code, accept)
		require.Equal(t, "application/json", header.Get("Content-Type"))
		require.Contains(t, body, `"gitVersion": "v1.37.2"`)
	}
	code, header, body := getWithAccept(t, srv, "GET", "/version", "application/yaml")
	require.Equal(t, http.StatusNotAcceptable, code)
	require.Equal(t, "application/yaml", header.Get("Content-Type"))
	require.Contains(t, body, "Available representations: application/json\n")
	code, _, body = getWithAccept(t, srv, "GET", "/version", "text/html")
	require.Equal(t, http.StatusNotAcceptable, code)
	require.Equal(t, "{\n  \"kind\": \"Status\",\n  \"apiVersion\": \"v1\",\n  \"metadata\": {},\n  \"status\": \"Failure\",\n"+
		"  \"message\": \"406: Not Acceptable\\n\\nAvailable representations: application/json\",\n"+
		"  \"reason\": \"NotAcceptable\",\n  \"details\": {},\n  \"code\": 406\n}", body)
}

// The exact responses of the health paths.
func TestHealth(t *testing.T) {
	srv := fakeapi.Start(t)
	const verbose = "[+]ping ok\n[+]log ok\n[+]etcd ok\n"
	for path, want := range map[string]string{
		"/healthz":                        "ok",
		"/livez":                          "ok",
		"/readyz?exclude=etcd":            "ok",
		"/healthz?verbose":                verbose + "healthz check passed\n",
		"/livez?verbose=false":            verbose + "livez check passed\n",
		"/livez?verbose&exclude=etcd":     "[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\nlivez check passed\n",
		"/livez?verbose&exclude=log,etcd": verbose + "warn: some health checks cannot be excluded: no matches for \"log,etcd\"\nlivez check passed\n",
		"/livez?verbose&exclude=z&exclude=etcd&exclude=a&exclude=z": "[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\n" +
			"warn: some health checks cannot be excluded: no matches for \"a\",\"z\"\nlivez check passed\n",
		"/readyz?verbose": verbose + "[+]etcd-readiness ok\n[+]informer-sync ok\n[+]shutdown ok\nreadyz check passed\n",
	} {
		code, header, body := getWithAccept(t, srv, "GET", path, "*/*")
		require.Equal(t, http.StatusOK, code, path)
		require.Equal(t, want, body, path)
		require.Equal(t, "text/plain; charset=utf-8", header.Get("Content-Type"), path)
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"), path)
		require.Equal(t, "no-cache, private", header.Get("Cache-Control"), path)
	}
	code, header, body := getWithAccept(t, srv, "GET", "/livez/etcd?verbose", "*/*")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "ok", body)
	require.Empty(t, header.Get("X-Content-Type-Options"), "the header of a single check")
}

// attempt is a request with a verb for an object that does not exist.
type attempt struct{ method, query, contentType string }

// attempts has a request for each verb.
var attempts = map[string]attempt{
	"get":              {method: "GET"},
	"list":             {method: "GET"},
	"watch":            {method: "GET", query: "?watch=1&resourceVersion=none"},
	"create":           {method: "POST"},
	"update":           {method: "PUT"},
	"patch":            {method: "PATCH", contentType: "application/merge-patch+json"},
	"delete":           {method: "DELETE"},
	"deletecollection": {method: "DELETE", query: "?dryRun=All"},
}

// Discovery lists exactly the verbs that work (DI-12). The verbs that it does not list return 405,
// the others fail only because there is no object or body.
func TestVerbsMatchDiscovery(t *testing.T) {
	srv := fakeapi.Start(t)
	for _, res := range builtin.Table().All() {
		root := "/apis/" + res.GroupVersion().String()
		if res.Group == "" {
			root = "/api/" + res.Version
		}
		collection := root + "/" + res.Plural
		if res.Namespaced {
			collection = root + "/namespaces/default/" + res.Plural
		}
		item := collection + "/" + validNameFor(res)
		for verb, a := range attempts {
			path := item
			if slices.Contains([]string{"list", "watch", "create", "deletecollection"}, verb) {
				path = collection
			}
			if !res.IsStored() && path == item {
				continue // it has no objects
			}
			tryVerb(t, srv, a, path, slices.Contains(res.Verbs, verb))
		}
		for _, sub := range res.Subresources {
			for _, verb := range []string{"get", "create", "update", "patch", "delete"} {
				tryVerb(t, srv, attempts[verb], item+"/"+sub.Name, slices.Contains(sub.Verbs, verb))
			}
		}
	}
}

func tryVerb(t *testing.T, srv *fakeapi.Server, a attempt, path string, works bool) {
	t.Helper()
	code, _, body := send(t, srv, a.method, path+a.query, a.contentType, []byte("?"))
	if works {
		require.NotEqual(t, http.StatusMethodNotAllowed, code, "%s %s", a.method, path)
		require.NotContains(t, string(body), "the server could not find the requested resource", "%s %s", a.method, path)
		return
	}
	require.Equal(t, http.StatusMethodNotAllowed, code, "%s %s: %s", a.method, path, body)
}
