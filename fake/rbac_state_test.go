package fakeapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedrbacv1 "k8s.io/client-go/kubernetes/typed/rbac/v1"

	fakeapi "example.com/fakeapi/fake"
)

// bindingTo returns a ClusterRoleBinding of the ClusterRole list-pods to a user, with the name of
// the user.
func bindingTo(user string) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "list-pods"},
	}
}

func clusterRoleBindings(s *fakeapi.Server) typedrbacv1.ClusterRoleBindingInterface {
	return kubernetes.NewForConfigOrDie(s.RESTConfig()).RbacV1().ClusterRoleBindings()
}

// mayListPods reports whether a user may list pods. The answer is 200 or 403.
func mayListPods(t *testing.T, s *fakeapi.Server, user string) bool {
	t.Helper()
	_, err := impersonatingClient(s, user).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) {
		require.NoError(t, err)
	}
	return err == nil
}

// The decisions of a replica follow its view, which can be frozen or behind by changes or by time,
// also if the changes are in the part of the history that has no state of its own.
func TestRBACOnReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC(), fakeapi.WithYAML(listPods))
		replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		create := func(user string) {
			t.Helper()
			_, err := clusterRoleBindings(srv).Create(t.Context(), bindingTo(user), metav1.CreateOptions{})
			require.NoError(t, err)
			require.True(t, mayListPods(t, srv, user))
		}
		require.False(t, mayListPods(t, replica.Server, "u1"))
		replica.Freeze()
		create("u1")
		require.False(t, mayListPods(t, replica.Server, "u1"))
		require.True(t, mayListPods(t, replica.Server, "ann"))
		replica.CatchUp()
		require.True(t, mayListPods(t, replica.Server, "u1"))

		replica.Lag(2)
		for i := 2; i < 80; i++ {
			create(fmt.Sprint("u", i))
			require.False(t, mayListPods(t, replica.Server, fmt.Sprint("u", i)))
			require.False(t, mayListPods(t, replica.Server, fmt.Sprint("u", i-1)))
			require.True(t, i == 2 || mayListPods(t, replica.Server, fmt.Sprint("u", i-2)))
		}

		replica.Delay(time.Minute)
		time.Sleep(2 * time.Minute)
		require.NoError(t, clusterRoleBindings(srv).Delete(t.Context(), "u10", metav1.DeleteOptions{}))
		require.False(t, mayListPods(t, srv, "u10"))
		time.Sleep(59 * time.Second)
		require.True(t, mayListPods(t, replica.Server, "u10"))
		time.Sleep(2 * time.Second)
		require.False(t, mayListPods(t, replica.Server, "u10"))
	})
}

// After a restore to the same revision, at which the store had other bindings, decisions are by the
// restored ones. Forks have rights of their own.
func TestRBACAfterRestoreToTheSameRevision(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC(), fakeapi.WithYAML(listPods))
	before := srv.Snapshot()
	for _, user := range []string{"bob", "eve", "bob"} {
		require.NoError(t, srv.Restore(before, 0))
		other := map[string]string{"bob": "eve", "eve": "bob"}[user]
		require.False(t, mayListPods(t, srv, user))
		_, err := clusterRoleBindings(srv).Create(t.Context(), bindingTo(user), metav1.CreateOptions{})
		require.NoError(t, err)
		require.True(t, mayListPods(t, srv, user))
		require.False(t, mayListPods(t, srv, other))

		fork, err := srv.Fork(fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC())
		require.NoError(t, err)
		t.Cleanup(func() { _ = fork.Close() })
		require.True(t, mayListPods(t, fork, user))
		require.NoError(t, clusterRoleBindings(fork).Delete(t.Context(), user, metav1.DeleteOptions{}))
		require.False(t, mayListPods(t, fork, user))
		require.True(t, mayListPods(t, srv, user))
	}
}

// A request that begins after the response to a write sees it, while others write and read.
func TestRBACIsLinearizable(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC(), fakeapi.WithYAML(listPods))
	ctx, cancel := context.WithCancel(t.Context())
	var others, writers sync.WaitGroup
	for range 2 {
		others.Go(func() {
			for ctx.Err() == nil {
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/pods", nil)
				srv.ServeHTTP(httptest.NewRecorder(), r)
			}
		})
	}
	for _, user := range []string{"u1", "u2", "u3"} {
		writers.Go(func() {
			for range 25 {
				_, err := clusterRoleBindings(srv).Create(ctx, bindingTo(user), metav1.CreateOptions{})
				if err != nil || !mayListPods(t, srv, user) {
					t.Errorf("%s may not list pods after the binding was created (%v)", user, err)
				}
				err = clusterRoleBindings(srv).Delete(ctx, user, metav1.DeleteOptions{})
				if err != nil || mayListPods(t, srv, user) {
					t.Errorf("%s may list pods after the binding was deleted (%v)", user, err)
				}
			}
		})
	}
	writers.Wait()
	cancel()
	others.Wait()
}
