package fakeapi_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	fakeapi "example.com/fakeapi/fake"
)

// updateGadgetCRD updates the CRD of Gadgets and checks the code.
func updateGadgetCRD(t *testing.T, srv *fakeapi.Server, want int, change func(spec map[string]any, versions []map[string]any)) *unstructured.Unstructured {
	t.Helper()
	crd := requireCode(t, srv, 200, "GET", crdsPath+"/gadgets.example.com", "")
	spec := crd.Object["spec"].(map[string]any)
	var versions []map[string]any
	for _, v := range spec["versions"].([]any) {
		versions = append(versions, v.(map[string]any))
	}
	change(spec, versions)
	body, err := json.Marshal(crd)
	require.NoError(t, err)
	return requireCode(t, srv, want, "PUT", crdsPath+"/gadgets.example.com", string(body))
}

// setStorageVersion makes version the storage version.
func setStorageVersion(t *testing.T, srv *fakeapi.Server, version string) {
	t.Helper()
	updateGadgetCRD(t, srv, 200, func(_ map[string]any, versions []map[string]any) {
		for _, v := range versions {
			v["storage"] = v["name"] == version
		}
	})
}

func storedVersions(t *testing.T, srv *fakeapi.Server) []string {
	t.Helper()
	names, _, err := unstructured.NestedStringSlice(requireCode(t, srv, 200, "GET", crdsPath+"/gadgets.example.com", "").Object, "status", "storedVersions")
	require.NoError(t, err)
	return names
}

// After a change of the storage version, stored objects can be read in all versions. A write
// without a change stores them in the new version, once.
func TestStorageVersionSwitch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, hook)
		old := requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "a", 1))
		w := watchGadgets(t, srv, gadgetsV2+"?watch=true&resourceVersion="+srv.ResourceVersion())
		setStorageVersion(t, srv, "v2")
		require.Equal(t, "EOF", w.next(t), "watches end when the CRD changes")
		require.Equal(t, []string{"v1", "v2"}, storedVersions(t, srv))
		require.EqualValues(t, 2, requireCode(t, srv, 200, "GET", crdsPath+"/gadgets.example.com", "").GetGeneration())
		require.JSONEq(t, `{"size":1,"ofv1":"set in v1"}`, specJSON(t, requireCode(t, srv, 200, "GET", gadgetsV1+"/a", "")))
		read := requireCode(t, srv, 200, "GET", gadgetsV2+"/a", "")
		require.JSONEq(t, `{"width":1}`, specJSON(t, read), "only the stored version is defaulted")
		require.Equal(t, old.GetResourceVersion(), read.GetResourceVersion())
		require.Zero(t, hook.callsDuring(func() { requireCode(t, srv, 200, "GET", gadgetsV1+"/a", "") }), "it is stored in v1")
		require.Equal(t, []string{"a"}, listNames(t, srv, gadgetsV2+"?fieldSelector=spec.width%3D1"))

		w = watchGadgets(t, srv, gadgetsV2+"?watch=true&resourceVersion="+srv.ResourceVersion())
		written := requireCode(t, srv, 200, "PATCH", gadgetsV2+"/a", `{}`)
		require.NotEqual(t, old.GetResourceVersion(), written.GetResourceVersion(), "the write is stored")
		require.JSONEq(t, `{"width":1,"ofv2":"set in v2"}`, specJSON(t, written), "a write is defaulted in its version")
		require.Equal(t, "MODIFIED a 1", w.next(t))
		require.Zero(t, hook.callsDuring(func() { requireCode(t, srv, 200, "GET", gadgetsV2+"/a", "") }), "it is stored in v2")
		require.Equal(t, 1, hook.callsDuring(func() { requireCode(t, srv, 200, "GET", gadgetsV1+"/a", "") }))
		again := requireCode(t, srv, 200, "PATCH", gadgetsV2+"/a", `{}`)
		require.Equal(t, written.GetResourceVersion(), requireCode(t, srv, 200, "PATCH", gadgetsV2+"/a", `{}`).GetResourceVersion())
		require.Equal(t, written.GetResourceVersion(), again.GetResourceVersion())
	})
}

