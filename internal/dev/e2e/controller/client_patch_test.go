package controller_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fakeapi "example.com/fakeapi/fake"
)

// created starts a server, creates a Deployment "shop" and returns a client and the Deployment.
func created(t *testing.T) (client.Client, *appsv1.Deployment) {
	t.Helper()
	c := newClient(t, fakeapi.Start(t).RESTConfig())
	d := deployment("shop", "shop:1")
	require.NoError(t, c.Create(t.Context(), d))
	return c, d
}

func TestClientMergePatchSetsAndRemoves(t *testing.T) {
	c, d := created(t)
	patch := `{"metadata":{"labels":{"tier":"web","` + site + `":null}},"spec":{"replicas":3}}`
	require.NoError(t, c.Patch(t.Context(), d, client.RawPatch(types.MergePatchType, []byte(patch))))
	require.Equal(t, map[string]string{"tier": "web"}, d.Labels)
	require.EqualValues(t, 3, *d.Spec.Replicas)
	require.EqualValues(t, 2, d.Generation)
}

// A strategic merge patch merges a list of containers by name. A merge patch would replace the
// list.
func TestClientStrategicMergePatchMergesLists(t *testing.T) {
	c, d := created(t)
	before := d.DeepCopy()
	d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: "sidecar", Image: "s:1"})
	require.NoError(t, c.Patch(t.Context(), d, client.StrategicMergeFrom(before)))
	require.Equal(t, map[string]string{"main": "shop:1", "sidecar": "s:1"}, images(d))

	patch := `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"shop:2"}]}}}}`
	require.NoError(t, c.Patch(t.Context(), d, client.RawPatch(types.StrategicMergePatchType, []byte(patch))))
	require.Equal(t, map[string]string{"main": "shop:2", "sidecar": "s:1"}, images(d))

	require.NoError(t, c.Patch(t.Context(), d, client.RawPatch(types.MergePatchType, []byte(patch))))
	require.Equal(t, map[string]string{"main": "shop:2"}, images(d))
}

func images(d *appsv1.Deployment) map[string]string {
	found := make(map[string]string)
	for _, c := range d.Spec.Template.Spec.Containers {
		found[c.Name] = c.Image
	}
	return found
}

func TestClientJSONPatchTestsBeforeItWrites(t *testing.T) {
	c, d := created(t)
	patch := `[{"op":"test","path":"/spec/replicas","value":1},{"op":"replace","path":"/spec/replicas","value":2}]`
	require.NoError(t, c.Patch(t.Context(), d, client.RawPatch(types.JSONPatchType, []byte(patch))))
	require.EqualValues(t, 2, *d.Spec.Replicas)

	err := c.Patch(t.Context(), d, client.RawPatch(types.JSONPatchType, []byte(patch)))
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(d), d))
	require.EqualValues(t, 2, *d.Spec.Replicas)
	require.EqualValues(t, 2, d.Generation)
}

func TestClientMergeFromWithOptimisticLockConflicts(t *testing.T) {
	c, d := created(t)
	mine, yours := d.DeepCopy(), d.DeepCopy()
	yours.Spec.Replicas = new(int32(2))
	require.NoError(t, c.Update(t.Context(), yours))

	mine.Labels["tier"] = "web"
	locked := client.MergeFromWithOptions(d, client.MergeFromWithOptimisticLock{})
	err := c.Patch(t.Context(), mine.DeepCopy(), locked)
	require.True(t, apierrors.IsConflict(err), "%v", err)

	require.NoError(t, c.Patch(t.Context(), mine, client.MergeFrom(d)), "a patch without optimistic lock succeeds")
	require.Equal(t, "web", mine.Labels["tier"])
	require.EqualValues(t, 2, *mine.Spec.Replicas)
}

func TestClientStatusPatchChangesStatusOnly(t *testing.T) {
	c, d := created(t)
	before := d.DeepCopy()
	d.Spec.Replicas, d.Status.Replicas, d.Status.ReadyReplicas = new(int32(8)), 1, 1
	require.NoError(t, c.Status().Patch(t.Context(), d, client.MergeFrom(before)))
	require.EqualValues(t, 1, *d.Spec.Replicas)
	require.EqualValues(t, 1, d.Status.ReadyReplicas)
}

func TestClientPatchOfMissingObjectIsNotFound(t *testing.T) {
	c, _ := created(t)
	err := c.Patch(t.Context(), deployment("absent", "x"), client.RawPatch(types.MergePatchType, []byte(`{}`)))
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}
