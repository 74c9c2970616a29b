package rbac

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// subjectKey is what users are looked up by: a user name or a group.
type subjectKey struct {
	kind string // rbacv1.UserKind or rbacv1.GroupKind
	name string
}

// everyone is the key of bindings that cannot be decoded, which are an error for all users.
var everyone = subjectKey{}

// keyOf returns the key of the users that a subject is. ok is false if it is no user. namespace is
// that of the RoleBinding, in which a service account without a namespace is, or "" for a
// ClusterRoleBinding.
func keyOf(s *rbacv1.Subject, namespace string) (key subjectKey, ok bool) {
	switch s.Kind {
	case rbacv1.UserKind, rbacv1.GroupKind:
		return subjectKey{s.Kind, s.Name}, true
	case rbacv1.ServiceAccountKind:
		if s.Namespace != "" {
			namespace = s.Namespace
		}
		return subjectKey{rbacv1.UserKind, serviceaccount.ServiceAccountUsernamePrefix + namespace + ":" + s.Name}, namespace != ""
	}
	return subjectKey{}, false
}

// forEachKey calls f with the keys under which a user has bindings.
func forEachKey(u user.Info, f func(subjectKey)) {
	f(everyone)
	f(subjectKey{rbacv1.UserKind, u.GetName()})
	for _, group := range u.GetGroups() {
		f(subjectKey{rbacv1.GroupKind, group})
	}
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

// grant is a binding with a subject in it. It is immutable.
type grant struct {
	*binding
	subject int // its index in the subjects of the binding
	reason  atomic.Pointer[string]
}

// compareGrants orders grants by binding, and those of a binding by subject.
func compareGrants(a, b *grant) int {
	if a.binding == b.binding {
		return a.subject - b.subject
	}
	return strings.Compare(a.record.Key, b.record.Key)
}

// Reason returns the reason of a decision that allows an action by the grant.
func (g *grant) Reason() string {
	if reason := g.reason.Load(); reason != nil {
		return *reason
	}
	reason := fmt.Sprintf("RBAC: allowed by %s %q of %s %q to %s",
		g.kind, g.name, g.roleRef.Kind, g.roleRef.Name, describeSubject(&g.subjects[g.subject], g.namespace))
	g.reason.Store(&reason)
	return reason
}

// uniqueBindings sorts grants and removes all but the first of each binding.
func uniqueBindings(grants []*grant) []*grant {
	slices.SortFunc(grants, compareGrants)
	return slices.CompactFunc(grants, func(a, b *grant) bool { return a.binding == b.binding })
}
