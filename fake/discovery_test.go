package fakeapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// discoveryClients returns a client that requests the aggregated documents and one that does not.
func discoveryClients(t *testing.T, srv *fakeapi.Server) map[string]*discovery.DiscoveryClient {
	t.Helper()
	legacy := discovery.NewDiscoveryClientForConfigOrDie(srv.RESTConfig())
	legacy.UseLegacyDiscovery = true
	return map[string]*discovery.DiscoveryClient{
		"aggregated": discovery.NewDiscoveryClientForConfigOrDie(srv.RESTConfig()), "legacy": legacy,
	}
}

var appsV1 = schema.GroupVersion{Group: "apps", Version: "v1"}

// hasApps reports whether discovery lists the group apps, and returns the error for that group.
func hasApps(t *testing.T, client *discovery.DiscoveryClient) (listed bool, wrong error) {
	t.Helper()
	groups, _, err := client.ServerGroupsAndResources()
	failed, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if !partial {
		require.NoError(t, err)
	}
	for _, g := range groups {
		listed = listed || g.Name == "apps"
	}
	return listed, failed[appsV1]
}

// Groups of the same priority are in the order of their APIServices in the list of groups, and in
// that of their names in the aggregated document.
func TestDiscoveryOrderOfCustomGroups(t *testing.T) {
	srv := fakeapi.Start(t)
	for group, versions := range map[string][]string{"a.example.com": {"v1beta1"}, "b.example.com": {"v2", "v1alpha1"}, "c.example.com": {"v1"}} {
		var served []string
		for i, version := range versions {
			served = append(served, fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object"}}}`, version, i == 0))
		}
		requireCode(t, srv, 201, "POST", crdsPath, fmt.Sprintf(`{"metadata":{"name":"gadgets.%[1]s"},"spec":{"group":%[1]q,"scope":"Cluster",
			"names":{"plural":"gadgets","kind":"Gadget"},"versions":[%[2]s]}}`, group, strings.Join(served, ",")))
	}
	for form, want := range map[string][]string{
		"aggregated": {"a.example.com", "b.example.com", "c.example.com"},
		"legacy":     {"c.example.com", "b.example.com", "a.example.com"}, // v1, v1alpha1, v1beta1
	} {
		groups, err := discoveryClients(t, srv)[form].ServerGroups()
		require.NoError(t, err)
		var got []string
		for _, g := range groups.Groups {
			if strings.HasSuffix(g.Name, ".example.com") {
				got = append(got, g.Name)
			}
		}
		require.Equal(t, want, got, form)
	}
}

// A hidden group is in no document. A failed group is listed, but its resources cannot be read.
func TestDiscoveryHidesGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		for name, client := range discoveryClients(t, srv) {
			require.NoError(t, srv.Discovery().Hide("apps"))
			listed, err := hasApps(t, client)
			require.NoError(t, err, name)
			require.False(t, listed, name)

			require.NoError(t, srv.Discovery().Fail("apps"))
			listed, err = hasApps(t, client)
			require.True(t, listed, name)
			require.Error(t, err, name)

			require.NoError(t, srv.Discovery().Reset())
			listed, err = hasApps(t, client)
			require.NoError(t, err, name)
			require.True(t, listed, name)
		}
		require.NoError(t, srv.Discovery().Fail("apps", "batch"))
		code, header, body := send(t, srv, "GET", "/apis/apps/v1", "", nil)
		require.Equal(t, http.StatusServiceUnavailable, code)
		require.Equal(t, "text/plain; charset=utf-8", header.Get("Content-Type"))
		require.Equal(t, "service unavailable\n", string(body))
		code, _, _ = send(t, srv, "GET", "/apis/apps", "", nil)
		require.Equal(t, http.StatusOK, code)
		code, _, _ = send(t, srv, "GET", "/apis/apps/v1/deployments", "", nil)
		require.Equal(t, http.StatusOK, code, "discovery does not affect the resources")

		require.NoError(t, srv.Discovery().Reset("batch"))
		require.NoError(t, srv.Discovery().Hide("apps"))
		for _, path := range []string{"/apis/apps", "/apis/apps/v1"} {
			code, _, body = send(t, srv, "GET", path, "", nil)
			require.Equal(t, http.StatusNotFound, code)
			require.Equal(t, "404 page not found\n", string(body))
		}
		code, _, _ = send(t, srv, "GET", "/apis/batch/v1", "", nil)
		require.Equal(t, http.StatusOK, code)
	})
}

// A stale group has versions without resources. Clients distinguish it from an empty one.
func TestDiscoveryMarkedStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		require.NoError(t, srv.Discovery().MarkStale("apps"))
		both := discoveryClients(t, srv)
		_, err := hasApps(t, both["aggregated"])
		require.ErrorAs(t, err, new(discovery.StaleGroupVersionError))
		listed, err := hasApps(t, both["legacy"])
		require.NoError(t, err)
		require.True(t, listed)

		// A client with the correct document in its cache receives the stale one.
		require.NoError(t, srv.Discovery().Reset())
		etag := getAggregatedDiscovery(t, srv, "").Get("Etag")
		require.Equal(t, etag, getAggregatedDiscovery(t, srv, etag).Get("Etag"))
		require.NoError(t, srv.Discovery().MarkStale("apps"))
		require.NotEqual(t, etag, getAggregatedDiscovery(t, srv, etag).Get("Etag"))
	})
}

// getAggregatedDiscovery reads the aggregated document unless it has the ETag known, and returns
// the header.
func getAggregatedDiscovery(t *testing.T, srv *fakeapi.Server, known string) http.Header {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL()+"/apis", nil)
	require.NoError(t, err)
	r.Header.Set("Accept", discovery.AcceptV2)
	if known != "" {
		r.Header.Set("If-None-Match", known)
	}
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.Header
}

