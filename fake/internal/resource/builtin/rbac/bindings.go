package rbac

import rbacv1 "k8s.io/api/rbac/v1"

func setRoleBindingDefaults(b *rbacv1.RoleBinding) {
	setRoleRefDefaults(&b.RoleRef)
	setSubjectDefaults(b.Subjects)
}

func setClusterRoleBindingDefaults(b *rbacv1.ClusterRoleBinding) {
	setRoleRefDefaults(&b.RoleRef)
	setSubjectDefaults(b.Subjects)
}

func setRoleRefDefaults(r *rbacv1.RoleRef) {
	if r.APIGroup == "" {
		r.APIGroup = rbacv1.GroupName
	}
}

// setSubjectDefaults sets the API group of users and groups. That of service accounts is "".
func setSubjectDefaults(subjects []rbacv1.Subject) {
	for i := range subjects {
		s := &subjects[i]
		if s.APIGroup == "" && (s.Kind == rbacv1.UserKind || s.Kind == rbacv1.GroupKind) {
			s.APIGroup = rbacv1.GroupName
		}
	}
}
