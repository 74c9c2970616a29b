package access

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// subject is a user, a group or a service account that roles are bound to. A service account of
// manifests that have no namespace has none.
type subject struct{ kind, namespace, name string }

func (s subject) String() string {
	if s.kind == "" {
		return "all roles"
	}
	return s.kind + " " + qualifiedName(s.namespace, s.name)
}

// groups returns the groups of the subject. Those of a user are the ones that it has in a report.
func (s subject) groups(r Report) []string {
	switch {
	case s.kind == rbacv1.GroupKind:
		return []string{s.name, user.AllAuthenticated}
	case s.kind == rbacv1.UserKind && s.name == user.Anonymous:
		return []string{user.AllUnauthenticated}
	case s.kind == rbacv1.UserKind:
		groups := []string{user.AllAuthenticated}
		for _, a := range r.Accesses {
			if a.User == s.name {
				groups = append(groups, a.Groups...)
			}
		}
		return groups
	}
	groups := []string{user.AllAuthenticated, serviceaccount.AllServiceAccountsGroup}
	if s.namespace != "" {
		groups = append(groups, serviceaccount.MakeNamespaceGroupName(s.namespace))
	}
	return groups
}

// newSubject returns the subject of a binding in a namespace, which may be "". Service accounts
// that are given by their user names are service accounts.
func newSubject(of rbacv1.Subject, namespace string) subject {
	switch of.Kind {
	case rbacv1.ServiceAccountKind:
		return subject{of.Kind, cmp.Or(of.Namespace, namespace), of.Name}
	case rbacv1.UserKind:
		if namespace, name, err := serviceaccount.SplitUsername(of.Name); err == nil {
			return subject{rbacv1.ServiceAccountKind, namespace, name}
		}
	}
	return subject{kind: of.Kind, name: of.Name}
}

// isSame reports whether two subjects can be the same: service accounts are it if one of them has
// no namespace yet.
func (s subject) isSame(other subject) bool {
	return s.kind == other.kind && s.name == other.name &&
		(s.namespace == other.namespace || s.namespace == "" || other.namespace == "")
}

// isNamed reports whether name is that of the subject, or for a service account NAMESPACE/NAME or
// its user name.
func (s subject) isNamed(name string) bool {
	if s.name == name {
		return true
	}
	namespace, account, ok := strings.Cut(name, "/")
	if user := newSubject(rbacv1.Subject{Kind: rbacv1.UserKind, Name: name}, ""); user.kind == rbacv1.ServiceAccountKind {
		namespace, account, ok = user.namespace, user.name, true
	}
	return ok && s.isSame(subject{rbacv1.ServiceAccountKind, namespace, account})
}

// subjects returns the subjects of all bindings, each once.
func (m *Manifests) subjects(namespace string) []subject {
	var all []subject
	for _, b := range m.bindings {
		for _, one := range b.subjects {
			s := newSubject(one, cmp.Or(b.namespace, namespace))
			i := slices.IndexFunc(all, s.isSame)
			switch {
			case i < 0:
				all = append(all, s)
			case all[i].namespace == "":
				all[i] = s
			}
		}
	}
	return all
}

// findSubject returns the subject that is compared; see CheckOptions.
func (m *Manifests) findSubject(r Report, opts CheckOptions) (subject, error) {
	all := m.subjects(opts.Namespace)
	switch {
	case opts.Subject != "":
		return parseSubject(r, opts.Subject, all)
	case len(m.bindings) == 0:
		return subject{}, nil
	case len(all) == 1:
		return all[0], nil
	}
	if s, ok := only(all, func(s subject) bool { return s.isNamed(opts.Client) }); ok {
		return s, nil
	}
	isAccount := func(s subject) bool {
		return slices.ContainsFunc(m.accounts, func(a account) bool {
			return s.isSame(subject{rbacv1.ServiceAccountKind, cmp.Or(a.namespace, opts.Namespace), a.name})
		})
	}
	if s, ok := only(all, isAccount); ok {
		return s, nil
	}
	if len(all) == 0 {
		return subject{}, errors.New("access: the bindings of the manifests have no subjects")
	}
	return subject{}, fmt.Errorf("access: which subject is the client? The manifests bind roles to %s", listSubjects(all))
}

// only returns the subject for which is is true, if it is one.
func only(all []subject, is func(subject) bool) (subject, bool) {
	i := slices.IndexFunc(all, is)
	if i < 0 || slices.ContainsFunc(all[i+1:], is) {
		return subject{}, false
	}
	return all[i], true
}

// parseSubject returns the subject of a name, which may be in one of the forms of
// CheckOptions.Subject. It is an error if no role is bound to it or to a group that it has by its
// kind.
func parseSubject(r Report, name string, all []subject) (subject, error) {
	if namespace, account, err := serviceaccount.SplitUsername(name); err == nil {
		return checkBound(r, subject{rbacv1.ServiceAccountKind, namespace, account}, all)
	}
	if s, ok := only(all, func(s subject) bool { return s.kind == rbacv1.UserKind && s.name == name }); ok {
		return s, nil
	}
	if namespace, account, ok := strings.Cut(name, "/"); ok {
		return checkBound(r, subject{rbacv1.ServiceAccountKind, namespace, account}, all)
	}
	if s, ok := only(all, func(s subject) bool { return s.name == name }); ok {
		return s, nil
	}
	return checkBound(r, subject{kind: rbacv1.UserKind, name: name}, all)
}

// checkBound returns s, or an error if no role is bound to it or to one of its groups.
func checkBound(r Report, s subject, all []subject) (subject, error) {
	groups := s.groups(r)
	if slices.ContainsFunc(all, func(one subject) bool {
		return s.isSame(one) || one.kind == rbacv1.GroupKind && slices.Contains(groups, one.name)
	}) {
		return s, nil
	}
	if len(all) == 0 {
		return subject{}, fmt.Errorf("access: the manifests bind no role to %s or any other subject", s)
	}
	return subject{}, fmt.Errorf("access: the manifests bind no role to %s, but to %s", s, listSubjects(all))
}

// listSubjects returns the sorted texts of subjects.
func listSubjects(all []subject) string {
	var texts []string
	for _, s := range all {
		texts = append(texts, s.String())
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}
