package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// Whatever a definition says, it is refused with a Status and nothing is served that was not before;
// or it reads the same in every encoding, what it defines is served and described, and with it all of
// that goes.
func FuzzDefinition(f *testing.F) {
	whole, err := yaml.YAMLToJSON([]byte(widgetCRD))
	require.NoError(f, err)
	f.Add(uint8(0), whole)
	f.Add(uint8(1), []byte(widgetCRD))
	for _, change := range []string{
		`{"spec":{"scope":"Cluster","preserveUnknownFields":false}}`, `{"spec":{"scope":"Cosmos"}}`, `{"spec":{"group":"shop"}}`, `{"metadata":{"name":"x"}}`, `{"spec":{"names":{"plural":"Widgets"}}}`,
		`{"spec":{"names":{"shortNames":["wd","wd"],"categories":["all"],"listKind":"Widget"}}}`, `{"spec":{"preserveUnknownFields":true}}`, `{"spec":{"conversion":{"strategy":"Webhook"}}}`,
		`{"spec":{"versions":[]}}`, `{"spec":{"versions":[{"name":"v1","served":true,"storage":true}]}}`, `{"spec":{"versions":[{"name":"v1","served":false,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`,
		`{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},"selectableFields":[{"jsonPath":".spec.color"}],"additionalPrinterColumns":[{"name":"a","type":"date","jsonPath":".x[*]"}],"subresources":{"scale":{"specReplicasPath":".spec.n","statusReplicasPath":".status.n"}}},{"name":"v2alpha1","served":true,"storage":false,"deprecated":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`,
		`{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","default":{"a":[1]},"x-kubernetes-validations":[{"rule":"self.a.all(x, x > 0)","messageExpression":"string(self)"}],"properties":{"a":{"type":"array","items":{"type":"integer"},"x-kubernetes-list-type":"set"}}}}}}}]}}`,
		`{"apiVersion":"apiextensions.k8s.io/v1beta1"}`, `{"status":{"storedVersions":["v9"],"conditions":[{"type":"Established","status":"True"}]}}`, `{"metadata":{"annotations":{"api-approved.kubernetes.io":"x"},"finalizers":["customresourcecleanup.apiextensions.k8s.io"]}}`,
	} {
		f.Add(uint8(0), changed(f, whole, change))
	}
	base, err := fakeapi.New(fakeapi.WithInMemoryNetwork(), fakeapi.WithoutTimeline())
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, base.Close()) })
	f.Fuzz(func(t *testing.T, media uint8, body []byte) {
		p := forkOf(t, base)
		before := p.ask("GET", "/apis", "", inJSON, nil)
		created := p.ask("POST", crdsPath, bodies[int(media)%len(bodies)], inJSON, body)
		if created.code == http.StatusCreated {
			p.defines(p.readInEveryWay(crdsPath, texts(created.object, "metadata")["name"], false))
		}
		after := p.ask("GET", "/apis", "", inJSON, nil)
		require.Equal(t, before.object, after.object)
	})
}

// changed is a document after a merge patch.
func changed(f *testing.F, document []byte, patch string) []byte {
	f.Helper()
	var whole, change map[string]any
	require.NoError(f, json.Unmarshal(document, &whole))
	require.NoError(f, json.Unmarshal([]byte(patch), &change))
	merge(whole, change)
	after, err := json.Marshal(whole)
	require.NoError(f, err)
	return after
}

func merge(into, change map[string]any) {
	for name, value := range change {
		inner, is := value.(map[string]any)
		if old, was := into[name].(map[string]any); is && was {
			merge(old, inner)
			continue
		}
		into[name] = value
	}
}

// defines checks what a definition that is stored serves, and that this ends with it.
func (p probe) defines(stored said) {
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
			require.Equal(p.t, http.StatusNotFound, p.ask("GET", root+"/"+crd.Spec.Names.Plural, "", inJSON, nil).code)
			continue
		}
		served[root] = true
		require.Contains(p.t, string(p.ask("GET", root, "", inJSON, nil).body), `"name":"`+crd.Spec.Names.Plural+`"`)
		list := p.ask("GET", root+"/"+crd.Spec.Names.Plural, "", inJSON, nil)
		require.Equal(p.t, crd.Status.AcceptedNames.ListKind, list.object["kind"], "%s", list.body)
		require.Equal(p.t, http.StatusOK, p.ask("GET", root+"/"+crd.Spec.Names.Plural, "", asTable, nil).code)
		require.Equal(p.t, http.StatusOK, p.ask("GET", "/openapi/v3"+root, "", inJSON, nil).code)
	}
	held := p.ask("PATCH", crdsPath+"/"+crd.Name, mergeJSON, inJSON, []byte(`{"metadata":{"finalizers":null}}`))
	require.Equal(p.t, http.StatusOK, held.code, "%s", held.body)
	ended := p.ask("DELETE", crdsPath+"/"+crd.Name, "", inJSON, nil)
	require.Equal(p.t, http.StatusOK, ended.code, "%s", ended.body)
	require.Equal(p.t, http.StatusNotFound, p.ask("GET", crdsPath+"/"+crd.Name, "", inJSON, nil).code)
	for root := range served {
		require.Equal(p.t, http.StatusNotFound, p.ask("GET", root+"/"+crd.Spec.Names.Plural, "", inJSON, nil).code)
	}
}
