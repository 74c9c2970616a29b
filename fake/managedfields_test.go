package fakeapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// managedFields that a client sends are validated, also if no other metadata changes.
func TestSentManagedFieldsAreValidated(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	made, err := maps.Create(t.Context(), configMap("a", "0"), metav1.CreateOptions{})
	require.NoError(t, err)
	send := func(manager string) error {
		_, err := maps.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"managedFields":[
			{"manager":"`+manager+`","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}}]}}`), metav1.PatchOptions{})
		return err
	}
	err = send(strings.Repeat("x", 129))
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	require.ErrorContains(t, err, "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes")
	same, err := maps.Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, made.ResourceVersion, same.ResourceVersion)
	require.NoError(t, send("manager"))
}

// An apply of metadata that is not valid gets the errors of an update.
func TestApplyInvalidMetadata(t *testing.T) {
	srv := fakeapi.Start(t)
	requireCode(t, srv, 201, "POST", crdsPath, gadgetCRD("v1", `{"strategy":"None"}`))
	requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", "a", 1))
	for metadata, want := range map[string]string{
		`"deletionTimestamp":"2020-01-01T00:00:00Z"`:                    "metadata.deletionTimestamp: Invalid value: \"2020-01-01T00:00:00Z\": field is immutable",
		`"deletionTimestamp":"soon"`:                                    `cannot parse "soon" as "2006"`,
		`"deletionTimestamp":5`:                                         "json: cannot unmarshal number into Go value of type string",
		`"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n"}]`: "metadata.ownerReferences[0].uid: Required value: must not be empty",
	} {
		body := `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"a",` + metadata + `}}`
		refused := requireStatus(t, srv, 422, "PATCH", gadgetsV1+"/a?fieldManager=m&force=true", body)
		require.Contains(t, refused.Message, want)
	}
	require.Empty(t, requireCode(t, srv, 200, "GET", gadgetsV1+"/a", "").GetOwnerReferences())
}

// The duplicate owner references of a patch are removed only after its managedFields are known. In
// another version than that of an entry the library cannot convert them: the entries stay.
func TestPatchWithDuplicateOwners(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(newPod("p", func(p *corev1.Pod) { p.UID = "u1" })))
	const schema = `"served":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}`
	requireCode(t, srv, 201, "POST", crdsPath, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.example.com"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"gadgets","singular":"gadget","kind":"Gadget","listKind":"GadgetList"},
		"versions":[{"name":"v1","storage":true,`+schema+`},{"name":"v2","storage":false,`+schema+`}]}}`)
	const owner = `{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u1"}`
	for name, tt := range map[string]struct {
		path  string
		owned bool
	}{"a": {gadgetsV1, true}, "b": {gadgetsV2, false}} {
		requireCode(t, srv, 201, "POST", gadgetsV1, gadgetJSON("v1", name, 1))
		code, _, body := send(t, srv, "PATCH", tt.path+"/"+name, "application/merge-patch+json",
			[]byte(`{"metadata":{"ownerReferences":[`+owner+`,`+owner+`]}}`))
		require.Equal(t, 200, code, "%s", body)
		patched := requireCode(t, srv, 200, "GET", gadgetsV1+"/"+name, "")
		require.Len(t, patched.GetOwnerReferences(), 1)
		entries := patched.GetManagedFields()
		require.Len(t, entries, 1)
		require.Equal(t, tt.owned, strings.Contains(entries[0].FieldsV1.String(), "f:ownerReferences"), "%s", entries)
	}
}
