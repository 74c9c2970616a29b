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

// Everything goes through the version that is not stored, over a real socket.
func TestVersionsByWebhook(t *testing.T) {
	hook := &gadgetHook{}
	srv := fakeapi.Start(t)
	must(t, srv, 201, "POST", crdsPath, gadgetCRD("v1", webhook(loopbackHook(t, hook))))

	made := must(t, srv, 201, "POST", gadgetsV2, gadget("v2", "a", 3))
	require.Equal(t, "example.com/v2", made.GetAPIVersion())
	require.JSONEq(t, `{"width":3}`, specOf(t, made), "v1 has no ofv2 to keep the default in, and defaults none of its own when it converts")
	require.JSONEq(t, `{"size":3,"ofv1":"set in v1"}`, specOf(t, must(t, srv, 200, "GET", gadgetsV1+"/a", "")))
	require.Equal(t, made.GetResourceVersion(), must(t, srv, 200, "GET", gadgetsV1+"/a", "").GetResourceVersion())

	patched := must(t, srv, 200, "PATCH", gadgetsV2+"/a", `{"spec":{"width":4}}`)
	require.Contains(t, specOf(t, patched), `"width":4`)
	require.EqualValues(t, 2, patched.GetGeneration())
	applied := must(t, srv, 200, "PATCH", gadgetsV2+"/a?fieldManager=me&force=true", gadget("v2", "a", 5))
	require.Contains(t, specOf(t, applied), `"width":5`)
	versions := map[string]string{}
	for _, entry := range must(t, srv, 200, "PATCH", gadgetsV1+"/a?fieldManager=old&force=true", gadget("v1", "a", 6)).GetManagedFields() {
		versions[entry.Manager] = entry.APIVersion
	}
	require.Equal(t, "example.com/v1", versions["old"])
	require.NotContains(t, versions, "me", "its one field is another's now, under another name")

	scale := must(t, srv, 200, "PATCH", gadgetsV2+"/a/scale", `{"spec":{"replicas":7}}`)
	require.Equal(t, "Scale", scale.GetKind())
	must(t, srv, 200, "PATCH", gadgetsV2+"/a/status", `{"status":{"replicas":2},"spec":{"width":99}}`)
	now := must(t, srv, 200, "GET", gadgetsV1+"/a", "")
	require.JSONEq(t, `{"size":6,"replicas":7,"ofv1":"set in v1"}`, specOf(t, now))
	require.Equal(t, map[string]any{"replicas": int64(2)}, now.Object["status"])

	now.SetAPIVersion("example.com/v2")
	now.Object["spec"] = map[string]any{"width": 8, "size": 1}
	body, err := json.Marshal(now)
	require.NoError(t, err)
	require.JSONEq(t, `{"width":8}`, specOf(t, must(t, srv, 200, "PUT", gadgetsV2+"/a", string(body))), "pruned by the schema of v2")
	require.Equal(t, "Success", must(t, srv, 200, "DELETE", gadgetsV2+"/a", "").Object["status"])
}

// The strategy None changes the apiVersion alone, and each schema prunes what it does not have.
func TestVersionsWithoutWebhook(t *testing.T) {
	srv := fakeapi.Start(t)
	must(t, srv, 201, "POST", crdsPath, gadgetCRD("v1", `{"strategy":"None"}`))
	made := must(t, srv, 201, "POST", gadgetsV2, `{"apiVersion":"example.com/v2","kind":"Gadget","metadata":{"name":"a"},"spec":{"width":3,"replicas":2}}`)
	require.JSONEq(t, `{"replicas":2}`, specOf(t, made), "what v1 does not have is not stored")
	require.JSONEq(t, `{"replicas":2,"ofv1":"set in v1"}`, specOf(t, must(t, srv, 200, "GET", gadgetsV1+"/a", "")))
	must(t, srv, 200, "PATCH", gadgetsV2+"/a/scale", `{"spec":{"replicas":5}}`)
	require.Contains(t, specOf(t, must(t, srv, 200, "GET", gadgetsV2+"/a", "")), `"replicas":5`)
	require.Empty(t, listOf(t, srv, gadgetsV2+"?fieldSelector="+url.QueryEscape("spec.width=3")))
}

// A field selector goes by the fields of the version that is asked for.
func TestFieldsOfAVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetHook{}
		srv := gadgets(t, hook)
		must(t, srv, 201, "POST", gadgetsV1, gadget("v1", "a", 1))
		must(t, srv, 201, "POST", gadgetsV2, gadget("v2", "b", 2))
		for path, want := range map[string][]string{
			gadgetsV1 + "?fieldSelector=spec.size%3D1":                       {"a"},
			gadgetsV1 + "?fieldSelector=spec.size%3D2":                       {"b"},
			gadgetsV2 + "?fieldSelector=spec.width%3D1":                      {"a"},
			gadgetsV2 + "?fieldSelector=spec.width%3D2,metadata.name%3Db":    {"b"},
			gadgetsV2 + "?fieldSelector=spec.width!%3D2":                     {"a"},
			gadgetsV2 + "?fieldSelector=spec.width%3D2,metadata.name%3Da":    nil,
			gadgetsV2 + "?fieldSelector=spec.width!%3D9,metadata.name%3D%62": {"b"},
		} {
			require.Equal(t, want, listOf(t, srv, path), path)
		}
		require.Contains(t, refused(t, srv, 400, "GET", gadgetsV2+"?fieldSelector=spec.size%3D1", "").Message, "field label not supported: spec.size")

		w := watchGadgets(t, srv, gadgetsV2+"?watch=true&fieldSelector=spec.width%3D5&resourceVersion="+srv.ResourceVersion())
		must(t, srv, 200, "PATCH", gadgetsV1+"/a", `{"spec":{"size":5}}`)
		require.Equal(t, "ADDED a 5", w.next(t))
		must(t, srv, 200, "PATCH", gadgetsV2+"/a", `{"spec":{"width":6}}`)
		require.Equal(t, "DELETED a 5", w.next(t))
	})
}

