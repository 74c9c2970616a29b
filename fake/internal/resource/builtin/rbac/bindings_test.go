package rbac

import (
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
)

func TestBindingDefaults(t *testing.T) {
	subjects := func() []rbacv1.Subject {
		return []rbacv1.Subject{{Kind: "User"}, {Kind: "Group"}, {Kind: "ServiceAccount"}, {Kind: "Robot"}, {Kind: "User", APIGroup: "other"}}
	}
	want := []rbacv1.Subject{
		{Kind: "User", APIGroup: rbacv1.GroupName}, {Kind: "Group", APIGroup: rbacv1.GroupName},
		{Kind: "ServiceAccount"}, {Kind: "Robot"}, {Kind: "User", APIGroup: "other"},
	}
	binding := &rbacv1.RoleBinding{Subjects: subjects()}
	setRoleBindingDefaults(binding)
	require.Equal(t, &rbacv1.RoleBinding{Subjects: want, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName}}, binding)

	clusterBinding := &rbacv1.ClusterRoleBinding{Subjects: subjects(), RoleRef: rbacv1.RoleRef{APIGroup: "other"}}
	setClusterRoleBindingDefaults(clusterBinding)
	require.Equal(t, &rbacv1.ClusterRoleBinding{Subjects: want, RoleRef: rbacv1.RoleRef{APIGroup: "other"}}, clusterBinding)
}
