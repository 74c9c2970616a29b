package fuzz_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// patchTargets are the objects and subresources that patches are sent to.
var patchTargets = []struct {
	collection, name, part string
	custom                 bool
}{
	{"/api/v1/namespaces/default/pods", "web", "", false},
	{"/apis/apps/v1/namespaces/default/deployments", "web", "", false},
	{configMapsPath, "there", "", false},
	{widgetsPath, "w", "", true},
	{"/apis/apps/v1/namespaces/default/deployments", "web", "/scale", false},
	{"/api/v1/namespaces/default/pods", "web", "/status", false},
	{widgetsPath, "w", "/status", true},
	{configMapsPath, "new", "", false}, // an apply creates it
	{widgetsPath, "new", "", true},
}

// patchTypes are all media types of patches.
var patchTypes = []string{"application/json-patch+json", mergeJSON, "application/strategic-merge-patch+json", applyYAML, "application/apply-patch+cbor"}

// A patch of any type results in an object that is the same in every encoding, or in a Status and
// no change. A dry run has the same response as the patch. Sending a merge patch or an apply again
// changes nothing.
func FuzzPatch(f *testing.F) {
	seedPatches(f)
	base := newFuzzServer(f, newConfigMap("there"), newPod("web", makeRunning), newDeployment("web"))
	require.NoError(f, base.LoadManifests(fstest.MapFS{"w.yaml": {Data: []byte("apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: default}\nspec: {size: 3}")}}))
	f.Fuzz(func(t *testing.T, target, kind uint8, patch []byte) {
		to, sent := patchTargets[int(target)%len(patchTargets)], patchTypes[int(kind)%len(patchTypes)]
		// The patched pod is compared with the result of the library, which adds no tolerations.
		p := newProbe(t, base, fakeapi.WithoutControllers(), fakeapi.WithoutAdmissionPlugins("DefaultTolerationSeconds"))
		start := totalAlloc()
		path := to.collection + "/" + to.name + to.part + "?fieldValidation=Warn"
		if strings.HasPrefix(sent, "application/apply") {
			path += "&fieldManager=m&force=true"
		}
		dry := p.do("PATCH", path+"&dryRun=All", sent, mediaJSON, patch)
		stored := p.do("PATCH", path, sent, mediaJSON, patch)
		require.Equal(t, normalizeResponse(t, dry), normalizeResponse(t, stored))
		require.Equal(t, dry.header["Warning"], stored.header["Warning"])
		require.Less(t, totalAlloc()-start, uint64(256<<20), "bytes")
		if stored.code >= http.StatusBadRequest {
			return
		}
		again := p.do("GET", to.collection+"/"+to.name+to.part, "", mediaJSON, nil)
		require.Equal(t, stored.object, again.object)
		p.checkEncodings(to.collection, to.name, to.custom)
		if kind%5 == 1 || kind%5 > 2 {
			before := p.revision()
			if twice := p.do("PATCH", path, sent, mediaJSON, patch); twice.code < http.StatusBadRequest {
				require.Equal(t, before, p.revision(), "the second patch changed the object: %s", twice.body)
			}
		}
	})
}

func seedPatches(f *testing.F) {
	f.Helper()
	for kind, all := range [][]string{
		{
			`[{"op":"copy","from":"/spec/containers","path":"/spec/containers/-"}]`, `[{"op":"move","from":"/spec","path":"/metadata/annotations"},{"op":"test","path":"","value":null}]`,
			`[{"op":"add","path":"/spec/containers/-1","value":{}},{"op":"remove","path":""}]`, `[{"op":"replace","path":"/spec/replicas","value":5}]`, `[{"op":"add","path":"/data","value":{"a":"b"}}]`,
			`[{"op":"test","path":"/metadata/name","value":"web"},{"op":"replace","path":"/metadata/name","value":"x"}]`, `[{"op":"add","path":"/metadata/labels/a~1b","value":"c"}]`,
			`[{"op":"add","path":"/metadata/finalizers","value":["a/b"]}]`, `[{"op":"add","path":"/spec/size","value":1e2}]`, `[]`, `null`, `[{}]`, `[{"op":"add","path":"/status/phase","value":"Failed"}]`,
			`[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`, `[{"op":"remove","path":"/metadata/managedFields"}]`,
		},
		{
			`{"spec":{"containers":[null]},"metadata":null}`, `{"metadata":{"managedFields":[{}],"finalizers":["a/b"]}}`, `{"spec":{"replicas":null}}`, `{"spec":{"size":7,"color":null}}`,
			`{"metadata":{"resourceVersion":"1"}}`, `{"metadata":{"uid":"x"}}`, `{"kind":"X","apiVersion":"v9"}`, `{"status":{"phase":"Failed","x":1}}`, `{"data":{"a":"b","a":"c"},"x":{}}`, `null`, `3`, `{}`,
			`{"metadata":{"labels":{"a":null,"b":""},"annotations":{}}}`, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"web","uid":"u","blockOwnerDeletion":false}]}}`,
		},
		{
			`{"spec":{"containers":[{"name":"c","$patch":"replace"},{"$patch":"delete","name":"d"}]}}`, `{"spec":{"$setElementOrder/containers":[{"name":"d"},{"name":"c"}],"$retainKeys":["containers"],"$deleteFromPrimitiveList/x":[1]}}`,
			`{"$patch":"replace","metadata":{"$patch":"delete"}}`, `{"metadata":{"finalizers":["a/b"],"$deleteFromPrimitiveList/finalizers":["c/d"]}}`, `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:2"}]}}}}`, `{"data":{"$patch":"delete"}}`,
			`{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}`,
		},
		{
			"apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, ports: [{containerPort: 1}]}]}", "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: c}, {name: c}]}", "apiVersion: v1\nkind: Pod\nspec: &a {containers: [*a]}",
			"apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 2}", "apiVersion: autoscaling/v1\nkind: Scale\nspec: {replicas: 2}", "apiVersion: v1\nkind: ConfigMap\ndata: {k: null, l: v}", "apiVersion: v1\nkind: ConfigMap\nmetadata: {resourceVersion: \"1\", managedFields: []}",
			"apiVersion: shop.example.com/v1\nkind: Widget\nspec: {size: 4, color: blue}\nstatus: {phase: x}", "apiVersion: shop.example.com/v1\nkind: Widget\nspec: {size: 1000}", "apiVersion: shop.example.com/v1\nkind: Widget\nbogus: 1", "apiVersion: v1\nkind: Pod\nbogus: 1", "a: b: c", "",
		},
	} {
		for i, patch := range all {
			for target := range patchTargets {
				if (i+target)%3 == 0 || target < 4 {
					f.Add(uint8(target), uint8(kind), []byte(patch))
				}
			}
		}
	}
	f.Add(uint8(2), uint8(4), encodeCBOR(f, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": "b"}}))
	f.Add(uint8(8), uint8(4), encodeCBOR(f, map[string]any{"apiVersion": "shop.example.com/v1", "kind": "Widget", "spec": map[string]any{"size": int64(3)}}))
	f.Add(uint8(3), uint8(4), encodeCBOR(f, map[string]any{"apiVersion": "shop.example.com/v1", "kind": "Widget", "spec": map[string]any{"size": 3.0}}))
}
