package fakeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	fakeapi "example.com/fakeapi/fake"
)

// newGadgetCRD returns a CRD with two versions, of which v1 is stored.
func newGadgetCRD() *apiextensionsv1.CustomResourceDefinition {
	open := true
	anything := &apiextensionsv1.CustomResourceValidation{
		OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open},
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "gadgets.end.example.com"
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "end.example.com",
		Scope: apiextensionsv1.ClusterScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Kind: "Gadget"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
			{Name: "v1", Served: true, Storage: true, Schema: anything},
			{Name: "v2", Served: true, Schema: anything},
		},
	}
	return crd
}

// newGadget returns an object of the CRD.
func newGadget(name string) *unstructured.Unstructured {
	gadget := &unstructured.Unstructured{}
	gadget.SetAPIVersion("end.example.com/v1")
	gadget.SetKind("Gadget")
	gadget.SetName(name)
	return gadget
}

var gadgetsResource = schema.GroupVersionResource{Group: "end.example.com", Version: "v1", Resource: "gadgets"}

// A CRD is deleted after the last of its objects. Until then, discovery has no verbs that write.
func TestDeleteCRDWithFinalizedObject(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(newGadgetCRD()))
	client := dynamic.NewForConfigOrDie(srv.RESTConfig())
	held := newGadget("held")
	held.SetFinalizers([]string{"example.com/hold"})
	_, err := client.Resource(gadgetsResource).Create(t.Context(), held, metav1.CreateOptions{})
	require.NoError(t, err)

	require.NoError(t, client.Resource(crdsResource).Delete(t.Context(), "gadgets.end.example.com", metav1.DeleteOptions{}))
	list, err := discovery.NewDiscoveryClientForConfigOrDie(srv.RESTConfig()).ServerResourcesForGroupVersion("end.example.com/v1")
	require.NoError(t, err)
	require.Equal(t, metav1.Verbs{"delete", "deletecollection", "get", "list", "watch"}, list.APIResources[0].Verbs)

	_, err = client.Resource(gadgetsResource).Patch(t.Context(), "held", "application/merge-patch+json",
		[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	_, err = client.Resource(crdsResource).Get(t.Context(), "gadgets.end.example.com", metav1.GetOptions{})
	require.ErrorContains(t, err, "not found", "the CRD is deleted after its last object")
}

// A deletecollection removes CRDs at once, without their objects, which are there when the CRD is
// created again. A v1.37.2 server does so, too.
func TestDeleteCollectionOfCRDs(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(newGadgetCRD()))
	client := dynamic.NewForConfigOrDie(srv.RESTConfig())
	obj := newGadget("kept")
	created, err := client.Resource(gadgetsResource).Create(t.Context(), obj, metav1.CreateOptions{})
	require.NoError(t, err)

	require.NoError(t, client.Resource(crdsResource).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	_, err = client.Resource(crdsResource).Get(t.Context(), "gadgets.end.example.com", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), err)
	_, err = client.Resource(gadgetsResource).Get(t.Context(), "kept", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), err)

	require.NoError(t, srv.Load(newGadgetCRD()))
	kept, err := client.Resource(gadgetsResource).Get(t.Context(), "kept", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, created.GetUID(), kept.GetUID())
}

// Objects in a version that the CRD does not have any more cannot be read. They do not delay the
// deletion of the CRD.
func TestDeleteCRDWithUnreadableObjects(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(newGadgetCRD()))
	client := dynamic.NewForConfigOrDie(srv.RESTConfig())
	obj := newGadget("old")
	_, err := client.Resource(gadgetsResource).Create(t.Context(), obj, metav1.CreateOptions{})
	require.NoError(t, err)
	change := func(patch string, subresources ...string) {
		_, err := client.Resource(crdsResource).Patch(t.Context(), "gadgets.end.example.com", "application/json-patch+json",
			[]byte(patch), metav1.PatchOptions{}, subresources...)
		require.NoError(t, err)
	}
	change(`[{"op":"replace","path":"/spec/versions/0/storage","value":false},{"op":"replace","path":"/spec/versions/1/storage","value":true}]`)
	change(`[{"op":"replace","path":"/status/storedVersions","value":["v2"]}]`, "status")
	change(`[{"op":"remove","path":"/spec/versions/0"}]`)

	v2Resource := gadgetsResource
	v2Resource.Version = "v2"
	const unknown = "request to convert CR from an invalid group/version: end.example.com/v1"
	_, err = client.Resource(v2Resource).Get(t.Context(), "old", metav1.GetOptions{})
	require.ErrorContains(t, err, "Internal error occurred: StorageError: corrupt object")
	require.ErrorContains(t, err, unknown)
	_, err = client.Resource(v2Resource).List(t.Context(), metav1.ListOptions{})
	require.Equal(t, metav1.StatusReasonStoreReadError, apierrors.ReasonForError(err))
	require.ErrorContains(t, err, unknown)
	_, err = client.Resource(v2Resource).Patch(t.Context(), "old", "application/merge-patch+json", []byte(`{"spec":{}}`), metav1.PatchOptions{})
	require.ErrorContains(t, err, "object not decodable revision=")
	require.ErrorContains(t, err, unknown)
	require.NoError(t, client.Resource(crdsResource).Delete(t.Context(), "gadgets.end.example.com", metav1.DeleteOptions{}))
	_, err = client.Resource(crdsResource).Get(t.Context(), "gadgets.end.example.com", metav1.GetOptions{})
	require.ErrorContains(t, err, "not found")
}
