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

// changeCRD changes the definition of Gadgets by a PUT that is answered with a code.
func changeCRD(t *testing.T, srv *fakeapi.Server, want int, change func(spec map[string]any, versions []map[string]any)) *unstructured.Unstructured {
	t.Helper()
	crd := must(t, srv, 200, "GET", crdsPath+"/gadgets.example.com", "")
	spec := crd.Object["spec"].(map[string]any)
	var versions []map[string]any
	for _, v := range spec["versions"].([]any) {
		versions = append(versions, v.(map[string]any))
	}
	change(spec, versions)
	body, err := json.Marshal(crd)
	require.NoError(t, err)
	return must(t, srv, want, "PUT", crdsPath+"/gadgets.example.com", string(body))
}

// store makes a version the one in which objects are stored.
func store(t *testing.T, srv *fakeapi.Server, version string) {
	t.Helper()
	changeCRD(t, srv, 200, func(_ map[string]any, versions []map[string]any) {
		for _, v := range versions {
			v["storage"] = v["name"] == version
		}
	})
}

func storedVersions(t *testing.T, srv *fakeapi.Server) []string {
	t.Helper()
	names, _, err := unstructured.NestedStringSlice(must(t, srv, 200, "GET", crdsPath+"/gadgets.example.com", "").Object, "status", "storedVersions")
	require.NoError(t, err)
	return names
}

// After the storage version has changed old objects stay as they are until they are written, and
// can be read in all versions; a write without a change stores them anew, once.
func TestStorageVersionSwitch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetHook{}
		srv := gadgets(t, hook)
		old := must(t, srv, 201, "POST", gadgetsV1, gadget("v1", "a", 1))
		w := watchGadgets(t, srv, gadgetsV2+"?watch=true&resourceVersion="+srv.ResourceVersion())
		store(t, srv, "v2")
		require.Equal(t, "EOF", w.next(t), "the watches of a definition end when it changes")
		require.Equal(t, []string{"v1", "v2"}, storedVersions(t, srv))
		require.EqualValues(t, 2, must(t, srv, 200, "GET", crdsPath+"/gadgets.example.com", "").GetGeneration())
		require.JSONEq(t, `{"size":1,"ofv1":"set in v1"}`, specOf(t, must(t, srv, 200, "GET", gadgetsV1+"/a", "")))
		read := must(t, srv, 200, "GET", gadgetsV2+"/a", "")
		require.JSONEq(t, `{"width":1}`, specOf(t, read), "defaults are those of the version that it is stored in")
		require.Equal(t, old.GetResourceVersion(), read.GetResourceVersion())
		require.Zero(t, hook.asked(func() { must(t, srv, 200, "GET", gadgetsV1+"/a", "") }), "it is stored in v1")
		require.Equal(t, []string{"a"}, listOf(t, srv, gadgetsV2+"?fieldSelector=spec.width%3D1"))

		w = watchGadgets(t, srv, gadgetsV2+"?watch=true&resourceVersion="+srv.ResourceVersion())
		written := must(t, srv, 200, "PATCH", gadgetsV2+"/a", `{}`)
		require.NotEqual(t, old.GetResourceVersion(), written.GetResourceVersion(), "it is stored anew")
		require.JSONEq(t, `{"width":1,"ofv2":"set in v2"}`, specOf(t, written), "what a client writes gets the defaults of its version")
		require.Equal(t, "MODIFIED a 1", w.next(t))
		require.Zero(t, hook.asked(func() { must(t, srv, 200, "GET", gadgetsV2+"/a", "") }), "it is stored in v2")
		require.Equal(t, 1, hook.asked(func() { must(t, srv, 200, "GET", gadgetsV1+"/a", "") }))
		again := must(t, srv, 200, "PATCH", gadgetsV2+"/a", `{}`)
		require.Equal(t, written.GetResourceVersion(), must(t, srv, 200, "PATCH", gadgetsV2+"/a", `{}`).GetResourceVersion())
		require.Equal(t, written.GetResourceVersion(), again.GetResourceVersion())
	})
}

