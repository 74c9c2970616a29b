package fuzz_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// A CRD is rejected with a Status, and nothing more is served than before. Otherwise it is the same
// in every encoding, its resources are served and described, and deleting it removes them.
func FuzzDefinition(f *testing.F) {
	document, err := yaml.YAMLToJSON([]byte(widgetCRD))
	require.NoError(f, err)
	f.Add(uint8(0), document)
	f.Add(uint8(1), []byte(widgetCRD))
	for _, change := range []string{
		`{"spec":{"scope":"Cluster","preserveUnknownFields":false}}`, `{"spec":{"scope":"Cosmos"}}`, `{"spec":{"group":"shop"}}`, `{"metadata":{"name":"x"}}`, `{"spec":{"names":{"plural":"Widgets"}}}`,
		`{"spec":{"names":{"shortNames":["wd","wd"],"categories":["all"],"listKind":"Widget"}}}`, `{"spec":{"preserveUnknownFields":true}}`, `{"spec":{"conversion":{"strategy":"Webhook"}}}`,
		`{"spec":{"versions":[]}}`, `{"spec":{"versions":[{"name":"v1","served":true,"storage":true}]}}`, `{"spec":{"versions":[{"name":"v1","served":false,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`,
		`{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},"selectableFields":[{"jsonPath":".spec.color"}],"additionalPrinterColumns":[{"name":"a","type":"date","jsonPath":".x[*]"}],"subresources":{"scale":{"specReplicasPath":".spec.n","statusReplicasPath":".status.n"}}},{"name":"v2alpha1","served":true,"storage":false,"deprecated":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`,
		`{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","default":{"a":[1]},"x-kubernetes-validations":[{"rule":"self.a.all(x, x > 0)","messageExpression":"string(self)"}],"properties":{"a":{"type":"array","items":{"type":"integer"},"x-kubernetes-list-type":"set"}}}}}}}]}}`,
		`{"apiVersion":"apiextensions.k8s.io/v1beta1"}`, `{"status":{"storedVersions":["v9"],"conditions":[{"type":"Established","status":"True"}]}}`, `{"metadata":{"annotations":{"api-approved.kubernetes.io":"x"},"finalizers":["customresourcecleanup.apiextensions.k8s.io"]}}`,
	} {
		f.Add(uint8(0), mergeJSONPatch(f, document, change))
	}
	base, err := fakeapi.New(fakeapi.WithInMemoryNetwork(), fakeapi.WithoutTimeline())
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, base.Close()) })
	f.Fuzz(func(t *testing.T, media uint8, body []byte) {
		p := newProbe(t, base)
		before := p.do("GET", "/apis", "", mediaJSON, nil)
		created := p.do("POST", crdsPath, bodies[int(media)%len(bodies)], mediaJSON, body)
		if created.code == http.StatusCreated {
			p.checkCRD(p.checkEncodings(crdsPath, stringsAt(created.object, "metadata")["name"], false))
		}
		after := p.do("GET", "/apis", "", mediaJSON, nil)
		require.Equal(t, before.object, after.object)
	})
}

// mergeJSONPatch returns a document with a merge patch applied.
func mergeJSONPatch(f *testing.F, document []byte, patch string) []byte {
	f.Helper()
	var obj, change map[string]any
	require.NoError(f, json.Unmarshal(document, &obj))
	require.NoError(f, json.Unmarshal([]byte(patch), &change))
	mergeInto(obj, change)
	after, err := json.Marshal(obj)
	require.NoError(f, err)
	return after
}

func mergeInto(into, change map[string]any) {
	for name, value := range change {
		inner, is := value.(map[string]any)
		if old, was := into[name].(map[string]any); is && was {
			mergeInto(old, inner)
			continue
		}
		into[name] = value
	}
}

// checkCRD checks that the resources of a stored CRD are served, and not after it is deleted.
func (p probe) checkCRD(stored probeResponse) {
	p.t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	require.NoError(p.t, json.Unmarshal(stored.body, &crd))
	established := false
	for _, c := range crd.Status.Conditions {
		established = established || c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	}
	require.True(p.t, established, "%s", stored.body)
	served := map[string]bool{}
	for _, version := range crd.Spec.Versions {
		root := "/apis/" + crd.Spec.Group + "/" + version.Name
		if !version.Served {
			require.Equal(p.t, http.StatusNotFound, p.do("GET", root+"/"+crd.Spec.Names.Plural, "", mediaJSON, nil).code)
			continue
		}
		served[root] = true
		require.Contains(p.t, string(p.do("GET", root, "", mediaJSON, nil).body), `"name":"`+crd.Spec.Names.Plural+`"`)
		list := p.do("GET", root+"/"+crd.Spec.Names.Plural, "", mediaJSON, nil)
		require.Equal(p.t, crd.Status.AcceptedNames.ListKind, list.object["kind"], "%s", list.body)
		require.Equal(p.t, http.StatusOK, p.do("GET", root+"/"+crd.Spec.Names.Plural, "", asTable, nil).code)
		require.Equal(p.t, http.StatusOK, p.do("GET", "/openapi/v3"+root, "", mediaJSON, nil).code)
	}
	held := p.do("PATCH", crdsPath+"/"+crd.Name, mergeJSON, mediaJSON, []byte(`{"metadata":{"finalizers":null}}`))
	require.Equal(p.t, http.StatusOK, held.code, "%s", held.body)
	ended := p.do("DELETE", crdsPath+"/"+crd.Name, "", mediaJSON, nil)
	require.Equal(p.t, http.StatusOK, ended.code, "%s", ended.body)
	require.Equal(p.t, http.StatusNotFound, p.do("GET", crdsPath+"/"+crd.Name, "", mediaJSON, nil).code)
	for root := range served {
		require.Equal(p.t, http.StatusNotFound, p.do("GET", root+"/"+crd.Spec.Names.Plural, "", mediaJSON, nil).code)
	}
}
