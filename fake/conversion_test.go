package fakeapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// All requests use the version that is not stored, with a webhook on a real socket.
func TestWebhookConversion(t *testing.T) {
	hook := &gadgetWebhook{}
	srv := fakeapi.Start(t)
	requireCode(t, srv, 201, "POST", crdsPath, gadgetCRD("v1", webhookConversion(startLoopbackWebhook(t, hook))))

	made := requireCode(t, srv, 201, "POST", gadgetsV2, gadgetJSON("v2", "a", 3))
	require.Equal(t, "example.com/v2", made.GetAPIVersion())
	require.JSONEq(t, `{"width":3}`, specJSON(t, made), "v1 cannot store the default of ofv2, and conversion does not default ofv1")
	require.JSONEq(t, `{"size":3,"ofv1":"set in v1"}`, specJSON(t, requireCode(t, srv, 200, "GET", gadgetsV1+"/a", "")))
	require.Equal(t, made.GetResourceVersion(), requireCode(t, srv, 200, "GET", gadgetsV1+"/a", "").GetResourceVersion())

	patched := requireCode(t, srv, 200, "PATCH", gadgetsV2+"/a", `{"spec":{"width":4}}`)
	require.Contains(t, specJSON(t, patched), `"width":4`)
	require.EqualValues(t, 2, patched.GetGeneration())
	applied := requireCode(t, srv, 200, "PATCH", gadgetsV2+"/a?fieldManager=me&force=true", gadgetJSON("v2", "a", 5))
	require.Contains(t, specJSON(t, applied), `"width":5`)
	failed := requireStatus(t, srv, 500, "PATCH", gadgetsV1+"/a?fieldManager=old&force=true", gadgetJSON("v1", "a", 6))
	require.Equal(t, ".spec.ofv1: field not declared in schema", failed.Message, "the manager of v2 owns fields of an object that v2 does not allow")

	scale := requireCode(t, srv, 200, "PATCH", gadgetsV2+"/a/scale", `{"spec":{"replicas":7}}`)
	require.Equal(t, "Scale", scale.GetKind())
	requireCode(t, srv, 200, "PATCH", gadgetsV2+"/a/status", `{"status":{"replicas":2},"spec":{"width":99}}`)
	now := requireCode(t, srv, 200, "GET", gadgetsV1+"/a", "")
	require.JSONEq(t, `{"size":5,"replicas":7,"ofv1":"set in v1"}`, specJSON(t, now))
	require.Equal(t, map[string]any{"replicas": int64(2)}, now.Object["status"])

	now.SetAPIVersion("example.com/v2")
	now.Object["spec"] = map[string]any{"width": 8, "size": 1}
	body, err := json.Marshal(now)
	require.NoError(t, err)
	require.JSONEq(t, `{"width":8}`, specJSON(t, requireCode(t, srv, 200, "PUT", gadgetsV2+"/a", string(body))), "size is not in the schema of v2")
	require.Equal(t, "Success", requireCode(t, srv, 200, "DELETE", gadgetsV2+"/a", "").Object["status"])
}

// The strategy None changes only the apiVersion. Each schema prunes the fields that it does not
// have.
func TestNoneConversion(t *testing.T) {
	srv := fakeapi.Start(t)
	requireCode(t, srv, 201, "POST", crdsPath, gadgetCRD("v1", `{"strategy":"None"}`))
	made := requireCode(t, srv, 201, "POST", gadgetsV2, `{"apiVersion":"example.com/v2","kind":"Gadget","metadata":{"name":"a"},"spec":{"width":3,"replicas":2}}`)
	require.JSONEq(t, `{"replicas":2}`, specJSON(t, made), "width is not in the schema of v1")
	require.JSONEq(t, `{"replicas":2,"ofv1":"set in v1"}`, specJSON(t, requireCode(t, srv, 200, "GET", gadgetsV1+"/a", "")))
	requireCode(t, srv, 200, "PATCH", gadgetsV2+"/a/scale", `{"spec":{"replicas":5}}`)
	require.Contains(t, specJSON(t, requireCode(t, srv, 200, "GET", gadgetsV2+"/a", "")), `"replicas":5`)
	require.Empty(t, listNames(t, srv, gadgetsV2+"?fieldSelector="+url.QueryEscape("spec.width=3")))
}

// A field selector uses the fields of the requested version.
func TestFieldSelectorsOfVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, hook)
		requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "a", 1))
		requireCode(t, srv, 201, "POST", gadgetsV2, gadgetJSON("v2", "b", 2))
		for path, want := range map[string][]string{
			gadgetsV1 + "?fieldSelector=spec.size%3D1":                       {"a"},
			gadgetsV1 + "?fieldSelector=spec.size%3D2":                       {"b"},
			gadgetsV2 + "?fieldSelector=spec.width%3D1":                      {"a"},
			gadgetsV2 + "?fieldSelector=spec.width%3D2,metadata.name%3Db":    {"b"},
			gadgetsV2 + "?fieldSelector=spec.width!%3D2":                     {"a"},
			gadgetsV2 + "?fieldSelector=spec.width%3D2,metadata.name%3Da":    nil,
			gadgetsV2 + "?fieldSelector=spec.width!%3D9,metadata.name%3D%62": {"b"},
		} {
			require.Equal(t, want, listNames(t, srv, path), path)
		}
		require.Contains(t, requireStatus(t, srv, 400, "GET", gadgetsV2+"?fieldSelector=spec.size%3D1", "").Message, "field label not supported: spec.size")

		w := watchGadgets(t, srv, gadgetsV2+"?watch=true&fieldSelector=spec.width%3D5&resourceVersion="+srv.ResourceVersion())
		requireCode(t, srv, 200, "PATCH", gadgetsV1+"/a", `{"spec":{"size":5}}`)
		require.Equal(t, "ADDED a 5", w.next(t))
		requireCode(t, srv, 200, "PATCH", gadgetsV2+"/a", `{"spec":{"width":6}}`)
		require.Equal(t, "DELETED a 5", w.next(t))
	})
}