// A flapping group is missing in every other response.
func TestDiscoveryFlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		for name, client := range discoveryClients(t, srv) {
			require.NoError(t, srv.Discovery().Flap("apps"))
			for _, want := range []bool{false, true, false, true} {
				listed, err := hasApps(t, client)
				require.NoError(t, err, name)
				require.Equal(t, want, listed, name)
			}
		}
		require.NoError(t, srv.Discovery().Flap("apps"))
		for _, want := range []int{200, 404, 200} {
			code, _, _ := send(t, srv, "GET", "/apis/apps/v1", "", nil)
			require.Equal(t, want, code)
			send(t, srv, "GET", "/apis", "", nil)
		}
	})
}

func TestDiscoveryErrors(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	require.EqualError(t, srv.Discovery().Hide("apps", "app"), `fakeapi: discovery: "app" is not a group of /apis`)
	require.EqualError(t, srv.Discovery().Fail(""), `fakeapi: discovery: "" is not a group of /apis`)
	listed, err := hasApps(t, discoveryClients(t, srv)["legacy"])
	require.NoError(t, err)
	require.True(t, listed, "no group was hidden")
}

// Without aggregated discovery, clients use the other documents and find all resources.
func TestWithoutAggregatedDiscovery(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithFeature(fakeapi.AggregatedDiscovery, false))
	require.Empty(t, getAggregatedDiscovery(t, srv, "").Get("Etag"))
	require.Equal(t, "application/json", getAggregatedDiscovery(t, srv, "").Get("Content-Type"))
	_, resources, err := discoveryClients(t, srv)["aggregated"].ServerGroupsAndResources()
	require.NoError(t, err)
	require.NotEmpty(t, resources)
	require.NoError(t, srv.SetFeature(fakeapi.AggregatedDiscovery, true))
	require.NotEmpty(t, getAggregatedDiscovery(t, srv, "").Get("Etag"))
}

// Without streaming lists, informers fall back to list and watch.
func TestWithoutWatchList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithFeature(fakeapi.WatchList, false), fakeapi.WithObjects(configMap("a", "0")))
		const path = "/api/v1/namespaces/default/configmaps?watch=true"
		const stream = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
		code, _, body := send(t, srv, "GET", path+stream, "", nil)
		require.Equal(t, http.StatusUnprocessableEntity, code)
		require.Contains(t, string(body), "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")

		var s handlerLog
		config := srv.RESTConfig()
		var queries []string
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
				queries = append(queries, r.URL.Query().Get("sendInitialEvents")+r.URL.Query().Get("watch"))
				return next.RoundTrip(r)
			})
		})
		informer := startInformer(t, config, &s)
		synctest.Wait()
		require.Equal(t, []string{"truetrue", "", "true"}, queries)
		require.Contains(t, cachedVersions(informer), "a")

		// A watch without a resourceVersion starts with the existing objects.
		for _, rv := range []string{"", "0"} {
			w, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default").
				Watch(t.Context(), metav1.ListOptions{ResourceVersion: rv, AllowWatchBookmarks: true})
			require.NoError(t, err)
			defer w.Stop()
			require.EqualValues(t, "ADDED", (<-w.ResultChan()).Type)
			requireNoEvent(t, w) // there is no bookmark
		}
	})
}

func TestUnknownFeature(t *testing.T) {
	_, err := fakeapi.New(fakeapi.WithFeature("Watchlist", false))
	require.EqualError(t, err, `fakeapi: feature "Watchlist" cannot be set; the features are ["WatchList" "AggregatedDiscoveryEndpoint" "CBORServingAndStorage"]`)
	require.ErrorContains(t, fakeapi.Start(t, fakeapi.WithInMemoryNetwork()).SetFeature("", true), `fakeapi: feature "" cannot be set`)
}

// A definition can add versions to a group of built-in types, but no types to a version with
// built-in types.
func TestCRDInBuiltinGroup(t *testing.T) {
	const group = "/apis/apiextensions.k8s.io"
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	version := func(name string, storage bool) string {
		return fmt.Sprintf(`{"name":%q,"served":true,"storage":%v,"schema":{"openAPIV3Schema":{"type":"object"}}}`, name, storage)
	}
	code, _, body := send(t, srv, "POST", group+"/v1/customresourcedefinitions", "", []byte(`{
		"metadata":{"name":"bars.apiextensions.k8s.io","annotations":{"api-approved.kubernetes.io":"unapproved, a test"}},
		"spec":{"group":"apiextensions.k8s.io","scope":"Namespaced","names":{"plural":"bars","kind":"Bar"},
			"versions":[`+version("v1", true)+`,`+version("v2", false)+`]}}`))
	require.Equal(t, http.StatusCreated, code, "%s", body)

	for path, want := range map[string]string{"/v1": "customresourcedefinitions", "/v2": "bars"} {
		code, _, body = send(t, srv, "GET", group+path, "", nil)
		require.Equal(t, http.StatusOK, code)
		require.Equal(t, want == "bars", strings.Contains(string(body), `"bars"`), "%s", body)
		require.Contains(t, string(body), `"`+want+`"`)
	}
	code, _, _ = send(t, srv, "GET", group+"/v1/bars", "", nil)
	require.Equal(t, http.StatusNotFound, code)
	code, _, body = send(t, srv, "POST", group+"/v2/namespaces/default/bars", "", []byte(`{"apiVersion":"apiextensions.k8s.io/v2","kind":"Bar","metadata":{"name":"a"}}`))
	require.Equal(t, http.StatusCreated, code, "%s", body)
	code, _, body = send(t, srv, "GET", group+"/v2/bars", "", nil)
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, string(body), `"apiVersion":"apiextensions.k8s.io/v2"`)
}
