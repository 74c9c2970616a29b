package fakeapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