// A stored version cannot be removed from the CRD until it was removed from the status, which only
// a write of the status does.
func TestRemoveStoredVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, hook)
		requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "a", 1))
		setStorageVersion(t, srv, "v2")
		dropV1 := func(spec map[string]any, versions []map[string]any) {
			spec["versions"] = []any{versions[1]}
		}
		refusal := updateGadgetCRD(t, srv, 422, dropV1)
		require.Contains(t, refusal.Object["message"], `status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1`)

		requireCode(t, srv, 200, "PATCH", crdsPath+"/gadgets.example.com", `{"status":{"storedVersions":["v2"]}}`)
		require.Equal(t, []string{"v1", "v2"}, storedVersions(t, srv), "an update of the CRD does not change its status")
		requireCode(t, srv, 200, "PATCH", gadgetsV2+"/a", `{}`) // migrates the object
		requireCode(t, srv, 200, "PATCH", crdsPath+"/gadgets.example.com/status", `{"status":{"storedVersions":["v2"]}}`)
		updateGadgetCRD(t, srv, 200, dropV1)
		require.Equal(t, 404, getCode(t, srv, gadgetsV1+"/a"))
		require.JSONEq(t, `{"width":1,"ofv2":"set in v2"}`, specJSON(t, requireCode(t, srv, 200, "GET", gadgetsV2+"/a", "")))
	})
}

// Deleting a CRD deletes its objects in their stored version, even if that version is not served
// and the webhook fails.
func TestDeleteCRDWithFailingWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, hook)
		requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "a", 1))
		updateGadgetCRD(t, srv, 200, func(_ map[string]any, versions []map[string]any) { versions[0]["served"] = false })
		hook.failing.Store(true)
		require.Zero(t, hook.callsDuring(func() { requireCode(t, srv, 200, "DELETE", crdsPath+"/gadgets.example.com", "") }))
		requireCode(t, srv, 404, "GET", crdsPath+"/gadgets.example.com", "")
		require.Equal(t, 404, getCode(t, srv, gadgetsV2))
	})
}

// After a change of the conversion, objects are converted again.
func TestChangeConversionStrategy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, hook)
		requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "a", 1))
		require.Equal(t, []string{"a"}, listNames(t, srv, gadgetsV2+"?fieldSelector=spec.width%3D1"))
		updateGadgetCRD(t, srv, 200, func(spec map[string]any, _ []map[string]any) { spec["conversion"] = map[string]any{"strategy": "None"} })
		require.Empty(t, listNames(t, srv, gadgetsV2+"?fieldSelector=spec.width%3D1"), "the stored object has no width")
		require.Equal(t, []string{"a"}, listNames(t, srv, gadgetsV2))
	})
}

// A conversion that is running when the CRD changes is completed.
func TestCRDUpdateDuringConversion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, hook)
		requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "a", 1))
		resume := hook.blockCalls()
		code := make(chan int, 1)
		go func() {
			resp, err := srv.Client().Get(srv.URL() + gadgetsV2 + "/a")
			if err == nil {
				_ = resp.Body.Close()
				code <- resp.StatusCode
			}
		}()
		w := watchGadgets(t, srv, gadgetsV2+"?watch=true&resourceVersion="+previousVersion(t, srv.ResourceVersion()))
		synctest.Wait() // both wait for the webhook
		setStorageVersion(t, srv, "v2")
		require.Equal(t, "EOF", w.next(t), "the watch ends immediately")
		resume()
		require.Equal(t, 200, <-code)
	})
}

// Informers of the server and of a replica list again when the CRD changes.
func TestInformersAfterCRDUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, hook)
		replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		resource := schema.GroupVersionResource{Group: "example.com", Version: "v2", Resource: "gadgets"}
		var informers []cache.SharedIndexInformer
		for _, server := range []*fakeapi.Server{srv, replica.Server} {
			client := dynamic.NewForConfigOrDie(server.RESTConfig())
			informer := dynamicinformer.NewFilteredDynamicInformer(client, resource, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
			ctx := t.Context()
			go informer.RunWithContext(ctx)
			informers = append(informers, informer)
		}
		requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "a", 1))
		time.Sleep(time.Minute)
		setStorageVersion(t, srv, "v2")
		requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "b", 2))
		time.Sleep(time.Minute)
		for _, informer := range informers {
			require.ElementsMatch(t, []string{"default/a", "default/b"}, informer.GetStore().ListKeys())
		}
	})
}

// getCode returns the code of the response to a GET.
func getCode(t *testing.T, srv *fakeapi.Server, path string) int {
	t.Helper()
	code, _, _ := send(t, srv, "GET", path, "", nil)
	return code
}
