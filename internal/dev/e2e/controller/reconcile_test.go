package controller_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/e2e/internal/poll"
)

func TestManagerFollowsCreateUpdateAndDelete(t *testing.T) {
	srv := fakeapi.Start(t)
	c := newClient(t, srv.RESTConfig())
	require.NoError(t, c.Create(t.Context(), secret()))
	_, stop := startManager(t, srv.RESTConfig())

	shop := deployment("shop", "shop:1")
	require.NoError(t, c.Create(t.Context(), shop))
	waitReconciled(t, c)
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(shop), shop))
	require.Equal(t, []string{finalizer}, shop.Finalizers)
	require.EqualValues(t, 1, shop.Generation, "finalizers and status do not change the generation")

	shop.Spec.Template.Spec.Containers[0].Image = "shop:2"
	require.NoError(t, c.Update(t.Context(), shop))
	require.EqualValues(t, 2, shop.Generation)
	waitReconciled(t, c)

	require.NoError(t, c.Delete(t.Context(), shop))
	poll.Until(t, "the Deployment to be deleted", func() bool {
		return apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(shop), shop))
	})
	waitReconciled(t, c)
	stop()
}

func TestManagerRestoresOwnedObjects(t *testing.T) {
	srv := fakeapi.Start(t)
	c := newClient(t, srv.RESTConfig())
	require.NoError(t, srv.Load(secret(), deployment("shop", "shop:1")))
	_, stop := startManager(t, srv.RESTConfig())
	waitReconciled(t, c)

	owned := &corev1.ConfigMap{}
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "shop"}, owned))
	require.NoError(t, c.Delete(t.Context(), owned))
	waitReconciled(t, c)

	again := &corev1.ConfigMap{}
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(owned), again))
	require.NotEqual(t, owned.UID, again.UID)
	again.Data["image"] = "somebody else's"
	require.NoError(t, c.Update(t.Context(), again))
	waitReconciled(t, c)
	stop()
}

// The controller does not watch the Secret. It finds the Secret only when the reconcile is retried
// after an error.
func TestManagerRetriesAfterError(t *testing.T) {
	srv := fakeapi.Start(t)
	c := newClient(t, srv.RESTConfig())
	_, stop := startManager(t, srv.RESTConfig())
	shop := deployment("shop", "shop:1")
	require.NoError(t, c.Create(t.Context(), shop))
	poll.Until(t, "the first reconcile", func() bool {
		require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(shop), shop))
		return len(shop.Finalizers) == 1
	})
	require.Error(t, checkReconciled(t.Context(), c))

	require.NoError(t, c.Create(t.Context(), secret()))
	waitReconciled(t, c)
	stop()
}

func TestManagerCacheSelection(t *testing.T) {
	srv := fakeapi.Start(t)
	c := newClient(t, srv.RESTConfig())
	outside := deployment("outside", "x:1")
	outside.Labels = nil
	require.NoError(t, srv.Load(secret(), outside, deployment("shop", "shop:1")))
	mgr, stop := startManager(t, srv.RESTConfig())
	waitReconciled(t, c)

	require.Equal(t, []string{"shop"}, cached(t, mgr.GetClient()))
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(outside), outside))
	require.Empty(t, outside.Finalizers)

	// An object that starts to match the selector is added to the cache, one that no longer matches
	// is removed.
	outside.Labels = map[string]string{site: "south"}
	require.NoError(t, c.Update(t.Context(), outside))
	waitReconciled(t, c)
	require.Equal(t, []string{"outside", "shop"}, cached(t, mgr.GetClient()))

	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(outside), outside))
	delete(outside.Labels, site)
	require.NoError(t, c.Update(t.Context(), outside))
	poll.Until(t, "the cache to remove the object", func() bool { return len(cached(t, mgr.GetClient())) == 1 })
	stop()
}

// cached lists the names of the Deployments in a manager's cache, sorted.
func cached(t *testing.T, c client.Client) []string {
	t.Helper()
	var list appsv1.DeploymentList
	require.NoError(t, c.List(t.Context(), &list))
	return names(&list)
}
