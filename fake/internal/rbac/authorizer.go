package rbac

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/recordcache"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// Authorizer decides by the roles and bindings in a view of a store. It is safe for concurrent use.
type Authorizer struct {
	view                                           func() memstore.View
	roles, clusterRoles, bindings, clusterBindings *resource.Resource
	decoded                                        *recordcache.Cache[runtime.Object]
}

var _ authorizer.UnconditionalAuthorizer = (*Authorizer)(nil)
var _ authorizer.RuleResolver = (*Authorizer)(nil)

// New returns an Authorizer that decides by the roles and bindings in the view at the time of a
// decision. table has the resources of rbac.authorization.k8s.io.
func New(view func() memstore.View, table *resource.Table) *Authorizer {
	lookup := func(plural string) *resource.Resource {
		return table.Lookup(rbacv1.GroupName, rbacv1.SchemeGroupVersion.Version, plural)
	}
	return &Authorizer{
		view: view, decoded: recordcache.New[runtime.Object](),
		roles: lookup("roles"), clusterRoles: lookup("clusterroles"),
		bindings: lookup("rolebindings"), clusterBindings: lookup("clusterrolebindings"),
	}
}

// Authorize implements authorizer.UnconditionalAuthorizer. It allows an action or has no opinion.
func (a *Authorizer) Authorize(_ context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	allowedBy := ""
	var errs []error
	a.visitRules(attributes.GetUser(), attributes.GetNamespace(), func(source fmt.Stringer, rule *rbacv1.PolicyRule, err error) bool {
		switch {
		case err != nil:
			errs = append(errs, err)
		case RuleAllows(attributes, rule):
			allowedBy = source.String()
			return false
		}
		return true
	})
	if allowedBy != "" {
		return authorizer.DecisionAllow, "RBAC: allowed by " + allowedBy, nil
	}
	if len(errs) > 0 {
		return authorizer.DecisionNoOpinion, fmt.Sprintf("RBAC: %v", utilerrors.NewAggregate(errs)), nil
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

// Rules returns the rules of all roles that u has in a namespace, or at the cluster scope for "". The
// error has the roles that do not exist; the rules are then those of the others.
func (a *Authorizer) Rules(u user.Info, namespace string) ([]rbacv1.PolicyRule, error) {
	var rules []rbacv1.PolicyRule
	var errs []error
	a.visitRules(u, namespace, func(_ fmt.Stringer, rule *rbacv1.PolicyRule, err error) bool {
		if err != nil {
			errs = append(errs, err)
		} else {
			rules = append(rules, *rule)
		}
		return true
	})
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
		obj, err := a.decode(a.roles, view.Get(codec.Key(a.roles, namespace, ref.Name)))
		if obj == nil {
			return nil, orNotFound(err, "role", ref.Name)
		}
		return obj.(*rbacv1.Role).Rules, nil
	case "ClusterRole":
		obj, err := a.decode(a.clusterRoles, view.Get(codec.Key(a.clusterRoles, "", ref.Name)))
		if obj == nil {
			return nil, orNotFound(err, "clusterrole", ref.Name)
		}
		return obj.(*rbacv1.ClusterRole).Rules, nil
	}
	return nil, fmt.Errorf("unsupported role reference kind: %q", ref.Kind)
}

func orNotFound(err error, plural, name string) error {
	if err != nil {
		return err
	}
	return apierrors.NewNotFound(rbacv1.Resource(plural), name)
}

// decode returns the object of a record, or nil without a record.
func (a *Authorizer) decode(res *resource.Resource, rec *memstore.Record) (runtime.Object, error) {
	if rec == nil {
		return nil, nil
	}
	if obj, ok := a.decoded.Get(rec); ok {
		return obj, nil
	}
	obj, err := codec.DecodeStored(res, rec)
	if err != nil {
		return nil, err
	}
	a.decoded.Put(rec, obj)
	return obj, nil
}

// source is what gives a user a rule: a binding, its role and the subject that is the user.
type source struct {
	kind, name string // of the binding; the name of a RoleBinding is NAME/NAMESPACE
	role       rbacv1.RoleRef
	subject    string
}

func (s source) String() string {
	return fmt.Sprintf("%s %q of %s %q to %s", s.kind, s.name, s.role.Kind, s.role.Name, s.subject)
}

// visitRules calls visit with the rules of u in a namespace until it returns false: those of
// ClusterRoleBindings, then those of the RoleBindings in the namespace. A role that does not exist is
// an error.
func (a *Authorizer) visitRules(u user.Info, namespace string, visit func(source fmt.Stringer, rule *rbacv1.PolicyRule, err error) bool) {
	view := a.view()
	visitRole := func(s source, roleNamespace string) bool {
		rules, err := a.roleRules(view, s.role, roleNamespace)
		if err != nil {
			return visit(nil, nil, err)
		}
		for i := range rules {
			if !visit(s, &rules[i], nil) {
				return false
			}
		}
		return true
	}
	for rec := range view.Range(codec.Key(a.clusterBindings, "", ""), "") {
		obj, err := a.decode(a.clusterBindings, rec)
		if err != nil {
			if !visit(nil, nil, err) {
				return
			}
			continue
		}
		b := obj.(*rbacv1.ClusterRoleBinding)
		if subject, ok := findSubject(b.Subjects, u, ""); ok && !visitRole(source{"ClusterRoleBinding", b.Name, b.RoleRef, describeSubject(subject, "")}, "") {
			return
		}
	}
	if namespace == "" {
		return
	}
	for rec := range view.Range(codec.Key(a.bindings, namespace, ""), "") {
		obj, err := a.decode(a.bindings, rec)
		if err != nil {
			if !visit(nil, nil, err) {
				return
			}
			continue
		}
		b := obj.(*rbacv1.RoleBinding)
		if subject, ok := findSubject(b.Subjects, u, namespace); ok && !visitRole(source{"RoleBinding", b.Name + "/" + namespace, b.RoleRef, describeSubject(subject, namespace)}, namespace) {
			return
		}
	}
}
