package access

import (
	"cmp"
	"slices"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/fakeapi/fake/internal/rbac/bootstrappolicy"
)

// scope is where the rules of a role apply.
type scope struct {
	cluster   bool   // in all namespaces and for what has none
	namespace string // otherwise in this namespace, or for "" in every one
}

// includes reports whether the scope includes requests in a namespace, "" for those in none.
func (s scope) includes(namespace string) bool {
	return s.cluster || namespace != "" && (s.namespace == "" || s.namespace == namespace)
}

// grant is a role that a subject has by a binding.
type grant struct {
	role    *role
	binding *binding // nil if the manifests have no bindings
	scope   scope
	// parts are the roles that have the rules: role, or for an aggregated ClusterRole those that it
	// selects.
	parts []*role
}

// policy has the roles and bindings that are in force: those of manifests and of the bootstrap
// policy.
type policy struct {
	roles    []*role
	bindings []*binding
	// unresolved are the bindings of manifests to roles that do not exist.
	unresolved []*binding
}

// bootstrapPolicy returns the bootstrap policy, which must not be changed.
var bootstrapPolicy = sync.OnceValue(func() *policy {
	p := &policy{}
	for _, r := range bootstrappolicy.ClusterRoles() {
		p.roles = append(p.roles, &role{kind: "ClusterRole", name: r.Name, labels: r.Labels, rules: r.Rules, aggregation: r.AggregationRule})
	}
	for _, r := range bootstrappolicy.NamespaceRoles() {
		p.roles = append(p.roles, &role{kind: "Role", namespace: r.Namespace, name: r.Name, rules: r.Rules})
	}
	for _, b := range bootstrappolicy.ClusterRoleBindings() {
		p.bindings = append(p.bindings, &binding{kind: "ClusterRoleBinding", name: b.Name, ref: b.RoleRef, subjects: b.Subjects})
	}
	for _, b := range bootstrappolicy.NamespaceRoleBindings() {
		p.bindings = append(p.bindings, &binding{kind: "RoleBinding", namespace: b.Namespace, name: b.Name, ref: b.RoleRef, subjects: b.Subjects})
	}
	return p
})

// newPolicy returns the policy of a cluster with the manifests. Their roles replace those of the
// bootstrap policy.
func newPolicy(m *Manifests) *policy {
	p := &policy{roles: slices.Clone(m.roles), bindings: slices.Concat(m.bindings, bootstrapPolicy().bindings)}
	for _, r := range bootstrapPolicy().roles {
		if !slices.ContainsFunc(m.roles, r.isSame) {
			p.roles = append(p.roles, r)
		}
	}
	return p
}

// grantsOf returns the roles that a subject has by its groups and names. namespace is that of
// manifests without a namespace.
func (p *policy) grantsOf(s subject, groups []string, namespace string) []grant {
	var grants []grant
	for _, b := range p.bindings {
		in := b.namespace
		if b.file != "" && b.kind == "RoleBinding" {
			in = cmp.Or(in, namespace)
		}
		if slices.ContainsFunc(b.subjects, func(one rbacv1.Subject) bool {
			bound := newSubject(one, in)
			return s.kind != "" && s.isSame(bound) || bound.kind == rbacv1.GroupKind && slices.Contains(groups, bound.name)
		}) {
			found := p.grantsBy(b, in)
			if len(found) == 0 {
				p.unresolved = append(p.unresolved, b)
			}
			grants = append(grants, found...)
		}
	}
	return grants
}

// grantsBy returns the roles of a binding in a namespace: one, or those of several namespaces if
// the binding has none.
func (p *policy) grantsBy(b *binding, namespace string) (grants []grant) {
	for _, r := range p.roles {
		if r.kind != b.ref.Kind || r.name != b.ref.Name {
			continue
		}
		at := scope{cluster: b.kind == "ClusterRoleBinding", namespace: namespace}
		if r.kind == "Role" {
			if at.cluster || r.namespace != "" && namespace != "" && r.namespace != namespace {
				continue
			}
			at.namespace = cmp.Or(namespace, r.namespace)
		}
		grants = append(grants, grant{role: r, binding: b, scope: at, parts: p.parts(r)})
	}
	return grants
}

// allGrants returns the grants of all roles of manifests, as if each were bound once: a ClusterRole
// by a ClusterRoleBinding. namespace is that of manifests without a namespace.
func (p *policy) allGrants(namespace string) (grants []grant) {
	for _, r := range p.roles {
		if r.file != "" {
			at := scope{cluster: r.kind == "ClusterRole"}
			if !at.cluster {
				at.namespace = cmp.Or(r.namespace, namespace)
			}
			grants = append(grants, grant{role: r, scope: at, parts: p.parts(r)})
		}
	}
	return grants
}

// parts returns the roles that have the rules of a role. Those that an aggregationRule selects
// replace the rules of the ClusterRole.
func (p *policy) parts(r *role) []*role {
	var parts []*role
	var visit func(r *role, seen []*role)
	visit = func(r *role, seen []*role) {
		if slices.Contains(seen, r) {
			return
		}
		if r.aggregation == nil {
			if !slices.Contains(parts, r) {
				parts = append(parts, r)
			}
			return
		}
		for _, one := range p.roles {
			if one.kind == "ClusterRole" && isSelected(r.aggregation, one.labels) {
				visit(one, append(seen, r))
			}
		}
	}
	visit(r, nil)
	return parts
}

// isSelected reports whether an aggregationRule selects a ClusterRole with these labels.
func isSelected(rule *rbacv1.AggregationRule, of map[string]string) bool {
	return slices.ContainsFunc(rule.ClusterRoleSelectors, func(one metav1.LabelSelector) bool {
		selector, err := metav1.LabelSelectorAsSelector(&one)
		return err == nil && selector.Matches(labels.Set(of))
	})
}
