package discovery

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

const address = "127.0.0.1:6443"

func document(t *testing.T, path string, aggregated bool) Document {
	t.Helper()
	doc, ok := New(builtin.Table, address).Get(path, aggregated)
	require.True(t, ok, path)
	return doc
}

// The expected texts are those of a real server, reduced to the resources that are served here.
func TestPlainText(t *testing.T) {
	require.Equal(t, `{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"127.0.0.1:6443"}]}`+"\n",
		string(document(t, "/api", false).JSON))
	require.Equal(t, `{"kind":"APIGroup","apiVersion":"v1","name":"autoscaling","versions":[{"groupVersion":"autoscaling/v2","version":"v2"},{"groupVersion":"autoscaling/v1","version":"v1"}],"preferredVersion":{"groupVersion":"autoscaling/v2","version":"v2"}}`+"\n",
		string(document(t, "/apis/autoscaling", false).JSON))
	require.True(t, strings.HasPrefix(string(document(t, "/apis", false).JSON),
		`{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apiregistration.k8s.io","versions":[{"groupVersion":"apiregistration.k8s.io/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apiregistration.k8s.io/v1","version":"v1"}},{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}},{"name":"events.k8s.io"`))

	core := string(document(t, "/api/v1", false).JSON)
	require.True(t, strings.HasPrefix(core,
		`{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"bindings","singularName":"binding","namespaced":true,"kind":"Binding","verbs":["create"]},{"name":"componentstatuses","singularName":"componentstatus","namespaced":false,"kind":"ComponentStatus","verbs":["get","list"],"shortNames":["cs"]},{"name":"configmaps","singularName":"configmap","namespaced":true,"kind":"ConfigMap","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["cm"],"storageVersionHash":"qFsyl6wFWjQ="},`))
	require.Contains(t, core,
		`{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["po"],"categories":["all"],"storageVersionHash":"xPOwRZ+Yhw8="},`+
			`{"name":"pods/attach","singularName":"","namespaced":true,"kind":"PodAttachOptions","verbs":["create","get"]},`+
			`{"name":"pods/binding","singularName":"","namespaced":true,"kind":"Binding","verbs":["create"]},`+
			`{"name":"pods/ephemeralcontainers","singularName":"","namespaced":true,"kind":"Pod","verbs":["get","patch","update"]},`+
			`{"name":"pods/eviction","singularName":"","namespaced":true,"group":"policy","version":"v1","kind":"Eviction","verbs":["create"]},`+
			`{"name":"pods/exec","singularName":"","namespaced":true,"kind":"PodExecOptions","verbs":["create","get"]},`+
			`{"name":"pods/log","singularName":"","namespaced":true,"kind":"Pod","verbs":["get"]},`+
			`{"name":"pods/portforward","singularName":"","namespaced":true,"kind":"PodPortForwardOptions","verbs":["create","get"]},`+
			`{"name":"pods/proxy","singularName":"","namespaced":true,"kind":"PodProxyOptions","verbs":["create","delete","get","patch","update"]},`+
			`{"name":"pods/resize","singularName":"","namespaced":true,"kind":"Pod","verbs":["get","patch","update"]},`+
			`{"name":"pods/status","singularName":"","namespaced":true,"kind":"Pod","verbs":["get","patch","update"]},{"name":"podtemplates"`)
	require.Contains(t, core, `{"name":"endpoints","singularName":"endpoints",`)
	require.True(t, strings.HasPrefix(string(document(t, "/apis/apps/v1", false).JSON),
		`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[{"name":"controllerrevisions"`))
}

func TestAggregatedText(t *testing.T) {
	require.True(t, strings.HasPrefix(string(document(t, "/api", true).JSON),
		`{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{},"versions":[{"version":"v1","resources":[{"resource":"bindings","responseKind":{"group":"","version":"","kind":"Binding"},"scope":"Namespaced","singularResource":"binding","verbs":["create"]},{"resource":"componentstatuses","responseKind":{"group":"","version":"","kind":"ComponentStatus"},"scope":"Cluster","singularResource":"componentstatus","verbs":["get","list"],"shortNames":["cs"]},{"resource":"configmaps","responseKind":{"group":"","version":"","kind":"ConfigMap"},"scope":"Namespaced","singularResource":"configmap","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["cm"]},`))
	require.Contains(t, string(document(t, "/apis", true).JSON),
		`{"resource":"validatingadmissionpolicies","responseKind":{"group":"","version":"","kind":"ValidatingAdmissionPolicy"},"scope":"Cluster","singularResource":"validatingadmissionpolicy","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"categories":["api-extensions"],"subresources":[{"subresource":"status","responseKind":{"group":"","version":"","kind":"ValidatingAdmissionPolicy"},"verbs":["get","patch","update"]}]}`)
	require.Contains(t, string(document(t, "/apis", true).JSON),
		`"shortNames":["deploy"],"categories":["all"],"subresources":[{"subresource":"scale","responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"},"verbs":["get","patch","update"]},{"subresource":"status","responseKind":{"group":"","version":"","kind":"Deployment"},"verbs":["get","patch","update"]}]}`)
	require.True(t, strings.HasSuffix(string(document(t, "/apis", true).JSON), `"freshness":"Current"}]}]}`+"\n"))
}

