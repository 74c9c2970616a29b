package fakeapi_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// The watch cache is behind the store by the duration, not by the duration for each event.
func TestWatchCacheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("a", "0")), fakeapi.WithWatchCacheDelay(time.Second))
		client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
		time.Sleep(time.Minute)
		watch, err := client.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		require.NoError(t, err)
		defer watch.Stop()
		require.Equal(t, "ADDED", string((<-watch.ResultChan()).Type))

		start := time.Now()
		first := setValue(t, client, "1")
		setValue(t, client, "2")
		require.Equal(t, "0", getValue(t, client, "0"))
		require.Equal(t, "2", getValue(t, client, ""))
		require.Equal(t, "2", getValue(t, client, first), "a read that is not older waits")
		require.Equal(t, time.Second, time.Since(start))
		for range 2 {
			require.Equal(t, "MODIFIED", string((<-watch.ResultChan()).Type))
		}
		require.Equal(t, time.Second, time.Since(start))

		setValue(t, client, "3")
		replica, err := srv.Replica(fakeapi.WithInMemoryNetwork(), fakeapi.WithWatchCacheDelay(2*time.Second))
		require.NoError(t, err)
		late := kubernetes.NewForConfigOrDie(replica.RESTConfig()).CoreV1().ConfigMaps("default")
		time.Sleep(time.Second)
		require.Equal(t, "3", getValue(t, client, "0"))
		require.Equal(t, "2", getValue(t, late, "0"))
		time.Sleep(time.Second)
		require.Equal(t, "3", getValue(t, late, "0"))
	})
	_, err := fakeapi.New(fakeapi.WithWatchCacheDelay(-1))
	require.ErrorContains(t, err, "fakeapi: WithWatchCacheDelay: -1ns is not positive")
}

// A late watch cache is late for clients. The server authorizes by the roles of the store.
func TestRolesAreNotLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC(), fakeapi.WithWatchCacheDelay(time.Hour))
		config := srv.RESTConfig()
		config.Impersonate.UserName = "ann"
		configMaps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
		_, err := configMaps.List(t.Context(), metav1.ListOptions{})
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		_, err = kubernetes.NewForConfigOrDie(srv.RESTConfig()).RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "ann"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "ann"}},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = configMaps.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
	})
}
