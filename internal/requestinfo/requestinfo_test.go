package requestinfo

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	tests := []struct {
		method, path, query string
		want                RequestInfo
	}{
		{"GET", "/api/v1/pods", "", RequestInfo{Verb: List, Prefix: "api", Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1/pods", "watch", RequestInfo{Verb: Watch, Prefix: "api", Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1/pods", "watch=maybe", RequestInfo{Verb: Watch, Prefix: "api", Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1/pods", "watch=False", RequestInfo{Verb: List, Prefix: "api", Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1/pods/", "", RequestInfo{Verb: List, Prefix: "api", Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1/namespaces/ns/pods/p", "watch=1", RequestInfo{Verb: Get, Prefix: "api", Version: "v1", Namespace: "ns", HasNamespace: true, Resource: "pods", Name: "p"}},
		{"POST", "/apis/apps/v1/namespaces/ns/deployments", "", RequestInfo{Verb: Create, Prefix: "apis", Group: "apps", Version: "v1", Namespace: "ns", HasNamespace: true, Resource: "deployments"}},
		{"PUT", "/apis/apps/v1/namespaces/ns/deployments/d/status", "", RequestInfo{Verb: Update, Prefix: "apis", Group: "apps", Version: "v1", Namespace: "ns", HasNamespace: true, Resource: "deployments", Name: "d", Subresource: "status"}},
		{"DELETE", "/api/v1/nodes", "", RequestInfo{Verb: DeleteCollection, Prefix: "api", Version: "v1", Resource: "nodes"}},
		{"DELETE", "/api/v1/nodes/n", "", RequestInfo{Verb: Delete, Prefix: "api", Version: "v1", Resource: "nodes", Name: "n"}},
		{"PATCH", "/api/v1/namespaces/ns", "", RequestInfo{Verb: Patch, Prefix: "api", Version: "v1", Namespace: "ns", Resource: "namespaces", Name: "ns"}},
		{"PUT", "/api/v1/namespaces/ns/finalize", "", RequestInfo{Verb: Update, Prefix: "api", Version: "v1", Namespace: "ns", Resource: "namespaces", Name: "ns", Subresource: "finalize"}},
		{"GET", "/api/v1/namespaces/ns/status", "", RequestInfo{Verb: Get, Prefix: "api", Version: "v1", Namespace: "ns", Resource: "namespaces", Name: "ns", Subresource: "status"}},
		{"GET", "/api/v1/namespaces/ns/pods/p/proxy/x/y", "", RequestInfo{Verb: Get, Prefix: "api", Version: "v1", Namespace: "ns", HasNamespace: true, Resource: "pods", Name: "p", Subresource: "proxy", Parts: "x/y"}},
		{"GET", "/api/v1/watch/namespaces/ns/pods/p", "", RequestInfo{Verb: Watch, Prefix: "api", Version: "v1", Namespace: "ns", HasNamespace: true, Resource: "pods", Name: "p", IsWatchPath: true}},
		{"GET", "/api/v1/namespaces//pods/p", "", RequestInfo{Verb: Get, Prefix: "api", Version: "v1", HasNamespace: true, Resource: "pods", Name: "p"}},
		{"GET", "/apis", "", RequestInfo{Verb: "get", Prefix: "apis"}},
		{"GET", "/apis/apps", "", RequestInfo{Verb: "get", Prefix: "apis", Group: "apps"}},
		{"GET", "/apis/apps/v1/", "", RequestInfo{Verb: "get", Prefix: "apis", Group: "apps", Version: "v1"}},
		{"GET", "/healthz", "", RequestInfo{Verb: "get"}},
		{"OPTIONS", "/api/v1/pods", "", RequestInfo{Verb: "", Prefix: "api", Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1//pods", "", RequestInfo{Verb: "get", Prefix: "api", Version: "v1"}},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path+"?"+tt.query, func(t *testing.T) {
			query, err := url.ParseQuery(tt.query)
			require.NoError(t, err)
			tt.want.Path = tt.path
			require.Equal(t, tt.want, Parse(tt.method, tt.path, query))
			if tt.want.Verb == Watch {
				require.True(t, mayWatch(tt.method, &url.URL{Path: tt.path, RawQuery: tt.query}))
			}
		})
	}
}