func TestStorageVersionHashes(t *testing.T) {
	// The hashes are those of a real server. Resources that store the same objects have the same
	// hash.
	for path, want := range map[string]map[string]string{
		"/api/v1":                               {"events": "r2yiGXH7wu8=", "services": "0/CO1lhkEBI=", "podtemplates": "LIXB2x4IFpk="},
		"/apis/events.k8s.io/v1":                {"events": "r2yiGXH7wu8="},
		"/apis/autoscaling/v1":                  {"horizontalpodautoscalers": "qwQve8ut294="},
		"/apis/autoscaling/v2":                  {"horizontalpodautoscalers": "qwQve8ut294="},
		"/apis/storage.k8s.io/v1":               {"csinodes": "Pe62DkZtjuo=", "volumeattachments": "tJx/ezt6UDU="},
		"/apis/admissionregistration.k8s.io/v1": {"mutatingadmissionpolicies": "mHCkTKpUTrE="},
		// What v1.37 introduces in v1 is stored in a version that v1.36 can read.
		"/apis/certificates.k8s.io/v1":     {"podcertificaterequests": "wYA9yXQH8fg=", "clustertrustbundles": "v5yhuVertL4="},
		"/apis/storagemigration.k8s.io/v1": {"storageversionmigrations": "pCjmmKOkLy4="},
		"/apis/resource.k8s.io/v1":         {"devicetaintrules": "i+85+TcIKpA=", "deviceclasses": "Yk2PTc1Ybxk="},
		// CustomResourceDefinitions are stored in v1beta1.
		"/apis/apiextensions.k8s.io/v1":   {"customresourcedefinitions": "jfWCUB31mvA="},
		"/apis/apiregistration.k8s.io/v1": {"apiservices": "InPBPD7+PqM="},
	} {
		got := make(map[string]string)
		for _, r := range document(t, path, false).Object.(*metav1.APIResourceList).APIResources {
			if want[r.Name] != "" {
				got[r.Name] = r.StorageVersionHash
			}
		}
		require.Equal(t, want, got, path)
	}
}

func TestGet(t *testing.T) {
	docs := New(builtin.Table, address)
	for _, path := range []string{"/api/", "/apis/", "/apis/apps/", "/api/v1/", "/apis/apps/v1/"} {
		slashed, ok := docs.Get(path, false)
		require.True(t, ok, path)
		plain, ok := docs.Get(strings.TrimSuffix(path, "/"), false)
		require.True(t, ok, path)
		require.Same(t, plain.Object, slashed.Object, "made twice")
		require.Empty(t, plain.ETag)
	}
	for _, path := range []string{"", "/", "/api/v2", "/apis/v1", "/apis/extensions", "/apis/apps/v1beta1", "/apis/apps/v1/deployments", "/version"} {
		_, ok := docs.Get(path, false)
		require.False(t, ok, path)
	}
	for _, path := range []string{"/apis/apps", "/api/v1", "/apis/apps/v1"} {
		_, ok := docs.Get(path, true)
		require.False(t, ok, path)
	}
}

// A new table replaces the documents and their ETags.
func TestAnotherTable(t *testing.T) {
	table := builtin.Table()
	docs := New(func() *resource.Table { return table }, address)
	before, _ := docs.Get("/apis", true)
	_, ok := docs.Get("/apis/apps/v1", false)
	require.True(t, ok)

	table = new(resource.Table) // an empty table
	_, ok = docs.Get("/apis/apps/v1", false)
	require.False(t, ok, "of a group that has gone")
	after, ok := docs.Get("/apis", true)
	require.True(t, ok)
	require.NotEqual(t, before.ETag, after.ETag)
	require.Equal(t, `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[]}`+"\n", string(after.JSON))

	table = builtin.Table()
	again, _ := docs.Get("/apis", true)
	require.Equal(t, before.ETag, again.ETag)
}

