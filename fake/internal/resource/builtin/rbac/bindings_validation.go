package rbac

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// The validation of tags requires the names of roles and subjects.

func validateRoleBinding(b *rbacv1.RoleBinding) field.ErrorList {
	return append(validateRoleRef(&b.RoleRef, "Role", "ClusterRole"), validateSubjects(b.Subjects, true)...)
}

func validateRoleBindingUpdate(b, old *rbacv1.RoleBinding) field.ErrorList {
	return append(validateRoleBinding(b), validateRoleRefUpdate(b.RoleRef, old.RoleRef)...)
}

func validateClusterRoleBinding(b *rbacv1.ClusterRoleBinding) field.ErrorList {
	return append(validateRoleRef(&b.RoleRef, "ClusterRole"), validateSubjects(b.Subjects, false)...)
}

func validateClusterRoleBindingUpdate(b, old *rbacv1.ClusterRoleBinding) field.ErrorList {
	return append(validateClusterRoleBinding(b), validateRoleRefUpdate(b.RoleRef, old.RoleRef)...)
}

// validateRoleRef validates a reference to a role of one of kinds.
func validateRoleRef(r *rbacv1.RoleRef, kinds ...string) (errs field.ErrorList) {
	var root *validate.Path
	path := root.Child("roleRef")
	if r.APIGroup != rbacv1.GroupName {
		errs = append(errs, validate.NotSupported(path.Child("apiGroup"), r.APIGroup, rbacv1.GroupName))
	}
	if !slices.Contains(kinds, r.Kind) {
		errs = append(errs, validate.NotSupported(path.Child("kind"), r.Kind, kinds...))
	}
	return append(errs, validate.Messages(r.Name, resource.ValidatePathSegmentName(r.Name, false), path.Child("name"))...)
}

// validateRoleRefUpdate refuses another reference. As in kube-apiserver, the value in the error has
// the names of Go fields.
func validateRoleRefUpdate(r, old rbacv1.RoleRef) field.ErrorList {
	if r == old {
		return nil
	}
	var root *validate.Path
	value := struct{ APIGroup, Kind, Name string }{r.APIGroup, r.Kind, r.Name}
	return field.ErrorList{root.Child("roleRef").Invalid(value, "cannot change roleRef")}
}

func validateSubjects(subjects []rbacv1.Subject, isNamespaced bool) (errs field.ErrorList) {
	var root *validate.Path
	path := root.Child("subjects")
	for i := range subjects {
		errs = append(errs, validateSubject(&subjects[i], isNamespaced, path.Index(i))...)
	}
	return errs
}

// validateSubject validates a subject. A RoleBinding is the default namespace of its service
// accounts.
func validateSubject(s *rbacv1.Subject, isNamespaced bool, p *validate.Path) (errs field.ErrorList) {
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		if s.Name != "" {
			errs = append(errs, validate.Messages(s.Name, apivalidation.ValidateServiceAccountName(s.Name, false), p.Child("name"))...)
		}
		if s.APIGroup != "" {
			errs = append(errs, validate.NotSupported(p.Child("apiGroup"), s.APIGroup, ""))
		}
		if !isNamespaced && s.Namespace == "" {
			errs = append(errs, p.Child("namespace").Required(""))
		}
	case rbacv1.UserKind, rbacv1.GroupKind:
		if s.APIGroup != rbacv1.GroupName {
			errs = append(errs, validate.NotSupported(p.Child("apiGroup"), s.APIGroup, rbacv1.GroupName))
		}
	default:
		errs = append(errs, validate.NotSupported(p.Child("kind"), s.Kind, rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind))
	}
	return errs
}
