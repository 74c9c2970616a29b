package requestinfo

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// FuzzParse compares Parse with the RequestInfoFactory of the API server, for paths that the
// factory and the router of the API server parse alike.
func FuzzParse(f *testing.F) {
	for _, line := range [][3]string{
		{"GET", "/apis/apps/v1/namespaces/ns/deployments/d/status", "watch=1"},
		{"GET", "/apis/apps/v1/deployments", "watch=False&watch=1"},
		{"HEAD", "/api/v1/namespaces/ns/pods/", "watch"},
		{"GET", "/api/v1/namespaces/ns/finalize", ""},
		{"GET", "/api/v1/namespaces/ns/pods/p/proxy/x/y", ""},
		{"GET", "/api/v1/watch/namespaces/ns/pods/p", ""},
		{"DELETE", "/api/v1/watch//namespaces", ""},
		{"DELETE", "/api/v1/nodes", "watch=true"},
		{"OPTIONS", "/api/v1/pods", ""},
		{"get", "/apis/a/b/c", ""},
		{"PATCH", "/apis/a/b/namespaces", "%zz"},
		{"PUT", "/openapi/v3/apis", ""},
	} {
		f.Add(line[0], line[1], line[2])
	}
	factory := &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	f.Fuzz(func(t *testing.T, method, path, query string) {
		values, _ := url.ParseQuery(query)
		got := Parse(method, path, values)
		if got.Subresource != "" && got.Name == "" || got.Name != "" && got.Resource == "" {
			t.Fatalf("%+v has a part without the one before it", got)
		}
		if got.Verb == Watch && !mayWatch(method, &url.URL{Path: path, RawQuery: query}) {
			t.Fatalf("a watch looks like none: %+v", got)
		}
		if !plain(path) || got.IsWatchPath && method != http.MethodGet {
			return
		}
		asked := url.Values{"watch": values["watch"]}.Encode() // without a field selector, which the factory parses, too
		info, err := factory.NewRequestInfo(&http.Request{Method: method, URL: &url.URL{Path: path, RawQuery: asked}})
		if err != nil {
			return
		}
		require.Equal(t, info.IsResourceRequest, got.IsResourceRequest())
		if got.IsResourceRequest() {
			read := RequestInfo{
				Verb: info.Verb, Path: info.Path, Prefix: info.APIPrefix, Group: info.APIGroup, Version: info.APIVersion,
				Namespace: info.Namespace, Resource: info.Resource, Name: info.Name, Subresource: info.Subresource,
				HasNamespace: got.HasNamespace, Parts: got.Parts, IsWatchPath: got.IsWatchPath,
			}
			require.Equal(t, read, got)
		}
	})
}

// plain reports whether the factory and the router parse a path alike. The factory ignores slashes
// at the ends, splits at others, and supports the former proxy paths.
func plain(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.Contains(path, "//") && !strings.Contains(path, "/proxy") && !strings.HasSuffix(path, "/watch/")
}