// A list converts each object once, whatever form it is asked for in, and who asks next asks nobody.
func TestConversionsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetHook{}
		srv := gadgets(t, hook)
		const n = 1000
		for i := range n {
			must(t, srv, 201, "POST", gadgetsV1, gadget("v1", fmt.Sprintf("g%d", i), i))
		}
		list := func(accept string) func() {
			return func() {
				code, _, body := accepting(t, srv, "GET", gadgetsV2, accept)
				require.Equal(t, 200, code, "%s", body)
			}
		}
		require.Zero(t, hook.calls.Load(), "writes in v1 ask nobody")
		require.Equal(t, n, hook.asked(list("application/json")))
		for _, accept := range []string{"application/json", "application/yaml", "application/json;as=Table;v=v1;g=meta.k8s.io",
			"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"} {
			require.Zero(t, hook.asked(list(accept)), accept)
		}
		require.Equal(t, 1, hook.asked(func() { must(t, srv, 200, "GET", gadgetsV2+"/g1", "") }), "a get is read from the storage")
		require.Zero(t, hook.asked(func() { must(t, srv, 200, "GET", gadgetsV2+"/g1?resourceVersion=0", "") }))
	})
}

// A hundred watchers that see the same event ask once.
func TestWatchersShareAConversion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &gadgetHook{}
		srv := gadgets(t, hook)
		var watchers []*gadgetWatch
		for range 20 {
			watchers = append(watchers, watchGadgets(t, srv, gadgetsV2+"?watch=true&resourceVersion="+srv.ResourceVersion()))
		}
		resume := hook.hang() // so that all of them come before it is answered
		must(t, srv, 201, "POST", gadgetsV1, gadget("v1", "a", 1))
		synctest.Wait()
		resume()
		for _, w := range watchers {
			require.Equal(t, "ADDED a 1", w.next(t))
		}
		require.EqualValues(t, 1, hook.calls.Load())
	})
}

// listOf are the names of the items of a list.
func listOf(t *testing.T, srv *fakeapi.Server, path string) (names []string) {
	t.Helper()
	list, err := must(t, srv, 200, "GET", path, "").ToList()
	require.NoError(t, err)
	for _, item := range list.Items {
		names = append(names, item.GetName())
	}
	return names
}

// Writes without a change, as a real v0.37.2 server answered them: which are stored anew, with
// which generation and which spec.
func TestWritesWithoutAChange(t *testing.T) {
	type state struct {
		written    bool
		generation int64
		spec       string
	}
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		must(t, srv, 201, "POST", crdsPath, gadgetCRD("v1", `{"strategy":"None"}`))
		body := func(version, name, field string) string {
			return fmt.Sprintf(`{"apiVersion":"example.com/%s","kind":"Gadget","metadata":{"name":%q},"spec":{%q:3,"replicas":2}}`, version, name, field)
		}
		require.JSONEq(t, `{"replicas":2}`, specOf(t, must(t, srv, 201, "POST", gadgetsV2+"?dryRun=All", body("v2", "dry", "width"))))
		must(t, srv, 201, "POST", gadgetsV2, body("v2", "a", "width"))
		noop := func(path string) state {
			before := must(t, srv, 200, "GET", path, "").GetResourceVersion()
			after := must(t, srv, 200, "PATCH", path, `{}`)
			return state{after.GetResourceVersion() != before, after.GetGeneration(), specOf(t, after)}
		}
		require.Equal(t, state{true, 2, `{"replicas":2}`}, noop(gadgetsV2+"/a"), "the default of v2 counts, and is not stored")
		require.Equal(t, state{true, 2, `{"ofv1":"set in v1","replicas":2}`}, noop(gadgetsV1+"/a"), "the default of v1 is stored")
		require.Equal(t, state{false, 2, `{"ofv1":"set in v1","replicas":2}`}, noop(gadgetsV1+"/a"))

		must(t, srv, 201, "POST", gadgetsV1, body("v1", "b", "size"))
		store(t, srv, "v2")
		require.Equal(t, state{true, 1, `{"replicas":2}`}, noop(gadgetsV1+"/b"))
		require.Equal(t, state{true, 2, `{"replicas":2}`}, noop(gadgetsV1+"/b"))
		require.JSONEq(t, `{"ofv2":"set in v2","replicas":2}`, specOf(t, must(t, srv, 200, "GET", gadgetsV2+"/b", "")))
		require.Equal(t, state{true, 2, `{"ofv2":"set in v2","replicas":2}`}, noop(gadgetsV2+"/b"))
		require.Equal(t, state{false, 2, `{"ofv2":"set in v2","replicas":2}`}, noop(gadgetsV2+"/b"))
		require.Equal(t, state{true, 3, `{"ofv2":"set in v2","replicas":2}`}, noop(gadgetsV2+"/a"))
	})
}
