package controller_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fakeapi "example.com/fakeapi/fake"
)

func TestClientDeleteAllOfDeletesSelection(t *testing.T) {
	srv := fakeapi.Start(t)
	c := newClient(t, srv.RESTConfig())
	web := map[string]string{"tier": "web"}
	elsewhere := configMap("far", web)
	elsewhere.Namespace = "other"
	require.NoError(t, srv.Load(configMap("a", web), configMap("b", web), configMap("c", nil), elsewhere))

	require.NoError(t, c.DeleteAllOf(t.Context(), &corev1.ConfigMap{},
		client.InNamespace("default"), client.MatchingLabels(web)))
	var left corev1.ConfigMapList
	require.NoError(t, c.List(t.Context(), &left, client.InNamespace("default")))
	require.Equal(t, []string{"c"}, names(&left))
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(elsewhere), elsewhere))
}

func TestClientDeletePreconditions(t *testing.T) {
	c := newClient(t, fakeapi.Start(t).RESTConfig())
	a := configMap("a", nil)
	require.NoError(t, c.Create(t.Context(), a))

	err := c.Delete(t.Context(), a, client.Preconditions{UID: new(types.UID("another"))})
	require.True(t, apierrors.IsConflict(err), "%v", err)
	err = c.Delete(t.Context(), a, client.Preconditions{ResourceVersion: new("1")})
	require.True(t, apierrors.IsConflict(err), "%v", err)

	require.NoError(t, c.Delete(t.Context(), a, client.Preconditions{UID: &a.UID, ResourceVersion: &a.ResourceVersion}))
	err = c.Delete(t.Context(), a)
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	require.EqualError(t, err, `configmaps "a" not found`)
}

func TestClientDeleteWaitsForFinalizers(t *testing.T) {
	c := newClient(t, fakeapi.Start(t).RESTConfig())
	a := configMap("a", nil)
	a.Finalizers = []string{finalizer}
	require.NoError(t, c.Create(t.Context(), a))
	require.NoError(t, c.Delete(t.Context(), a))

	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(a), a))
	require.False(t, a.DeletionTimestamp.IsZero())
	a.Finalizers = nil
	require.NoError(t, c.Update(t.Context(), a))
	err := c.Get(t.Context(), client.ObjectKeyFromObject(a), a)
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}
