package rbac

import (
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// findSubject returns the first subject that is u or a group of u. namespace is that of the
// RoleBinding, in which a service account without a namespace is, or "" for a ClusterRoleBinding.
func findSubject(subjects []rbacv1.Subject, u user.Info, namespace string) (*rbacv1.Subject, bool) {
	for i := range subjects {
		if isSubject(&subjects[i], u, namespace) {
			return &subjects[i], true
		}
	}
	return nil, false
}

func isSubject(s *rbacv1.Subject, u user.Info, namespace string) bool {
	switch s.Kind {
	case rbacv1.UserKind:
		return u.GetName() == s.Name
	case rbacv1.GroupKind:
		return slices.Contains(u.GetGroups(), s.Name)
	case rbacv1.ServiceAccountKind:
		if s.Namespace != "" {
			namespace = s.Namespace
		}
		return namespace != "" && serviceaccount.MatchesUsername(namespace, s.Name, u.GetName())
	}
	return false
}

// describeSubject returns a subject as it is in the reason of a decision.
func describeSubject(s *rbacv1.Subject, namespace string) string {
	if s.Kind != rbacv1.ServiceAccountKind {
		return fmt.Sprintf("%s %q", s.Kind, s.Name)
	}
	if s.Namespace != "" {
		namespace = s.Namespace
	}
	return fmt.Sprintf("%s %q", s.Kind, s.Name+"/"+namespace)
}
