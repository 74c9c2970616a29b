package rbac

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/recordcache"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// Authorizer decides by the roles and bindings in a view of a store. It keeps them by subject, and
// checks before each decision that they are those of the view. It is safe for concurrent use.
type Authorizer struct {
	view                func() memstore.View
	clusterKinds, kinds kinds
	rules               *recordcache.Cache[[]rbacv1.PolicyRule] // of roles
	cluster             atomic.Pointer[scope]                   // the last one that was used

	mu         sync.RWMutex      // guards namespaces
	namespaces map[string]*scope // the last one of each namespace that was used
}

var _ authorizer.UnconditionalAuthorizer = (*Authorizer)(nil)
var _ authorizer.RuleResolver = (*Authorizer)(nil)

// New returns an Authorizer that decides by the roles and bindings in the view at the time of a
// decision. table has the resources of rbac.authorization.k8s.io.
func New(view func() memstore.View, table *resource.Table) *Authorizer {
	lookup := func(plural string) *resource.Resource {
		return table.Lookup(rbacv1.GroupName, rbacv1.SchemeGroupVersion.Version, plural)
	}
	a := &Authorizer{
		view:         view,
		clusterKinds: kinds{lookup("clusterroles"), lookup("clusterrolebindings")},
		kinds:        kinds{lookup("roles"), lookup("rolebindings")},
		rules:        recordcache.New[[]rbacv1.PolicyRule](),
		namespaces:   map[string]*scope{},
	}
	a.cluster.Store(newScope(""))
	return a
}

// Authorize implements authorizer.UnconditionalAuthorizer. It allows an action or has no opinion.
// Then the reason has the errors of the roles that do not exist.
func (a *Authorizer) Authorize(_ context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	p := a.policyFor(attributes.GetNamespace())
	u, wanted := attributes.GetUser(), newAction(attributes)
	for _, s := range p.scopes() {
		if g := p.find(s, u, &wanted); g != nil {
			return authorizer.DecisionAllow, g.Reason(), nil
		}
	}
	if err := p.roleErrors(u); err != nil {
		return authorizer.DecisionNoOpinion, fmt.Sprintf("RBAC: %v", err), nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// RulesFor implements authorizer.RuleResolver.
func (a *Authorizer) RulesFor(_ context.Context, u user.Info, namespace string) (resources []authorizer.ResourceRuleInfo, paths []authorizer.NonResourceRuleInfo, incomplete bool, err error) {
	rules, err := a.Rules(u, namespace)
	for i := range rules {
		r := &rules[i]
		if len(r.Resources) > 0 {
			resources = append(resources, &authorizer.DefaultResourceRuleInfo{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames})
		}
		if len(r.NonResourceURLs) > 0 {
			paths = append(paths, &authorizer.DefaultNonResourceRuleInfo{Verbs: r.Verbs, NonResourceURLs: r.NonResourceURLs})
		}
	}
	return resources, paths, false, err
}

// Rules returns the rules of all roles that u has in a namespace, or at the cluster scope for "".
// The error has the roles that do not exist; the rules are then those of the others.
func (a *Authorizer) Rules(u user.Info, namespace string) ([]rbacv1.PolicyRule, error) {
	var rules []rbacv1.PolicyRule
	var errs []error
	p := a.policyFor(namespace)
	for _, s := range p.scopes() {
		for _, g := range s.bindings.grantsOf(u) {
			of, err := p.bindingRules(g.binding)
			rules = append(rules, of...)
			if err != nil {
				errs = append(errs, err)
			}
		}
	}
	return rules, utilerrors.NewAggregate(errs)
}

// RoleRules returns the rules of the role that a binding in a namespace refers to, "" for a
// ClusterRoleBinding, or NotFound.
func (a *Authorizer) RoleRules(ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	return a.roleRules(a.view(), ref, namespace)
}

func (a *Authorizer) roleRules(view memstore.View, ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	switch ref.Kind {
	case "Role":
		return a.storedRules(a.kinds.roles, view.Get(codec.Key(a.kinds.roles, namespace, ref.Name)), "role", ref.Name)
	case "ClusterRole":
		return a.storedRules(a.clusterKinds.roles, view.Get(codec.Key(a.clusterKinds.roles, "", ref.Name)), "clusterrole", ref.Name)
	}
	return nil, fmt.Errorf("unsupported role reference kind: %q", ref.Kind)
}

// storedRules returns the rules of the record of a role, or NotFound without a record.
func (a *Authorizer) storedRules(res *resource.Resource, record *memstore.Record, kind, name string) ([]rbacv1.PolicyRule, error) {
	if record == nil {
		return nil, apierrors.NewNotFound(rbacv1.Resource(kind), name)
	}
	if rules, ok := a.rules.Get(record); ok {
		return rules, nil
	}
	obj, err := codec.DecodeStored(res, record)
	if err != nil {
		return nil, err
	}
	var rules []rbacv1.PolicyRule
	switch role := obj.(type) {
	case *rbacv1.Role:
		rules = role.Rules
	case *rbacv1.ClusterRole:
		rules = role.Rules
	}
	a.rules.Put(record, rules)
	return rules, nil
}