func TestETag(t *testing.T) {
	core, named := document(t, "/api", true), document(t, "/apis", true)
	require.Regexp(t, `^"[0-9A-F]{128}"$`, core.ETag)
	require.NotEqual(t, core.ETag, named.ETag)
	require.Equal(t, core.ETag, document(t, "/api", true).ETag, "two servers of one table agree")
}

func TestObjectsEncodeAsTheJSON(t *testing.T) {
	doc := document(t, "/apis", true)
	var back apidiscoveryv2.APIGroupDiscoveryList
	require.NoError(t, json.Unmarshal(doc.JSON, &back))
	require.Empty(t, cmp.Diff(doc.Object, &back))
}

// serve returns a client of a server that answers with aggregated documents only if knowsAggregated
// is set and the client prefers them.
func serve(t *testing.T, knowsAggregated bool) *discovery.DiscoveryClient {
	t.Helper()
	docs := New(builtin.Table, address)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const form = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
		aggregated := knowsAggregated && strings.HasPrefix(r.Header.Get("Accept"), form)
		doc, ok := docs.Get(r.URL.Path, aggregated)
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if aggregated {
			w.Header().Set("Content-Type", form)
		}
		_, _ = w.Write(doc.JSON)
	}))
	t.Cleanup(server.Close)
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	return client
}

// lines returns a sorted line for each resource of a client's result.
func lines(lists []*metav1.APIResourceList) []string {
	var all []string
	for _, list := range lists {
		for _, r := range list.APIResources {
			all = append(all, fmt.Sprint(list.GroupVersion, r.Name, r.SingularName, r.Namespaced, r.Kind, r.ShortNames, r.Categories, r.Verbs))
		}
	}
	slices.Sort(all)
	return all
}

// TestClient compares what client-go's discovery client reads from aggregated and unaggregated
// documents.
func TestClient(t *testing.T) {
	legacy, aggregated := serve(t, false), serve(t, true)

	want, err := legacy.ServerPreferredResources()
	require.NoError(t, err)
	got, err := aggregated.ServerPreferredResources()
	require.NoError(t, err)
	require.Equal(t, lines(want), lines(got))
	require.NotEmpty(t, want)

	legacyGroups, err := restmapper.GetAPIGroupResources(legacy)
	require.NoError(t, err)
	aggregatedGroups, err := restmapper.GetAPIGroupResources(aggregated)
	require.NoError(t, err)
	a, b := restmapper.NewDiscoveryRESTMapper(legacyGroups), restmapper.NewDiscoveryRESTMapper(aggregatedGroups)
	for _, r := range builtin.Table().All() {
		one, err := a.RESTMapping(r.GroupKind(), r.Version)
		require.NoError(t, err)
		other, err := b.RESTMapping(r.GroupKind(), r.Version)
		require.NoError(t, err)
		require.Equal(t, one.Resource, other.Resource)
		require.Equal(t, one.Scope.Name(), other.Scope.Name())
		require.Equal(t, r.GroupVersionResource(), one.Resource)
		require.Equal(t, r.Namespaced, one.Scope.Name() == "namespace")

		kind, err := b.KindFor(schema.GroupVersionResource{Group: r.Group, Resource: r.Singular})
		require.NoError(t, err)
		require.Equal(t, r.Kind, kind.Kind)
	}
	// A client that names no version uses the preferred one.
	mapping, err := b.RESTMapping(schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"})
	require.NoError(t, err)
	require.Equal(t, "v2", mapping.Resource.Version)
}

// TestCost checks that building all documents takes at most budget. It repeats the measurement,
// because other tests run at the same time.
func TestCost(t *testing.T) {
	const budget = 20 * time.Millisecond // ten times what it takes on an idle machine
	best := time.Hour
	for began := time.Now(); best >= budget && time.Since(began) < time.Minute; {
		start := time.Now()
		docs := New(builtin.Table, address).currentGeneration()
		for _, documents := range []map[string]func() Document{docs.plain, docs.aggregated} {
			for _, get := range documents {
				get()
			}
		}
		best = min(best, time.Since(start))
	}
	t.Log("all documents:", best)
	require.Less(t, best, budget)
}
