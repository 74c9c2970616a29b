package fakeapi_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// bindClusterRole binds a ClusterRole to a user in a namespace, or everywhere for "".
func bindClusterRole(t *testing.T, client kubernetes.Interface, namespace, user, clusterRole string) {
	t.Helper()
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole}
	meta := metav1.ObjectMeta{Name: user}
	var err error
	if namespace == "" {
		_, err = client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: ref}, metav1.CreateOptions{})
	} else {
		_, err = client.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: ref}, metav1.CreateOptions{})
	}
	require.NoError(t, err)
}

func TestUserRoles(t *testing.T) {
	srv, client := startBootstrapped(t)
	for _, role := range []string{"view", "edit", "admin"} {
		bindClusterRole(t, client, "default", role+"er", role)
	}
	bindClusterRole(t, client, "", "root", "cluster-admin")
	actions := []struct {
		name string
		do   func(context.Context, *kubernetes.Clientset) error
		// allowed are the users that may do it.
		allowed []string
	}{
		{"list pods", func(ctx context.Context, c *kubernetes.Clientset) error {
			_, err := c.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
			return err
		}, []string{"viewer", "editer", "adminer", "root"}},
		{"list secrets", func(ctx context.Context, c *kubernetes.Clientset) error {
			_, err := c.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{})
			return err
		}, []string{"editer", "adminer", "root"}},
		{"delete config maps", func(ctx context.Context, c *kubernetes.Clientset) error {
			return c.CoreV1().ConfigMaps("default").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		}, []string{"editer", "adminer", "root"}},
		{"list role bindings", func(ctx context.Context, c *kubernetes.Clientset) error {
			_, err := c.RbacV1().RoleBindings("default").List(ctx, metav1.ListOptions{})
			return err
		}, []string{"adminer", "root"}},
		{"list pods elsewhere", func(ctx context.Context, c *kubernetes.Clientset) error {
			_, err := c.CoreV1().Pods("kube-system").List(ctx, metav1.ListOptions{})
			return err
		}, []string{"root"}},
		{"list nodes", func(ctx context.Context, c *kubernetes.Clientset) error {
			_, err := c.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
			return err
		}, []string{"root"}},
	}
	for _, user := range []string{"viewer", "editer", "adminer", "root", "ann"} {
		c := impersonatingClient(srv, user)
		_, err := c.Discovery().ServerVersion()
		require.NoError(t, err, "everyone may discover")
		for _, a := range actions {
			err := a.do(t.Context(), c)
			if slices.Contains(a.allowed, user) {
				require.NoError(t, err, "%s: %s", user, a.name)
			} else {
				require.True(t, apierrors.IsForbidden(err), "%s: %s: %v", user, a.name, err)
			}
		}
	}
}
