// Package authz builds the attributes of requests for authorizers, formats 403 responses and
// implements impersonation.
package authz

import (
	"context"
	"errors"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Authorizer authorizes requests and reports the rules of a user.
type Authorizer interface {
	authorizer.UnconditionalAuthorizer
	// Rules returns the rules of a user in a namespace, as far as they are known.
	Rules(ctx context.Context, u user.Info, namespace string) authorizationv1.SubjectRulesReviewStatus
}

// AlwaysAllow returns an authorizer that allows everything.
func AlwaysAllow() Authorizer { return alwaysAllow{} }

type alwaysAllow struct{}

func (alwaysAllow) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionAllow, "", nil
}

func (alwaysAllow) RulesFor(context.Context, user.Info, string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	all := []string{"*"}
	return []authorizer.ResourceRuleInfo{&authorizer.DefaultResourceRuleInfo{Verbs: all, APIGroups: all, Resources: all}},
		[]authorizer.NonResourceRuleInfo{&authorizer.DefaultNonResourceRuleInfo{Verbs: all, NonResourceURLs: all}}, false, nil
}

func (a alwaysAllow) Rules(ctx context.Context, u user.Info, namespace string) authorizationv1.SubjectRulesReviewStatus {
	return rulesOf(ctx, a, u, namespace)
}

// PublicPaths returns the paths that all users may read (ClusterRole system:public-info-viewer).
func PublicPaths() []string {
	return []string{"/healthz", "/livez", "/readyz", "/version", "/version/"}
}

// AlwaysDeny returns an authorizer that denies everything.
func AlwaysDeny() Authorizer { return alwaysDeny{} }

type alwaysDeny struct{}

func (alwaysDeny) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionNoOpinion, "Everything is forbidden.", nil
}

func (alwaysDeny) RulesFor(context.Context, user.Info, string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	return nil, nil, false, nil
}

func (a alwaysDeny) Rules(ctx context.Context, u user.Info, namespace string) authorizationv1.SubjectRulesReviewStatus {
	return rulesOf(ctx, a, u, namespace)
}

// New returns an authorizer that allows everything to the group system:masters, allows to read
// PublicPaths, and asks delegate for the rest.
func New(delegate authorizer.UnconditionalAuthorizer) Authorizer {
	return publicPaths{privilegedGroup{delegate}, PublicPaths()}
}

// privilegedGroup allows everything to the group system:masters, and asks another authorizer for
// the rest. As in kube-apiserver, its rules are only those of the other one, which for RBAC are
// those of the ClusterRoleBinding cluster-admin.
type privilegedGroup struct {
	delegate authorizer.UnconditionalAuthorizer
}

func (p privilegedGroup) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if isPrivileged(a.GetUser()) {
		return authorizer.DecisionAllow, "", nil
	}
	return p.delegate.Authorize(ctx, a)
}

func (p privilegedGroup) Rules(ctx context.Context, u user.Info, namespace string) authorizationv1.SubjectRulesReviewStatus {
	return rulesOf(ctx, p.delegate, u, namespace)
}

func isPrivileged(u user.Info) bool {
	return slices.Contains(u.GetGroups(), user.SystemPrivilegedGroup)
}

// publicPaths allows all users to read some paths. Its rules are also those of the group
// system:masters, because there are no bindings that say so.
type publicPaths struct {
	privilegedGroup
	paths []string
}

func (p publicPaths) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if !a.IsResourceRequest() && a.GetVerb() == "get" && slices.Contains(p.paths, a.GetPath()) {
		return authorizer.DecisionAllow, "", nil
	}
	return p.privilegedGroup.Authorize(ctx, a)
}

func (p publicPaths) Rules(ctx context.Context, u user.Info, namespace string) authorizationv1.SubjectRulesReviewStatus {
	if isPrivileged(u) {
		return AlwaysAllow().Rules(ctx, u, namespace)
	}
	status := p.privilegedGroup.Rules(ctx, u, namespace)
	public := authorizationv1.NonResourceRule{Verbs: []string{"get"}, NonResourceURLs: p.paths}
	status.NonResourceRules = append([]authorizationv1.NonResourceRule{public}, status.NonResourceRules...)
	return status
}

// rulesOf returns the rules of a user in a namespace, by an authorizer that reports them if it is
// an authorizer.RuleResolver.
func rulesOf(ctx context.Context, by authorizer.UnconditionalAuthorizer, u user.Info, namespace string) authorizationv1.SubjectRulesReviewStatus {
	status := authorizationv1.SubjectRulesReviewStatus{
		ResourceRules:    []authorizationv1.ResourceRule{},
		NonResourceRules: []authorizationv1.NonResourceRule{},
	}
	resources, paths, incomplete, err := resolveRules(ctx, by, u, namespace)
	for _, r := range resources {
		status.ResourceRules = append(status.ResourceRules, authorizationv1.ResourceRule{
			Verbs: r.GetVerbs(), APIGroups: r.GetAPIGroups(), Resources: r.GetResources(), ResourceNames: r.GetResourceNames(),
		})
	}
	for _, r := range paths {
		status.NonResourceRules = append(status.NonResourceRules, authorizationv1.NonResourceRule{
			Verbs: r.GetVerbs(), NonResourceURLs: r.GetNonResourceURLs(),
		})
	}
	status.Incomplete = incomplete
	if err != nil {
		status.EvaluationError = err.Error()
	}
	return status
}

// resolveRules is RulesFor of by, or incomplete if by is not an authorizer.RuleResolver.
func resolveRules(ctx context.Context, by authorizer.UnconditionalAuthorizer, u user.Info, namespace string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	if resolver, ok := by.(authorizer.RuleResolver); ok {
		return resolver.RulesFor(ctx, u, namespace)
	}
	return nil, nil, true, errors.New("the authorizer is a function, which does not report its rules")
}
