// Package rbac has the built-in types of the group rbac.authorization.k8s.io.
package rbac

import (
	"example.com/fakeapi/fake/internal/resource"
	declarativerbac "example.com/fakeapi/fake/internal/resource/declarative/rbac"
)

// Resources returns the types of RBAC. Any path segment is a valid name, for instance
// "system:node".
func Resources() []resource.Resource {
	all := []resource.Resource{
		{
			Plural: "clusterrolebindings", Kind: "ClusterRoleBinding",
			SetDefaults:           resource.Defaults(setClusterRoleBindingDefaults),
			Validate:              resource.Validation(validateClusterRoleBinding),
			ValidateUpdate:        resource.UpdateValidation(validateClusterRoleBindingUpdate),
			ValidateDeclaratively: resource.DeclarativeValidation(declarativerbac.Validate_ClusterRoleBinding),
		},
		{
			Plural: "clusterroles", Kind: "ClusterRole",
			Validate:              resource.Validation(validateClusterRole),
			ValidateUpdate:        resource.UpdateValidation(validateClusterRoleUpdate),
			ValidateDeclaratively: resource.DeclarativeValidation(declarativerbac.Validate_ClusterRole),
		},
		{
			Plural: "rolebindings", Kind: "RoleBinding", Namespaced: true,
			SetDefaults:           resource.Defaults(setRoleBindingDefaults),
			Validate:              resource.Validation(validateRoleBinding),
			ValidateUpdate:        resource.UpdateValidation(validateRoleBindingUpdate),
			ValidateDeclaratively: resource.DeclarativeValidation(declarativerbac.Validate_RoleBinding),
		},
		{
			Plural: "roles", Kind: "Role", Namespaced: true,
			Validate:              resource.Validation(validateRole),
			ValidateUpdate:        resource.UpdateValidation(validateRoleUpdate),
			ValidateDeclaratively: resource.DeclarativeValidation(declarativerbac.Validate_Role),
		},
	}
	for i := range all {
		r := &all[i]
		r.Group, r.Version = "rbac.authorization.k8s.io", "v1"
		r.AllowUnconditionalUpdate, r.AllowCreateOnUpdate = true, true
		r.MetadataChecksOnUpdate = resource.MetadataChecks{AsNew: 1}
		r.ValidateName = resource.ValidatePathSegmentName
	}
	return all
}
