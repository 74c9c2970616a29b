package builtin

import "example.com/fakeapi/fake/internal/resource"

// rbacResources returns the types of RBAC. Any path segment is a valid name, for instance
// "system:node".
func rbacResources() []resource.Resource {
	all := []resource.Resource{
		{Plural: "clusterrolebindings", Kind: "ClusterRoleBinding"},
		{Plural: "clusterroles", Kind: "ClusterRole"},
		{Plural: "rolebindings", Kind: "RoleBinding", Namespaced: true},
		{Plural: "roles", Kind: "Role", Namespaced: true},
	}
	for i := range all {
		r := &all[i]
		r.Group, r.Version = "rbac.authorization.k8s.io", "v1"
		r.AllowUnconditionalUpdate, r.AllowCreateOnUpdate = true, true
		r.ValidateName = validatePathSegmentName
	}
	return all
}
