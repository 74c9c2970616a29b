package controller_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/verify/harness"
)

// outage is how long the manager is disconnected. It is longer than the server keeps its watch
// history.
const outage = 10 * time.Minute

// TestManagerConvergesAfterAnOutageInABubble disconnects the manager for ten minutes, in which
// objects change. It measures with the real clock that virtual time makes this fast.
func TestManagerConvergesAfterAnOutageInABubble(t *testing.T) {
	wall := time.Now()
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		c := newClient(t, srv.RESTConfig())
		require.NoError(t, c.Create(t.Context(), secret()))
		for i := range 10 {
			require.NoError(t, c.Create(t.Context(), deployment(fmt.Sprintf("d%d", i), "app:1")))
		}
		cfg := srv.RESTConfig()
		network := harness.NewNetwork(cfg)
		mgr, stop := startManager(t, cfg)
		waitReconciled(t, c)

		network.Disconnect()
		start := time.Now()
		changeObjects(t, c)
		time.Sleep(outage)
		synctest.Wait()
		require.GreaterOrEqual(t, network.RefusedDials(), 10, "too few attempts to reconnect")
		require.Error(t, checkReconciled(t.Context(), c), "the manager reconciled while disconnected")
		srv.ForgetHistory() // so that old resourceVersions are too old to watch from

		network.Restore()
		waitReconciled(t, c)
		gone := &appsv1.Deployment{}
		require.True(t, apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "d0"}, gone)))
		require.Less(t, time.Since(start), outage+2*time.Minute)

		synctest.Wait()
		require.Equal(t, deploymentsOf(t, c), deploymentsOf(t, mgr.GetClient()), "the cache differs from the server")
		stop()
	})
	require.Less(t, time.Since(wall), outage)
}

// changeObjects deletes, updates and creates objects while the manager is disconnected.
func changeObjects(t *testing.T, c client.Client) {
	t.Helper()
	require.NoError(t, c.Delete(t.Context(), deployment("d0", "")))
	require.NoError(t, c.Create(t.Context(), deployment("d99", "app:1")))
	changed := deployment("d1", "")
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(changed), changed))
	changed.Spec.Replicas = new(int32(7))
	require.NoError(t, c.Update(t.Context(), changed))
	require.NoError(t, c.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: deployment("d2", "").ObjectMeta}))
}

// deploymentsOf returns the resourceVersion of each Deployment that the client lists, by name.
func deploymentsOf(t *testing.T, c client.Client) map[string]string {
	t.Helper()
	var list appsv1.DeploymentList
	require.NoError(t, c.List(t.Context(), &list))
	versions := make(map[string]string)
	for _, d := range list.Items {
		versions[d.Name] = d.ResourceVersion
	}
	return versions
}

// On a day without changes the manager receives bookmarks and restarts its watches. It writes
// nothing and still reconciles afterwards.
func TestManagerIdlesForADayInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		c := newClient(t, srv.RESTConfig())
		require.NoError(t, srv.Load(secret(), deployment("shop", "shop:1")))
		_, stop := startManager(t, srv.RESTConfig())
		waitReconciled(t, c)
		idle := srv.ResourceVersion()

		time.Sleep(24 * time.Hour)
		require.Equal(t, idle, srv.ResourceVersion(), "the store changed while idle")

		require.NoError(t, c.Create(t.Context(), deployment("late", "late:1")))
		waitReconciled(t, c)
		stop()
	})
}
