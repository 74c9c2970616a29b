package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

const threeConfigMaps = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: default}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: default}}
`

// A list that selects one object by its name has no pages, and its limit does not make the
// resourceVersion an exact one.
func TestListOfOneObject(t *testing.T) {
	srv := fakeapi.Start(t)
	require.NoError(t, srv.LoadYAML(threeConfigMaps))
	old := srv.ResourceVersion()
	code, _, body := send(t, srv, "PATCH", "/api/v1/namespaces/default/configmaps/a", "application/merge-patch+json", []byte(`{"data":{"k":"v"}}`))
	require.Equal(t, http.StatusOK, code, string(body))
	const byName, all = "/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3D", "/api/v1/configmaps?fieldSelector=metadata.name%3D"
	for _, c := range []struct {
		path      string
		version   string // of the list
		continues bool
	}{
		{byName + "a&limit=1", srv.ResourceVersion(), false},
		{byName + "a&limit=1&resourceVersion=" + old, srv.ResourceVersion(), false},
		{byName + "a&limit=1&resourceVersion=1", srv.ResourceVersion(), false},
		{byName + "a&limit=1&resourceVersionMatch=Exact&resourceVersion=" + old, old, false},
		{byName + "a%2Cmetadata.namespace%3Ddefault&limit=1", srv.ResourceVersion(), false},
		{all + "a%2Cmetadata.namespace%3Ddefault&limit=1", srv.ResourceVersion(), false},
		{all + "a&limit=1", srv.ResourceVersion(), true},
		{"/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name!%3Db&limit=1", srv.ResourceVersion(), true},
	} {
		code, _, body := send(t, srv, "GET", c.path, "", nil)
		require.Equal(t, http.StatusOK, code, "%s: %s", c.path, body)
		var list metav1.PartialObjectMetadataList
		require.NoError(t, json.Unmarshal(body, &list))
		require.Len(t, list.Items, 1, c.path)
		require.Equal(t, "a", list.Items[0].Name)
		require.Equal(t, c.version, list.ResourceVersion, c.path)
		require.Equal(t, c.continues, list.Continue != "", c.path)
	}
}

// A field selector of one namespace makes the first page of a list of all namespaces one of that
// namespace. The token continues a list of all namespaces, which begins with the first object
// again.
func TestListOfOneNamespace(t *testing.T) {
	srv := fakeapi.Start(t)
	require.NoError(t, srv.LoadYAML(threeConfigMaps+"---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: z, namespace: kube-system}}\n"))
	list := func(query string) (names []string, next string) {
		t.Helper()
		code, _, body := send(t, srv, "GET", "/api/v1/configmaps?fieldSelector=metadata.namespace%3D"+query, "", nil)
		require.Equal(t, http.StatusOK, code, string(body))
		var list metav1.PartialObjectMetadataList
		require.NoError(t, json.Unmarshal(body, &list))
		for _, item := range list.Items {
			names = append(names, item.Name)
		}
		return names, list.Continue
	}
	for query, want := range map[string][]string{"default&limit=3": {"a", "b", "c"}, "default": {"a", "b", "c"}, "none&limit=1": nil, "kube-public&limit=1": nil} {
		names, next := list(query)
		require.Equal(t, want, names, query)
		require.Empty(t, next, query)
	}
	names, next := list("default&limit=2")
	require.Equal(t, []string{"a", "b"}, names)
	names, next = list("default&limit=2&continue=" + next)
	require.Equal(t, []string{"a", "b"}, names)
	names, next = list("default&limit=2&continue=" + next)
	require.Equal(t, []string{"c"}, names)
	require.Empty(t, next)
}

// A deletecollection reads its list in pages, for which a resourceVersion is an exact one.
func TestDeleteCollectionAtResourceVersion(t *testing.T) {
	srv := fakeapi.Start(t)
	require.NoError(t, srv.LoadYAML(threeConfigMaps))
	for _, query := range []string{"resourceVersion=1", "resourceVersion=1&resourceVersionMatch=Exact", "resourceVersion=1&labelSelector=a", "resourceVersion=1&limit=1"} {
		code, _, body := send(t, srv, "DELETE", "/api/v1/namespaces/default/configmaps?"+query, "", nil)
		require.Equal(t, http.StatusGone, code, "%s: %s", query, body)
		require.Contains(t, string(body), `"reason":"Expired"`)
	}
	for _, query := range []string{"resourceVersion=0", "resourceVersion=1&resourceVersionMatch=NotOlderThan", "resourceVersion=1&fieldSelector=metadata.name%3Da"} {
		code, _, body := send(t, srv, "DELETE", "/api/v1/namespaces/default/configmaps?"+query, "", nil)
		require.Equal(t, http.StatusConflict, code, "%s: %s", query, body) // it is a precondition, too
	}
}

// A watch with a negative timeout ends immediately.
func TestWatchWithNegativeTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		start := time.Now()
		for _, query := range []string{"", "&resourceVersion=" + srv.ResourceVersion(), "&resourceVersion=0", "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"} {
			resp := openWatch(t, t.Context(), srv, "/api/v1/namespaces?watch=1&timeoutSeconds=-1"+query)
			require.Equal(t, "application/json", resp.Header.Get("Content-Type"), query)
			require.Empty(t, readEvents(resp.Body), query)
		}
		require.Equal(t, start, time.Now())
	})
}

// An update of a ConfigMap validates its generateName as a part of a path only. By the recorded
// exchanges, such an update does not check the metadata as that of a new object.
func TestGenerateNameOnUpdate(t *testing.T) {
	srv := fakeapi.Start(t)
	require.NoError(t, srv.LoadYAML(threeConfigMaps))
	for name, want := range map[string]int{"X": 200, "-": 200, "a_b": 200, "..": 200, "a/b": 422, "%": 422} {
		code, _, body := send(t, srv, "PATCH", "/api/v1/namespaces/default/configmaps/a", "application/merge-patch+json", []byte(`{"metadata":{"generateName":"`+name+`"}}`))
		require.Equal(t, want, code, "%s: %s", name, body)
		if want == http.StatusUnprocessableEntity {
			require.Contains(t, string(body), `metadata.generateName: Invalid value: \"`+name+`\": may not contain`)
		}
	}
	code, _, body := send(t, srv, "PUT", "/api/v1/namespaces/default/configmaps/b", "application/json", []byte(`{"metadata":{"name":"b","generateName":"X"}}`))
	require.Equal(t, http.StatusOK, code, string(body))
}
