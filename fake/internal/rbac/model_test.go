package rbac_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// modelPolicy is a simple implementation of RBAC, as
// https://kubernetes.io/docs/reference/access-authn-authz/rbac/ describes it: it has the roles and
// bindings by key, and looks at all of them for each decision.
type modelPolicy map[string]modelObject

// modelObject is a role or a binding, or the error of a record that does not decode.
type modelObject struct {
	obj runtime.Object
	err string
}

// modelBinding is a binding that applies to a user.
type modelBinding struct {
	text  string // as in a reason
	rules []rbacv1.PolicyRule
	err   string
}

// bindings returns the bindings that apply to a user: ClusterRoleBindings, then the RoleBindings in
// the namespace, each by name.
func (m modelPolicy) bindings(u user.Info, namespace string) (found []modelBinding) {
	prefixes := []string{"clusterrolebindings.rbac.authorization.k8s.io/"}
	if namespace != "" {
		prefixes = append(prefixes, "rolebindings.rbac.authorization.k8s.io/"+namespace+"/")
	}
	for _, prefix := range prefixes {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !strings.HasPrefix(key, prefix) {
				continue
			}
			if m[key].err != "" {
				found = append(found, modelBinding{err: m[key].err})
				continue
			}
			switch b := m[key].obj.(type) {
			case *rbacv1.ClusterRoleBinding:
				if s := modelSubject(b.Subjects, u, ""); s != "" {
					found = append(found, m.role(b.RoleRef, "", fmt.Sprintf("ClusterRoleBinding %q", b.Name), s))
				}
			case *rbacv1.RoleBinding:
				if s := modelSubject(b.Subjects, u, namespace); s != "" {
					found = append(found, m.role(b.RoleRef, namespace, fmt.Sprintf("RoleBinding %q", b.Name+"/"+namespace), s))
				}
			}
		}
	}
	return found
}

// role returns the binding with the rules of its role.
func (m modelPolicy) role(ref rbacv1.RoleRef, namespace, binding, subject string) modelBinding {
	b := modelBinding{text: fmt.Sprintf("%s of %s %q to %s", binding, ref.Kind, ref.Name, subject)}
	key := "clusterroles.rbac.authorization.k8s.io/" + ref.Name
	switch ref.Kind {
	case "ClusterRole":
	case "Role":
		key = "roles.rbac.authorization.k8s.io/" + namespace + "/" + ref.Name
	default:
		b.err = fmt.Sprintf("unsupported role reference kind: %q", ref.Kind)
		return b
	}
	stored, ok := m[key]
	switch r := stored.obj.(type) {
	case *rbacv1.Role:
		b.rules = r.Rules
	case *rbacv1.ClusterRole:
		b.rules = r.Rules
	}
	if b.err = stored.err; !ok {
		b.err = fmt.Sprintf("%s.rbac.authorization.k8s.io %q not found", strings.ToLower(ref.Kind), ref.Name)
	}
	return b
}

// modelSubject returns the text of the first subject that is the user, or "".
func modelSubject(subjects []rbacv1.Subject, u user.Info, namespace string) string {
	for _, s := range subjects {
		switch s.Kind {
		case "User":
			if u.GetName() == s.Name {
				return fmt.Sprintf("User %q", s.Name)
			}
		case "Group":
			for _, g := range u.GetGroups() {
				if g == s.Name {
					return fmt.Sprintf("Group %q", s.Name)
				}
			}
		case "ServiceAccount":
			in := cmp.Or(s.Namespace, namespace)
			if in != "" && u.GetName() == "system:serviceaccount:"+in+":"+s.Name {
				return fmt.Sprintf("ServiceAccount %q", s.Name+"/"+in)
			}
		}
	}
	return ""
}

// authorize returns the decision about an action and its reason.
func (m modelPolicy) authorize(a authorizer.Attributes) (authorizer.Decision, string) {
	var errs []string
	for _, b := range m.bindings(a.GetUser(), a.GetNamespace()) {
		if slices.ContainsFunc(b.rules, func(r rbacv1.PolicyRule) bool { return modelAllows(a, r) }) {
			return authorizer.DecisionAllow, "RBAC: allowed by " + b.text
		}
		if b.err != "" && !slices.Contains(errs, b.err) {
			errs = append(errs, b.err)
		}
	}
	switch len(errs) {
	case 0:
		return authorizer.DecisionNoOpinion, ""
	case 1:
		return authorizer.DecisionNoOpinion, "RBAC: " + errs[0]
	}
	return authorizer.DecisionNoOpinion, "RBAC: [" + strings.Join(errs, ", ") + "]"
}

func modelAllows(a authorizer.Attributes, r rbacv1.PolicyRule) bool {
	has := func(list []string, values ...string) bool {
		return slices.ContainsFunc(values, func(v string) bool { return slices.Contains(list, v) })
	}
	if !has(r.Verbs, a.GetVerb(), "*") {
		return false
	}
	if !a.IsResourceRequest() {
		for _, url := range r.NonResourceURLs {
			if url == a.GetPath() || strings.HasSuffix(url, "*") && strings.HasPrefix(a.GetPath(), strings.TrimRight(url, "*")) {
				return true
			}
		}
		return false
	}
	resources := []string{"*", a.GetResource()}
	if sub := a.GetSubresource(); sub != "" {
		resources = []string{"*", a.GetResource() + "/" + sub, "*/" + sub}
	}
	return has(r.APIGroups, a.GetAPIGroup(), "*") && has(r.Resources, resources...) &&
		(len(r.ResourceNames) == 0 || has(r.ResourceNames, a.GetName()))
}
