// Package rbac has the built-in types of the group rbac.authorization.k8s.io.
package rbac

import (
	"example.com/fakeapi/fake/internal/resource"
)

// Resources returns the types of RBAC. Any path segment is a valid name, for instance
// "system:node".
func Resources() []resource.Resource {
	all := []resource.Resource{
		{Plural: "clusterrolebindings", Kind: "ClusterRoleBinding", SetDefaults: resource.Defaults(setClusterRoleBindingDefaults)},
		{Plural: "clusterroles", Kind: "ClusterRole"},
		{Plural: "rolebindings", Kind: "RoleBinding", Namespaced: true, SetDefaults: resource.Defaults(setRoleBindingDefaults)},
		{Plural: "roles", Kind: "Role", Namespaced: true},
	}
	for i := range all {
		r := &all[i]
		r.Group, r.Version = "rbac.authorization.k8s.io", "v1"
		r.AllowUnconditionalUpdate, r.AllowCreateOnUpdate = true, true
		r.ValidateName = resource.ValidatePathSegmentName
	}
	return all
}