// A list converts each object once, whatever its format is. The next list calls no webhook.
func TestConversionsAreCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, hook)
		const n = 1000
		for i := range n {
			requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", fmt.Sprintf("g%d", i), i))
		}
		list := func(accept string) func() {
			return func() {
				code, _, body := getWithAccept(t, srv, "GET", gadgetsV2, accept)
				require.Equal(t, 200, code, "%s", body)
			}
		}
		require.Zero(t, hook.calls.Load(), "writes in v1 need no conversion")
		require.Equal(t, n, hook.callsDuring(list("application/json")))
		for _, accept := range []string{"application/json", "application/yaml", "application/json;as=Table;v=v1;g=meta.k8s.io",
			"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"} {
			require.Zero(t, hook.callsDuring(list(accept)), accept)
		}
		require.Equal(t, 1, hook.callsDuring(func() { requireCode(t, srv, 200, "GET", gadgetsV2+"/g1", "") }), "a get reads from the storage")
		require.Zero(t, hook.callsDuring(func() { requireCode(t, srv, 200, "GET", gadgetsV2+"/g1?resourceVersion=0", "") }))
	})
}

// Watchers of the same event share one conversion.
func TestWatchersShareConversions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetWebhook{}
		srv := startWithGadgets(t, hook)
		var watchers []*gadgetWatch
		for range 20 {
			watchers = append(watchers, watchGadgets(t, srv, gadgetsV2+"?watch=true&resourceVersion="+srv.ResourceVersion()))
		}
		resume := hook.blockCalls() // so that all watchers wait for the same call
		requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "a", 1))
		synctest.Wait()
		resume()
		for _, w := range watchers {
			require.Equal(t, "ADDED a 1", w.next(t))
		}
		require.EqualValues(t, 1, hook.calls.Load())
	})
}

// listNames returns the names of the items of a list.
func listNames(t *testing.T, srv *fakeapi.Server, path string) (names []string) {
	t.Helper()
	list, err := requireCode(t, srv, 200, "GET", path, "").ToList()
	require.NoError(t, err)
	for _, item := range list.Items {
		names = append(names, item.GetName())
	}
	return names
}

// Whether writes without a change are stored, with which generation and spec, as recorded of a real
// v0.37.2 server.
func TestNoopWrites(t *testing.T) {
	type result struct {
		written    bool
		generation int64
		spec       string
	}
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		requireCode(t, srv, 201, "POST", crdsPath, gadgetCRD("v1", `{"strategy":"None"}`))
		body := func(version, name, field string) string {
			return fmt.Sprintf(`{"apiVersion":"example.com/%s","kind":"Gadget","metadata":{"name":%q},"spec":{%q:3,"replicas":2}}`, version, name, field)
		}
		require.JSONEq(t, `{"replicas":2}`, specJSON(t, requireCode(t, srv, 201, "POST", gadgetsV2+"?dryRun=All", body("v2", "dry", "width"))))
		requireCode(t, srv, 201, "POST", gadgetsV2, body("v2", "a", "width"))
		noop := func(path string) result {
			before := requireCode(t, srv, 200, "GET", path, "").GetResourceVersion()
			after := requireCode(t, srv, 200, "PATCH", path, `{}`)
			return result{after.GetResourceVersion() != before, after.GetGeneration(), specJSON(t, after)}
		}
		require.Equal(t, result{true, 2, `{"replicas":2}`}, noop(gadgetsV2+"/a"), "the default of v2 is a change, but is not stored")
		require.Equal(t, result{true, 2, `{"ofv1":"set in v1","replicas":2}`}, noop(gadgetsV1+"/a"), "the default of v1 is stored")
		require.Equal(t, result{false, 2, `{"ofv1":"set in v1","replicas":2}`}, noop(gadgetsV1+"/a"))

		requireCode(t, srv, 201, "POST", gadgetsV1, body("v1", "b", "size"))
		setStorageVersion(t, srv, "v2")
		require.Equal(t, result{true, 1, `{"replicas":2}`}, noop(gadgetsV1+"/b"))
		require.Equal(t, result{true, 2, `{"replicas":2}`}, noop(gadgetsV1+"/b"))
		require.JSONEq(t, `{"ofv2":"set in v2","replicas":2}`, specJSON(t, requireCode(t, srv, 200, "GET", gadgetsV2+"/b", "")))
		require.Equal(t, result{true, 2, `{"ofv2":"set in v2","replicas":2}`}, noop(gadgetsV2+"/b"))
		require.Equal(t, result{false, 2, `{"ofv2":"set in v2","replicas":2}`}, noop(gadgetsV2+"/b"))
		require.Equal(t, result{true, 3, `{"ofv2":"set in v2","replicas":2}`}, noop(gadgetsV2+"/a"))
	})
}
