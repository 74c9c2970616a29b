package fakeapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// A list in YAML is assembled from its items and equal to the library's encoding of the list.
func TestYAMLList(t *testing.T) {
	long := configMap("long", strings.Repeat("words that are folded ", 20))
	long.Annotations = map[string]string{"lines": "one\ntwo\n", "odd": "yes", "quoted": "a: 'b' #c", "empty": "", "number": "0123"}
	srv := fakeapi.Start(t, fakeapi.WithObjects(long, configMap("a", "1"), configMap("b", "")))
	for _, tt := range []struct{ path, params string }{
		{configMapsPath, ""}, {configMapsPath + "?limit=1", ""}, {"/api/v1/namespaces/default/pods", ""},
		{"/apis/autoscaling/v1/horizontalpodautoscalers", ""},
		{configMapsPath, ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"},
		{configMapsPath, ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1"},
	} {
		wantJSON := sendWith(t, srv, http.MethodGet, tt.path, "", "Accept", mediaJSON+tt.params)
		want, err := yaml.JSONToYAML(wantJSON.body)
		require.NoError(t, err)
		for range 2 { // the second response is from the cache
			got := sendWith(t, srv, http.MethodGet, tt.path, "", "Accept", "application/yaml"+tt.params)
			require.Equal(t, string(want), string(got.body), tt.path)
		}
	}
}

// Items in YAML are cached for each version, and for each state of the definition.
func TestYAMLListOfCustomResources(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(newGadgetCRD(), newGadget("a")))
	const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.end.example.com"
	check := func(version, field string) {
		t.Helper()
		got := sendWith(t, srv, http.MethodGet, "/apis/end.example.com/"+version+"/gadgets", "", "Accept", "application/yaml")
		require.Contains(t, string(got.body), "\nitems:\n- apiVersion: end.example.com/"+version+"\n"+field+"  kind: Gadget\n")
	}
	check("v1", "")
	check("v2", "")
	code, _, body := send(t, srv, "PATCH", crdPath, "application/json-patch+json", []byte(`[{"op":"add",
		"path":"/spec/versions/0/schema/openAPIV3Schema/properties","value":{"color":{"type":"string","default":"red"}}}]`))
	require.Equal(t, http.StatusOK, code, string(body))
	check("v1", "  color: red\n")
	check("v2", "  color: red\n") // defaults are those of the stored version
}
