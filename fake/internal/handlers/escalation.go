package handlers

import (
	"context"
	"errors"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/rbac"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
)

// grant is a write of a role or a binding, which gives the permissions of rules.
type grant struct {
	// attributes are the permission to grant rules without having them: escalate or bind. The verb is
	// "" for a binding to something that is not a role.
	attributes authorizer.AttributesRecord
	rules      []rbacv1.PolicyRule
	// rulesErr is why the rules of a binding are not known.
	rulesErr error
	// isAggregated reports whether the rules of a ClusterRole are those of others, or were.
	isAggregated bool
}

// checkEscalation returns the 403 of a user who writes a role or a binding that grants permissions
// which the user does not have
// (https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping).
// obj is the object after mutating admission, and old the stored one, nil for a new object. As in
// kube-apiserver, this precedes preparing and validating obj.
func (a *API) checkEscalation(q *request, obj, old runtime.Object) error {
	if q.res.Group != rbacv1.GroupName || old != nil && changesOnlyOwnersAndFinalizers(obj, old) {
		return nil
	}
	u := authn.NewInfo(authn.UserFrom(q.r.Context()))
	observe, isPrivileged := a.settings.ObserveGrant, slices.Contains(u.Groups, user.SystemPrivilegedGroup)
	if observe == nil && isPrivileged {
		return nil
	}
	g := a.newGrant(q, u, obj, old)
	var err error
	if !isPrivileged && !a.isGrantAllowed(q.r.Context(), &g) {
		err = a.authorizeGrant(q, &g, resource.Accessor(obj).GetName())
	}
	if observe != nil && g.attributes.Verb != "" {
		observe(q.r.Context(), g.attributes, g.allRules(), !apierrors.IsForbidden(err))
	}
	return err
}

// authorizeGrant returns the 403 of a user who may not escalate or bind, and does not have all
// permissions of a grant. name is that of the role or the binding.
func (a *API) authorizeGrant(q *request, g *grant, name string) error {
	if g.rulesErr != nil {
		return g.rulesErr
	}
	err := a.confirmNoEscalation(q, g, g.rules)
	if err == nil && g.isAggregated && a.confirmNoEscalation(q, g, allPermissions()) != nil {
		err = errors.New("must have cluster-admin privileges to use the aggregationRule")
	}
	if err == nil || apierrors.IsRequestEntityTooLargeError(err) {
		return err
	}
	return apierrors.NewForbidden(q.res.GroupResource(), name, err)
}

// allRules returns the rules that a user needs who may not escalate or bind. Those of an aggregated
// ClusterRole can be all.
func (g *grant) allRules() []rbacv1.PolicyRule {
	if g.isAggregated {
		return slices.Concat(g.rules, allPermissions())
	}
	return g.rules
}

// allPermissions returns the rules of the role cluster-admin.
func allPermissions() []rbacv1.PolicyRule {
	all := []string{"*"}
	return []rbacv1.PolicyRule{{Verbs: all, APIGroups: all, Resources: all}, {Verbs: all, NonResourceURLs: all}}
}

// newGrant returns the grant of a write of obj, an object of rbac.authorization.k8s.io, by u.
func (a *API) newGrant(q *request, u user.Info, obj, old runtime.Object) grant {
	g := grant{attributes: authorizer.AttributesRecord{User: u, Namespace: q.namespace(), APIVersion: "*", ResourceRequest: true}}
	switch obj := obj.(type) {
	case *rbacv1.Role:
		g.escalate(q, obj.Rules)
	case *rbacv1.ClusterRole:
		g.escalate(q, obj.Rules)
		oldRole, _ := old.(*rbacv1.ClusterRole)
		g.isAggregated = isAggregated(obj) || isAggregated(oldRole)
	case *rbacv1.RoleBinding:
		a.bindRole(q, &g, obj.RoleRef)
	case *rbacv1.ClusterRoleBinding:
		a.bindRole(q, &g, obj.RoleRef)
	}
	return g
}

func isAggregated(role *rbacv1.ClusterRole) bool {
	return role != nil && role.AggregationRule != nil && len(role.AggregationRule.ClusterRoleSelectors) > 0
}

// escalate sets what a write of a role grants. A create has no name in its path.
func (g *grant) escalate(q *request, rules []rbacv1.PolicyRule) {
	g.attributes.Verb, g.attributes.APIGroup, g.attributes.Resource, g.attributes.Name = "escalate", q.res.Group, q.res.Plural, q.info.Name
	g.rules = rules
}

// bindRole sets what a write of a binding to a role grants.
func (a *API) bindRole(q *request, g *grant, ref rbacv1.RoleRef) {
	switch ref.Kind {
	case "Role":
		g.attributes.Resource = "roles"
	case "ClusterRole":
		g.attributes.Resource = "clusterroles"
	}
	if g.attributes.Resource != "" {
		g.attributes.Verb, g.attributes.APIGroup, g.attributes.Name = "bind", ref.APIGroup, ref.Name
	}
	g.rules, g.rulesErr = a.roleRules(q, ref)
}

// roleRules returns the rules of the role to which a binding refers. Without a role, the errors are
// those of kube-apiserver's storage, which reads it.
func (a *API) roleRules(q *request, ref rbacv1.RoleRef) ([]rbacv1.PolicyRule, error) {
	if ref.Kind == "Role" || ref.Kind == "ClusterRole" {
		if ref.Kind == "Role" && q.namespace() == "" {
			return nil, errNamespaceRequired
		}
		if err := status.InvalidName(ref.Name); err != nil {
			return nil, err
		}
	}
	rules, err := a.storedRoles().RoleRules(ref, q.namespace())
	return rules, rbac.NamedByRequest(err, q.res.GroupResource())
}

// isGrantAllowed reports whether the user may grant permissions without having them.
func (a *API) isGrantAllowed(ctx context.Context, g *grant) bool {
	if g.attributes.Verb == "" || a.authorizer == nil {
		return g.attributes.Verb != ""
	}
	decision, _, _ := a.authorizer.Authorize(ctx, g.attributes) // kube-apiserver logs the error
	return decision == authorizer.DecisionAllow
}

func (a *API) confirmNoEscalation(q *request, g *grant, rules []rbacv1.PolicyRule) error {
	return a.storedRoles().ConfirmNoEscalation(g.attributes.User, q.namespace(), q.res.GroupResource(), rules)
}

// changesOnlyOwnersAndFinalizers reports whether an update does no more than what the garbage
// collector does: it may remove owners and finalizers of what it may not grant.
func changesOnlyOwnersAndFinalizers(obj, old runtime.Object) bool {
	obj = obj.DeepCopyObject()
	obj.GetObjectKind().SetGroupVersionKind(old.GetObjectKind().GroupVersionKind())
	m, before := resource.Accessor(obj), resource.Accessor(old)
	m.SetOwnerReferences(before.GetOwnerReferences())
	m.SetFinalizers(before.GetFinalizers())
	m.SetSelfLink(before.GetSelfLink())
	m.SetManagedFields(before.GetManagedFields())
	return equality.Semantic.DeepEqual(obj, old)
}
