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

// What a request line asks for is what the API server's own library reads out of it, wherever that
// reads paths as its router does.
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
		asked := url.Values{"watch": values["watch"]}.Encode() // a field selector of a name would be read, too
		info, err := factory.NewRequestInfo(&http.Request{Method: method, URL: &url.URL{Path: path, RawQuery: asked}})
		if err != nil {
			return
		}
		require.Equal(t, info.IsResourceRequest, got.IsResourceRequest())
		if got.IsResourceRequest() {
			read := RequestInfo{
				Verb: info.Verb, Path: info.Path, Prefix: info.APIPrefix, Group: info.APIGroup, Version: info.APIVersion,
				Namespace: info.Namespace, Resource: info.Resource, Name: info.Name, Subresource: info.Subresource,
				Parts: got.Parts, IsWatchPath: got.IsWatchPath,
			}
			require.Equal(t, read, got)
		}
	})
}

// plain reports whether the library and the router read a path alike: the former folds slashes at
// its ends, splits at others, and still knows the proxy of old.
func plain(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.Contains(path, "//") && !strings.Contains(path, "/proxy") && !strings.HasSuffix(path, "/watch/")
}
