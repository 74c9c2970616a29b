package controller_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	fakeapi "example.com/fakeapi/fake"
)

func configMap(name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels},
		Data:       map[string]string{"colour": "blue"},
	}
}

func TestClientCreateReturnsServerFields(t *testing.T) {
	c := newClient(t, fakeapi.Start(t).RESTConfig())
	made := configMap("a", nil)
	require.NoError(t, c.Create(t.Context(), made))
	require.NotEmpty(t, made.UID)
	require.NotEmpty(t, made.ResourceVersion)
	require.False(t, made.CreationTimestamp.IsZero())

	var found corev1.ConfigMap
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(made), &found))
	require.Equal(t, *made, found)

	err := c.Create(t.Context(), configMap("a", nil))
	require.True(t, apierrors.IsAlreadyExists(err), "%v", err)
	require.EqualError(t, err, `configmaps "a" already exists`)
}

func TestClientCreateDryRunStoresNothing(t *testing.T) {
	c := newClient(t, fakeapi.Start(t).RESTConfig())
	made := configMap("a", nil)
	require.NoError(t, c.Create(t.Context(), made, client.DryRunAll))
	require.NotEmpty(t, made.UID)
	err := c.Get(t.Context(), client.ObjectKeyFromObject(made), made)
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}

func TestClientUpdateOfAnOldVersionConflicts(t *testing.T) {
	c := newClient(t, fakeapi.Start(t).RESTConfig())
	mine := configMap("a", nil)
	require.NoError(t, c.Create(t.Context(), mine))
	yours := mine.DeepCopy()

	yours.Data["colour"] = "red"
	require.NoError(t, c.Update(t.Context(), yours))
	require.NotEqual(t, mine.ResourceVersion, yours.ResourceVersion)

	mine.Data["colour"] = "green"
	err := c.Update(t.Context(), mine)
	require.True(t, apierrors.IsConflict(err), "%v", err)
	require.EqualError(t, err, `Operation cannot be fulfilled on configmaps "a": the object has been modified; `+
		`please apply your changes to the latest version and try again`)
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(mine), mine))
	require.Equal(t, "red", mine.Data["colour"])
}

func TestClientUpdateWithoutAChangeIsNoNewVersion(t *testing.T) {
	c := newClient(t, fakeapi.Start(t).RESTConfig())
	made := configMap("a", nil)
	require.NoError(t, c.Create(t.Context(), made))
	before := made.ResourceVersion
	require.NoError(t, c.Update(t.Context(), made))
	require.Equal(t, before, made.ResourceVersion)

	result, err := controllerutil.CreateOrUpdate(t.Context(), c, made, func() error { return nil })
	require.NoError(t, err)
	require.Equal(t, controllerutil.OperationResultNone, result)
}

// An update of the spec does not change the status, and an update of the status does not change the
// spec.
func TestClientStatusIsASubresource(t *testing.T) {
	c := newClient(t, fakeapi.Start(t).RESTConfig())
	d := deployment("shop", "shop:1")
	d.Status.Replicas = 3
	require.NoError(t, c.Create(t.Context(), d))
	require.Zero(t, d.Status.Replicas, "a new object has no status")

	d.Spec.Replicas, d.Status.Replicas = new(int32(9)), 4
	require.NoError(t, c.Status().Update(t.Context(), d))
	require.EqualValues(t, 4, d.Status.Replicas)
	require.EqualValues(t, 1, *d.Spec.Replicas)
	require.EqualValues(t, 1, d.Generation)

	d.Spec.Replicas, d.Status.Replicas = new(int32(9)), 5
	require.NoError(t, c.Update(t.Context(), d))
	require.EqualValues(t, 4, d.Status.Replicas)
	require.EqualValues(t, 9, *d.Spec.Replicas)
	require.EqualValues(t, 2, d.Generation)
}

func TestClientReadsUnstructuredAndMetadataOnly(t *testing.T) {
	c := newClient(t, fakeapi.Start(t).RESTConfig())
	made := configMap("a", map[string]string{"tier": "web"})
	require.NoError(t, c.Create(t.Context(), made))

	untyped := &unstructured.Unstructured{}
	untyped.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(made), untyped))
	colour, _, err := unstructured.NestedString(untyped.Object, "data", "colour")
	require.NoError(t, err)
	require.Equal(t, "blue", colour)

	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(made), partial))
	require.Equal(t, made.UID, partial.UID)
	require.Equal(t, map[string]string{"tier": "web"}, partial.Labels)
}

// An unknown field is dropped with a warning, or the request is rejected.
func TestClientFieldValidation(t *testing.T) {
	srv := fakeapi.Start(t)
	untyped := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"namespace": "default", "name": "a"},
		"dta":      map[string]any{"colour": "blue"},
	}}
	strict := client.WithFieldValidation(newClient(t, srv.RESTConfig()), metav1.FieldValidationStrict)
	err := strict.Create(t.Context(), untyped.DeepCopy())
	require.True(t, apierrors.IsBadRequest(err), "%v", err)
	require.ErrorContains(t, err, `strict decoding error: unknown field "dta"`)

	warnings := &warningCollector{}
	cfg := srv.RESTConfig()
	cfg.WarningHandlerWithContext = warnings
	lenient, err := client.New(cfg, client.Options{Scheme: scheme.Scheme})
	require.NoError(t, err)
	require.NoError(t, lenient.Create(t.Context(), untyped))
	require.Equal(t, []string{`unknown field "dta"`}, warnings.texts)
}
