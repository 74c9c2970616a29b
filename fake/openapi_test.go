package fakeapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi"
	openapicached "k8s.io/client-go/openapi/cached"
	"k8s.io/client-go/openapi3"

	fakeapi "example.com/fakeapi/fake"
)

// documentClient reads documents. It does not follow redirects.
type documentClient struct {
	t   *testing.T
	srv *fakeapi.Server
}

func (a documentClient) get(path string, headers ...string) (*http.Response, []byte) {
	a.t.Helper()
	request, err := http.NewRequestWithContext(a.t.Context(), http.MethodGet, a.srv.URL()+path, nil)
	require.NoError(a.t, err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	client := *a.srv.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := client.Do(request)
	require.NoError(a.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(a.t, err)
	return response, body
}

// index returns the URL of each v3 document.
func (a documentClient) index() map[string]string {
	a.t.Helper()
	response, body := a.get("/openapi/v3")
	require.Equal(a.t, http.StatusOK, response.StatusCode)
	require.Equal(a.t, "text/plain; charset=utf-8", response.Header.Get("Content-Type"))
	require.Equal(a.t, "no-cache, private", response.Header.Get("Cache-Control"))
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string } `json:"paths"`
	}
	require.NoError(a.t, json.Unmarshal(body, &index))
	urls := make(map[string]string)
	for name, entry := range index.Paths {
		urls[name] = entry.ServerRelativeURL
	}
	return urls
}

func TestOpenAPIV3(t *testing.T) {
	a := documentClient{t, fakeapi.Start(t)}
	urls := a.index()
	for _, name := range []string{"api", "apis", "version", ".well-known/openid-configuration", "openid/v1/jwks", "api/v1", "apis/apps", "apis/apps/v1", "apis/rbac.authorization.k8s.io/v1"} {
		require.Contains(t, urls, name)
	}
	address := urls["apis/apps/v1"]

	// The URL with the hash can be cached.
	response, body := a.get(address)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, "public, immutable", response.Header.Get("Cache-Control"))
	require.NotEmpty(t, response.Header.Get("Expires"))
	require.Equal(t, "Accept", response.Header.Get("Vary"))
	require.Equal(t, "application/json", response.Header.Get("Content-Type"))
	require.True(t, json.Valid(body))
	tag := response.Header.Get("ETag")
	require.Equal(t, `"`+strings.TrimPrefix(address, "/openapi/v3/apis/apps/v1?hash=")+`"`, tag)

	// The URL without a hash cannot. One with another hash redirects to the correct one.
	plain, same := a.get("/openapi/v3/apis/apps/v1", "Accept", "*/*")
	require.Equal(t, "no-cache, private", plain.Header.Get("Cache-Control"))
	require.Empty(t, plain.Header.Get("Expires"))
	require.Equal(t, tag, plain.Header.Get("ETag"))
	require.Equal(t, string(body), string(same))
	wrong, empty := a.get("/openapi/v3/apis/apps/v1?hash=wrong")
	require.Equal(t, http.StatusMovedPermanently, wrong.StatusCode)
	require.Equal(t, address, wrong.Header.Get("Location"))
	require.Equal(t, tag, wrong.Header.Get("ETag"))
	require.Empty(t, empty)

	// If-None-Match returns 304.
	unchanged, empty := a.get("/openapi/v3/apis/apps/v1", "If-None-Match", tag)
	require.Equal(t, http.StatusNotModified, unchanged.StatusCode)
	require.Empty(t, empty)
}

