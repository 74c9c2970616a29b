package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apiserver/pkg/authentication/user"

	"example.com/fakeapi/memstore"
)

// maxNamespaces is the number of namespaces whose bindings an Authorizer keeps.
const maxNamespaces = 1024

// policy is what an Authorizer decides by: the bindings at the cluster scope and in a namespace.
type policy struct {
	*Authorizer
	view               memstore.View
	cluster, namespace *scope // namespace is nil at the cluster scope
}

// policyFor returns the policy for actions in a namespace, or at the cluster scope for "".
func (a *Authorizer) policyFor(namespace string) policy {
	p := policy{Authorizer: a, view: a.view()}
	state := p.view.Identity("")
	if p.cluster = a.cluster.Load(); !p.cluster.isAt(state) {
		p.cluster = p.cluster.update(a.clusterKinds, p.view, state)
		a.cluster.Store(p.cluster)
	}
	if namespace == "" {
		return p
	}
	a.mu.RLock()
	p.namespace = a.namespaces[namespace]
	a.mu.RUnlock()
	if !p.namespace.isAt(state) {
		if p.namespace == nil {
			p.namespace = newScope(namespace)
		}
		p.namespace = p.namespace.update(a.kinds, p.view, state)
		a.keep(p.namespace)
	}
	return p
}

// keep stores the scope of a namespace for the next decisions.
func (a *Authorizer) keep(s *scope) {
	if len(s.namespace) > validation.DNS1123LabelMaxLength {
		return // a name that no namespace can have
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.namespaces[s.namespace] == nil && len(a.namespaces) == maxNamespaces {
		clear(a.namespaces)
	}
	a.namespaces[s.namespace] = s
}

// scopes returns the scopes in which bindings apply: the cluster and the namespace.
func (p *policy) scopes() []*scope {
	if p.namespace == nil {
		return []*scope{p.cluster}
	}
	return []*scope{p.cluster, p.namespace}
}

// find returns the first grant in a scope that allows an action of a user, or nil.
func (p *policy) find(s *scope, u user.Info, wanted *action) (best *grant) {
	forEachKey(u, func(key subjectKey) {
		if of := s.bindings.bySubject[key]; of != nil {
			best = p.rulesOf(s, of).find(wanted, best)
		}
	})
	return best
}

// rulesOf returns the rules of grants in a scope.
func (p *policy) rulesOf(s *scope, of *subjectGrants) *ruleIndex {
	x := of.rules.Load()
	if x == nil || x.roles != s.roles || x.clusterRoles != p.cluster.roles {
		x = newRuleIndex(of.grants, p.bindingRules)
		x.roles, x.clusterRoles = s.roles, p.cluster.roles
		of.rules.Store(x)
	}
	return x
}

// roleErrors returns the errors of the roles that a user has, in the order of the bindings.
func (p *policy) roleErrors(u user.Info) error {
	var errs []error
	for _, s := range p.scopes() {
		var failed []*grant
		forEachKey(u, func(key subjectKey) {
			if of := s.bindings.bySubject[key]; of != nil {
				failed = append(failed, p.rulesOf(s, of).failed...)
			}
		})
		for _, g := range uniqueBindings(failed) {
			_, err := p.bindingRules(g.binding)
			errs = append(errs, err)
		}
	}
	return utilerrors.NewAggregate(errs)
}

// bindingRules returns the rules of the role of a binding.
func (p *policy) bindingRules(b *binding) ([]rbacv1.PolicyRule, error) {
	if b.err != nil {
		return nil, b.err
	}
	return p.roleRules(p.view, b.roleRef, b.namespace)
}
