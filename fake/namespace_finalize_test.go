package fakeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

// Finalize writes spec.finalizers, which an update of the namespace does not. A namespace that is
// being deleted is removed with the last of them (NS-07).
func TestFinalize(t *testing.T) {
	_, client := startClient(t, fakeapi.WithoutControllers())
	ctx := t.Context()
	namespaces := client.CoreV1().Namespaces()
	ns, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"l": "v"}}}, metav1.CreateOptions{})
	require.NoError(t, err)

	sent := ns.DeepCopy()
	sent.Spec.Finalizers = append(sent.Spec.Finalizers, "example.com/mine")
	same, err := namespaces.Update(ctx, sent, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, ns.Spec, same.Spec)
	sent.ResourceVersion, sent.Status.Phase = same.ResourceVersion, corev1.NamespaceTerminating
	ns, err = namespaces.Finalize(ctx, sent, metav1.UpdateOptions{FieldManager: "finalizer"})
	require.NoError(t, err)
	require.Equal(t, []corev1.FinalizerName{"kubernetes", "example.com/mine"}, ns.Spec.Finalizers)
	require.Equal(t, corev1.NamespaceActive, ns.Status.Phase)
	require.Equal(t, "finalize", managedFieldsOf(t, ns, "finalizer").Subresource)

	ns.Spec.Finalizers = nil
	ns, err = namespaces.Finalize(ctx, ns, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Empty(t, ns.Spec.Finalizers, "a namespace that is not being deleted stays")
	ns.Spec.Finalizers = []corev1.FinalizerName{"kubernetes"}
	_, err = namespaces.Finalize(ctx, ns, metav1.UpdateOptions{})
	require.NoError(t, err)

	require.NoError(t, namespaces.Delete(ctx, "n", metav1.DeleteOptions{}))
	ns, err = namespaces.Get(ctx, "n", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.NamespaceTerminating, ns.Status.Phase)
	ns.Finalizers, ns.Spec.Finalizers = []string{"example.com/more"}, nil
	_, err = namespaces.Finalize(ctx, ns, metav1.UpdateOptions{})
	require.ErrorContains(t, err, "no new finalizers can be added if the object is being deleted")
	ns.Finalizers = nil
	_, err = namespaces.Finalize(ctx, ns, metav1.UpdateOptions{DryRun: []string{"All"}})
	require.NoError(t, err)
	_, err = namespaces.Finalize(ctx, ns, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = namespaces.Get(ctx, "n", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
}

// A namespace with metadata.finalizers stays after the last of spec.finalizers was removed.
func TestFinalizeWithFinalizer(t *testing.T) {
	_, client := startClient(t, fakeapi.WithoutControllers())
	ctx := t.Context()
	namespaces := client.CoreV1().Namespaces()
	_, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n", Finalizers: []string{"example.com/hold"}}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, namespaces.Delete(ctx, "n", metav1.DeleteOptions{}))
	ns, err := namespaces.Get(ctx, "n", metav1.GetOptions{})
	require.NoError(t, err)
	ns.Spec.Finalizers = nil
	ns, err = namespaces.Finalize(ctx, ns, metav1.UpdateOptions{})
	require.NoError(t, err)
	ns.Finalizers = nil
	_, err = namespaces.Update(ctx, ns, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = namespaces.Get(ctx, "n", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
}

func TestFinalizeErrors(t *testing.T) {
	srv, client := startClient(t)
	namespaces := client.CoreV1().Namespaces()
	ns, err := namespaces.Get(t.Context(), "default", metav1.GetOptions{})
	require.NoError(t, err)
	for name, want := range map[corev1.FinalizerName]string{
		"mine": `spec.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`,
		"a b":  `spec.finalizers[0]: Invalid value: "a b": name part must consist of alphanumeric characters`,
	} {
		ns.Spec.Finalizers = []corev1.FinalizerName{name}
		_, err := namespaces.Finalize(t.Context(), ns, metav1.UpdateOptions{})
		require.True(t, apierrors.IsInvalid(err))
		require.ErrorContains(t, err, want)
	}
	for _, method := range []string{"GET", "PATCH", "POST", "DELETE"} {
		code, _ := sendForStatus(t, srv, method, "/api/v1/namespaces/default/finalize", "application/json", "{}")
		require.Equal(t, 405, code, method)
	}
}