func TestOpenAPIForms(t *testing.T) {
	a := documentClient{t, fakeapi.Start(t)}
	for _, version := range []string{"v2", "v3"} {
		path := map[string]string{"v2": "/openapi/v2", "v3": "/openapi/v3/apis/batch/v1"}[version]
		plain, _ := a.get(path)
		const prefix = "application/com.github.proto-openapi.spec."
		for _, form := range []string{version + "@v1.0+protobuf", version + ".v1.0+protobuf"} {
			response, body := a.get(path, "Accept", prefix+form)
			require.Equal(t, http.StatusOK, response.StatusCode)
			require.Equal(t, prefix+version+".v1.0+protobuf", response.Header.Get("Content-Type"))
			require.Equal(t, plain.Header.Get("ETag"), response.Header.Get("ETag"))
			message := map[string]proto.Message{"v2": new(openapi_v2.Document), "v3": new(openapi_v3.Document)}[version]
			require.NoError(t, proto.Unmarshal(body, message))
		}
		for accept, want := range map[string]string{
			"": "application/json", "*/*": "application/json", "application/*": "application/json",
			"application/xml, application/json;q=0.5": "application/json",
			"application/xml":                         "", "text/*": "", "application/yaml": "",
		} {
			response, body := a.get(path, "Accept", accept)
			require.Equal(t, want, response.Header.Get("Content-Type"), accept)
			if want == "" {
				require.Equal(t, http.StatusNotAcceptable, response.StatusCode, accept)
				require.Empty(t, body)
			}
		}
	}
	for _, path := range []string{"/openapi/v3/apis/none/v1", "/openapi/v3/", "/openapi/v3/apis/batch/v1/", "/openapi/v3/apis/batch/v9"} {
		response, body := a.get(path)
		require.Equal(t, http.StatusNotFound, response.StatusCode, path)
		require.Empty(t, body)
	}
}

func TestOpenAPIV2(t *testing.T) {
	a := documentClient{t, fakeapi.Start(t)}
	response, body := a.get("/openapi/v2")
	require.Equal(t, []string{"Accept-Encoding", "Accept"}, response.Header.Values("Vary"))
	require.Equal(t, "application/json", response.Header.Get("Content-Type"))
	require.Contains(t, string(body), `"io.k8s.api.core.v1.Pod":{`)
	unchanged, empty := a.get("/openapi/v2", "If-None-Match", response.Header.Get("ETag"))
	require.Equal(t, http.StatusNotModified, unchanged.StatusCode)
	require.Empty(t, empty)
}

// client-go reads all v3 documents, requests each by its hash and caches it.
func TestOpenAPIClient(t *testing.T) {
	srv := fakeapi.Start(t)
	client := discovery.NewDiscoveryClientForConfigOrDie(srv.RESTConfig())
	paths, err := client.OpenAPIV3().Paths()
	require.NoError(t, err)
	body, err := paths["apis/apps/v1"].Schema(openapi.ContentTypeOpenAPIV3PB)
	require.NoError(t, err)
	require.NoError(t, proto.Unmarshal(body, new(openapi_v3.Document)))

	root := openapi3.NewRoot(openapicached.NewClient(client.OpenAPIV3()))
	doc, err := root.GVSpec(schema.GroupVersion{Group: "apps", Version: "v1"})
	require.NoError(t, err)
	require.Contains(t, doc.Components.Schemas["io.k8s.api.apps.v1.DeploymentSpec"].Properties, "replicas")
	_, err = root.GVSpec(schema.GroupVersion{Group: "example.com", Version: "v1"})
	require.ErrorAs(t, err, new(*openapi3.GroupVersionNotFoundError))
}

// Last-Modified is the time when the document was created. It changes only with CRDs.
func TestOpenAPILastModified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		made := func(path string) string {
			response, err := srv.Client().Get(srv.URL() + path)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			return response.Header.Get("Last-Modified")
		}
		start := time.Now().UTC().Format(http.TimeFormat)
		for _, path := range []string{"/openapi/v2", "/openapi/v3/api/v1"} {
			require.Equal(t, start, made(path), path)
			time.Sleep(time.Minute)
			require.Equal(t, start, made(path), path)
		}
		require.Empty(t, made("/openapi/v3"), "the index has no Last-Modified, since it has no ETag either")
	})
}