// A stored version cannot leave the definition before the status has forgotten it, and only a
// write of the status makes it.
func TestStoredVersionsArePruned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetHook{}
		srv := gadgets(t, hook)
		must(t, srv, 201, "POST", gadgetsV1, gadget("v1", "a", 1))
		store(t, srv, "v2")
		dropV1 := func(spec map[string]any, versions []map[string]any) {
			spec["versions"] = []any{versions[1]}
		}
		refusal := changeCRD(t, srv, 422, dropV1)
		require.Contains(t, refusal.Object["message"], `status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1`)

		must(t, srv, 200, "PATCH", crdsPath+"/gadgets.example.com", `{"status":{"storedVersions":["v2"]}}`)
		require.Equal(t, []string{"v1", "v2"}, storedVersions(t, srv), "the definition itself does not write its status")
		must(t, srv, 200, "PATCH", gadgetsV2+"/a", `{}`) // the migration
		must(t, srv, 200, "PATCH", crdsPath+"/gadgets.example.com/status", `{"status":{"storedVersions":["v2"]}}`)
		changeCRD(t, srv, 200, dropV1)
		require.Equal(t, 404, codeOf(t, srv, gadgetsV1+"/a"))
		require.JSONEq(t, `{"width":1,"ofv2":"set in v2"}`, specOf(t, must(t, srv, 200, "GET", gadgetsV2+"/a", "")))
	})
}

// A definition that is deleted deletes its objects in the version that they are stored in, even if
// that is not served and no webhook answers.
func TestDefinitionEndsWithoutItsWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetHook{}
		srv := gadgets(t, hook)
		must(t, srv, 201, "POST", gadgetsV1, gadget("v1", "a", 1))
		changeCRD(t, srv, 200, func(_ map[string]any, versions []map[string]any) { versions[0]["served"] = false })
		hook.broken.Store(true)
		require.Zero(t, hook.asked(func() { must(t, srv, 200, "DELETE", crdsPath+"/gadgets.example.com", "") }))
		must(t, srv, 404, "GET", crdsPath+"/gadgets.example.com", "")
		require.Equal(t, 404, codeOf(t, srv, gadgetsV2))
	})
}

// Another webhook converts anew what was converted before it.
func TestAnotherConversion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetHook{}
		srv := gadgets(t, hook)
		must(t, srv, 201, "POST", gadgetsV1, gadget("v1", "a", 1))
		require.Equal(t, []string{"a"}, listOf(t, srv, gadgetsV2+"?fieldSelector=spec.width%3D1"))
		changeCRD(t, srv, 200, func(spec map[string]any, _ []map[string]any) { spec["conversion"] = map[string]any{"strategy": "None"} })
		require.Empty(t, listOf(t, srv, gadgetsV2+"?fieldSelector=spec.width%3D1"), "there is no width in what is stored")
		require.Equal(t, []string{"a"}, listOf(t, srv, gadgetsV2))
	})
}

// What was asked of a webhook when its definition changed is still answered.
func TestDefinitionChangesDuringACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetHook{}
		srv := gadgets(t, hook)
		must(t, srv, 201, "POST", gadgetsV1, gadget("v1", "a", 1))
		resume := hook.hang()
		code := make(chan int, 1)
		go func() {
			resp, err := srv.Client().Get(srv.URL() + gadgetsV2 + "/a")
			if err == nil {
				_ = resp.Body.Close()
				code <- resp.StatusCode
			}
		}()
		w := watchGadgets(t, srv, gadgetsV2+"?watch=true&resourceVersion="+before(t, srv.ResourceVersion()))
		synctest.Wait() // both hang
		store(t, srv, "v2")
		require.Equal(t, "EOF", w.next(t), "at once")
		resume()
		require.Equal(t, 200, <-code)
	})
}

// An informer on either door lists again when the definition changes, and goes on.
func TestInformersOutliveADefinition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetHook{}
		srv := gadgets(t, hook)
		replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		resource := schema.GroupVersionResource{Group: "example.com", Version: "v2", Resource: "gadgets"}
		var informers []cache.SharedIndexInformer
		for _, door := range []*fakeapi.Server{srv, replica.Server} {
			client := dynamic.NewForConfigOrDie(door.RESTConfig())
			informer := dynamicinformer.NewFilteredDynamicInformer(client, resource, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
			ctx := t.Context()
			go informer.RunWithContext(ctx)
			informers = append(informers, informer)
		}
		must(t, srv, 201, "POST", gadgetsV1, gadget("v1", "a", 1))
		time.Sleep(time.Minute)
		store(t, srv, "v2")
		must(t, srv, 201, "POST", gadgetsV1, gadget("v1", "b", 2))
		time.Sleep(time.Minute)
		for _, informer := range informers {
			require.ElementsMatch(t, []string{"default/a", "default/b"}, informer.GetStore().ListKeys())
		}
	})
}

// codeOf is the code of the answer to a GET.
func codeOf(t *testing.T, srv *fakeapi.Server, path string) int {
	t.Helper()
	code, _, _ := send(t, srv, "GET", path, "", nil)
	return code
}
