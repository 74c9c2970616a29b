package fakeapi_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	fakeapi "example.com/fakeapi/fake"
)

const teamWidgets = "/apis/shop.example.com/v1/namespaces/team/widgets"

// patchWidgetCRD applies a JSON patch to the definition of widgets and returns its resourceVersion.
func patchWidgetCRD(t *testing.T, srv *fakeapi.Server, patch string) string {
	t.Helper()
	crd, err := dynamic.NewForConfigOrDie(srv.RESTConfig()).Resource(crdsResource).
		Patch(t.Context(), "widgets.shop.example.com", types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(t, err)
	return crd.GetResourceVersion()
}

const (
	describeWidgets = `[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/description","value":"for sale"}]`
	labelWidgets    = `[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`
	shortenWidgets  = `[{"op":"add","path":"/spec/names/shortNames/-","value":"wgt"}]`
)

func expired(from, floor string) string {
	return "ERROR too old resource version: " + from + " (" + floor + ")"
}

// After a change of a definition, watches from before get 410, and those from the change continue.
func TestChangedDefinitionExpiresWatches(t *testing.T) {
	srv := fakeapi.Start(t, withWidgets())
	before := srv.ResourceVersion()
	open := watchGadgets(t, srv, teamWidgets+"?watch=1&resourceVersion="+before)

	patchWidgetCRD(t, srv, labelWidgets)
	resumed := watchGadgets(t, srv, teamWidgets+"?watch=1&resourceVersion="+before)
	_, err := widgetClient(srv).Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec":{"size":4}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	for _, w := range []*gadgetWatch{open, resumed} { // a label changes nothing
		require.Equal(t, "MODIFIED a 4", w.next(t))
	}

	old := srv.ResourceVersion()
	changed := patchWidgetCRD(t, srv, describeWidgets)
	for _, w := range []*gadgetWatch{open, resumed} {
		require.Equal(t, "EOF", w.next(t))
	}
	for _, query := range []string{"", "&timeoutSeconds=60", "&allowWatchBookmarks=true", "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan"} {
		w := watchGadgets(t, srv, teamWidgets+"?watch=1&resourceVersion="+old+query)
		require.Equal(t, expired(old, changed), w.next(t), query)
		require.Equal(t, "EOF", w.next(t), query)
	}
	_, err = widgetClient(srv).Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec":{"size":4}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Equal(t, changed, srv.ResourceVersion(), "an update that changes nothing is not stored, also with a new schema")
	next := watchGadgets(t, srv, teamWidgets+"?watch=1&resourceVersion="+changed)
	initial := watchGadgets(t, srv, teamWidgets+"?watch=1")
	require.Equal(t, "ADDED a 4", initial.next(t))
	_, err = widgetClient(srv).Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec":{"size":5}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Equal(t, "MODIFIED a 5", next.next(t))
	require.Equal(t, "MODIFIED a 5", initial.next(t))

	// Exact reads and continue tokens from before are still served.
	code, _, body := send(t, srv, "GET", teamWidgets+"?resourceVersionMatch=Exact&resourceVersion="+before, "", nil)
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, string(body), `"size":3`)

	// The change is complete when the accepted names have changed, too.
	named := patchWidgetCRD(t, srv, shortenWidgets)
	require.NotEqual(t, named, srv.ResourceVersion())
	require.Equal(t, expired(named, srv.ResourceVersion()), watchGadgets(t, srv, teamWidgets+"?watch=1&resourceVersion="+named).next(t))
	require.Equal(t, expired("1", srv.ResourceVersion()), watchGadgets(t, srv, teamWidgets+"?watch=1&resourceVersion=1").next(t))
}

// A restore to a snapshot from before a change restores the watches of that time, too.
func TestRestoreOfDefinition(t *testing.T) {
	srv := fakeapi.Start(t, withWidgets())
	snapshot := srv.Snapshot()
	patchWidgetCRD(t, srv, describeWidgets)
	patchWidgetCRD(t, srv, `[{"op":"remove","path":"/spec/versions/0/schema/openAPIV3Schema/description"}]`)
	require.NoError(t, srv.Restore(snapshot, 0))
	w := watchGadgets(t, srv, teamWidgets+"?watch=1&resourceVersion="+srv.ResourceVersion())
	_, err := widgetClient(srv).Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec":{"size":4}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Equal(t, "MODIFIED a 4", w.next(t))
}

// In the view of a replica that has not reached a change, watches continue.
func TestReplicaBeforeChangeOfDefinition(t *testing.T) {
	srv := fakeapi.Start(t, withWidgets())
	replica, err := srv.Replica()
	require.NoError(t, err)
	before := srv.ResourceVersion()
	replica.Freeze()
	changed := patchWidgetCRD(t, srv, describeWidgets)
	w := watchGadgets(t, replica.Server, teamWidgets+"?watch=1&resourceVersion="+before)
	_, err = widgetClient(srv).Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec":{"size":4}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	replica.CatchUp()
	require.Equal(t, "MODIFIED a 4", w.next(t))
	require.Equal(t, expired(before, changed), watchGadgets(t, replica.Server, teamWidgets+"?watch=1&resourceVersion="+before).next(t))
}

// With WithCacheInitializing, the watch cache of a type initializes after each change of its
// definition. Other types are not affected.
func TestChangedDefinitionInitializesCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), withWidgets(), fakeapi.WithCacheInitializing(5*time.Second))
		time.Sleep(5 * time.Second)
		informer := dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(srv.RESTConfig()), 0).
			ForResource(widgetsResource).Informer()
		go informer.RunWithContext(t.Context())
		require.True(t, cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced))
		old := srv.ResourceVersion()
		changed := patchWidgetCRD(t, srv, describeWidgets)

		for _, query := range []string{"?watch=1&resourceVersion=" + old, "?watch=1", "", "?resourceVersion=0", "?resourceVersionMatch=Exact&resourceVersion=" + old} {
			code, header, body := send(t, srv, "GET", teamWidgets+query, "", nil)
			require.Equal(t, http.StatusTooManyRequests, code, query)
			require.Equal(t, "1", header.Get("Retry-After"))
			require.Contains(t, string(body), "storage is (re)initializing")
		}
		for _, path := range []string{teamWidgets + "/a", teamWidgets + "/a?resourceVersion=0", teamWidgets + "?limit=1", "/api/v1/pods"} {
			code, _, _ := send(t, srv, "GET", path, "", nil)
			require.Equal(t, http.StatusOK, code, path)
		}
		_, err := widgetClient(srv).Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec":{"size":4}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		time.Sleep(5 * time.Second)
		require.Equal(t, expired(old, changed), watchGadgets(t, srv, teamWidgets+"?watch=1&resourceVersion="+old).next(t))

		time.Sleep(time.Minute)
		obj, exists, err := informer.GetStore().GetByKey("team/a")
		require.NoError(t, err)
		require.True(t, exists)
		require.Equal(t, srv.ResourceVersion(), obj.(metav1.Object).GetResourceVersion())

		patchWidgetCRD(t, srv, shortenWidgets)
		srv.ReinitializeCache(0)
		code, _, _ := send(t, srv, "GET", teamWidgets, "", nil)
		require.Equal(t, http.StatusOK, code, "ReinitializeCache ends it")
	})
}
