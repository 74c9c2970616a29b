// Package authz builds the attributes of requests for authorizers, formats 403 responses and
// implements impersonation.
package authz

import (
	"context"
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

func (alwaysAllow) Rules(context.Context, user.Info, string) authorizationv1.SubjectRulesReviewStatus {
	all := []string{"*"}
	return authorizationv1.SubjectRulesReviewStatus{
		ResourceRules:    []authorizationv1.ResourceRule{{Verbs: all, APIGroups: all, Resources: all}},
		NonResourceRules: []authorizationv1.NonResourceRule{{Verbs: all, NonResourceURLs: all}},
	}
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

func (alwaysDeny) Rules(context.Context, user.Info, string) authorizationv1.SubjectRulesReviewStatus {
	return authorizationv1.SubjectRulesReviewStatus{
		ResourceRules: []authorizationv1.ResourceRule{}, NonResourceRules: []authorizationv1.NonResourceRule{},
	}
}

// New returns an authorizer that allows everything to the group system:masters, allows to read
// PublicPaths, and asks delegate for the rest.
func New(delegate authorizer.UnconditionalAuthorizer) Authorizer {
	return delegating{delegate, PublicPaths()}
}

type delegating struct {
	delegate    authorizer.UnconditionalAuthorizer
	publicPaths []string // that all users may read
}

func (d delegating) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	switch {
	case slices.Contains(a.GetUser().GetGroups(), user.SystemPrivilegedGroup):
		return authorizer.DecisionAllow, "", nil
	case !a.IsResourceRequest() && a.GetVerb() == "get" && slices.Contains(d.publicPaths, a.GetPath()):
		return authorizer.DecisionAllow, "", nil
	}
	return d.delegate.Authorize(ctx, a)
}

func (d delegating) Rules(ctx context.Context, u user.Info, namespace string) authorizationv1.SubjectRulesReviewStatus {
	if d.publicPaths != nil && slices.Contains(u.GetGroups(), user.SystemPrivilegedGroup) { // with RBAC it has bindings
		return AlwaysAllow().Rules(ctx, u, namespace)
	}
	status := authorizationv1.SubjectRulesReviewStatus{
		ResourceRules:    []authorizationv1.ResourceRule{},
		NonResourceRules: []authorizationv1.NonResourceRule{},
	}
	if len(d.publicPaths) > 0 {
		status.NonResourceRules = append(status.NonResourceRules, authorizationv1.NonResourceRule{Verbs: []string{"get"}, NonResourceURLs: d.publicPaths})
	}
	resolver, ok := d.delegate.(authorizer.RuleResolver)
	if !ok {
		status.Incomplete, status.EvaluationError = true, "the authorizer is a function, which does not report its rules"
		return status
	}
	resources, paths, incomplete, err := resolver.RulesFor(ctx, u, namespace)
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
