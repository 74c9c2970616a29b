package authz_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	userinfo "k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
)

// podReader is an authorizer that allows all users to get pods, and reports its rules.
type podReader struct{ err error }

func (p podReader) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.GetVerb() == "get" && a.GetResource() == "pods" {
		return authorizer.DecisionAllow, "pods are public", nil
	}
	return authorizer.DecisionNoOpinion, "not a pod", p.err
}

func (p podReader) RulesFor(context.Context, userinfo.Info, string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	return []authorizer.ResourceRuleInfo{&authorizer.DefaultResourceRuleInfo{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}, nil, false, p.err
}

// The rules of a user are those of all modes. The group system:masters has none of its own with
// modes.
func TestRulesOfModes(t *testing.T) {
	pods := authorizationv1.ResourceRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}
	all := []string{"*"}
	everything := authorizationv1.ResourceRule{Verbs: all, APIGroups: all, Resources: all}
	everyPath := authorizationv1.NonResourceRule{Verbs: all, NonResourceURLs: all}
	public := authorizationv1.NonResourceRule{Verbs: []string{"get"}, NonResourceURLs: authz.PublicPaths()}
	function := authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return authorizer.DecisionNoOpinion, "", nil
	})
	const unreported = "the authorizer is a function, which does not report its rules"
	missing := errors.New(`role "a" not found`)
	for _, test := range []struct {
		name   string
		config authz.Config
		rbac   podReader
		groups []string
		want   authorizationv1.SubjectRulesReviewStatus
	}{
		{name: "RBAC", config: authz.Config{Modes: []authz.Mode{authz.ModeRBAC}},
			want: authorizationv1.SubjectRulesReviewStatus{ResourceRules: []authorizationv1.ResourceRule{pods}}},
		{name: "RBAC with a missing role", config: authz.Config{Modes: []authz.Mode{authz.ModeRBAC}}, rbac: podReader{missing},
			want: authorizationv1.SubjectRulesReviewStatus{ResourceRules: []authorizationv1.ResourceRule{pods}, EvaluationError: missing.Error()}},
		{name: "RBAC for system:masters", config: authz.Config{Modes: []authz.Mode{authz.ModeRBAC}}, groups: []string{"system:masters"},
			want: authorizationv1.SubjectRulesReviewStatus{ResourceRules: []authorizationv1.ResourceRule{pods}}},
		{name: "RBAC, AlwaysAllow", config: authz.Config{Modes: []authz.Mode{authz.ModeRBAC, authz.ModeAlwaysAllow}},
			want: authorizationv1.SubjectRulesReviewStatus{ResourceRules: []authorizationv1.ResourceRule{pods, everything}, NonResourceRules: []authorizationv1.NonResourceRule{everyPath}}},
		{name: "AlwaysDeny, RBAC", config: authz.Config{Modes: []authz.Mode{authz.ModeAlwaysDeny, authz.ModeRBAC}},
			want: authorizationv1.SubjectRulesReviewStatus{ResourceRules: []authorizationv1.ResourceRule{pods}}},
		{name: "AlwaysDeny for system:masters", config: authz.Config{Modes: []authz.Mode{authz.ModeAlwaysDeny}}, groups: []string{"system:masters"}},
		{name: "a function, RBAC", config: authz.Config{Custom: function, Modes: []authz.Mode{authz.ModeRBAC}}, rbac: podReader{missing},
			want: authorizationv1.SubjectRulesReviewStatus{ResourceRules: []authorizationv1.ResourceRule{pods}, Incomplete: true, EvaluationError: "[" + unreported + ", " + missing.Error() + "]"}},
		{name: "a function", config: authz.Config{Custom: function},
			want: authorizationv1.SubjectRulesReviewStatus{NonResourceRules: []authorizationv1.NonResourceRule{public}, Incomplete: true, EvaluationError: unreported}},
		{name: "a function for system:masters", config: authz.Config{Custom: function}, groups: []string{"system:masters"},
			want: authorizationv1.SubjectRulesReviewStatus{ResourceRules: []authorizationv1.ResourceRule{everything}, NonResourceRules: []authorizationv1.NonResourceRule{everyPath}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.config.NewAuthorizer(test.rbac, nil).Rules(t.Context(), authn.NewInfo(user{Username: "ann", Groups: test.groups}), "default")
			require.NotNil(t, got.ResourceRules, "the lists are never null")
			require.NotNil(t, got.NonResourceRules)
			test.want.ResourceRules = append([]authorizationv1.ResourceRule{}, test.want.ResourceRules...)
			test.want.NonResourceRules = append([]authorizationv1.NonResourceRule{}, test.want.NonResourceRules...)
			require.Equal(t, test.want, got)
		})
	}
}

// The first mode that decides does. If none does, the reasons and errors are those of all.
func TestAuthorizeByModes(t *testing.T) {
	failed := errors.New("failed")
	config := authz.Config{Custom: podReader{failed}, Modes: []authz.Mode{authz.ModeAlwaysDeny, authz.ModeRBAC}}
	a := config.NewAuthorizer(podReader{}, nil)
	by := func(verb, resource string, groups ...string) (authorizer.Decision, string, error) {
		return a.Authorize(t.Context(), authorizer.AttributesRecord{
			User: authn.NewInfo(user{Username: "ann", Groups: groups}), ResourceRequest: true, Verb: verb, Resource: resource,
		})
	}
	decision, reason, err := by("get", "pods")
	require.NoError(t, err)
	require.Equal(t, authorizer.DecisionAllow, decision)
	require.Equal(t, "pods are public", reason)

	decision, reason, err = by("list", "pods")
	require.EqualError(t, err, "failed")
	require.Equal(t, authorizer.DecisionNoOpinion, decision)
	require.Equal(t, "not a pod\nEverything is forbidden.\nnot a pod", reason)

	decision, reason, err = by("list", "pods", "system:masters")
	require.NoError(t, err)
	require.Equal(t, authorizer.DecisionAllow, decision)
	require.Empty(t, reason)
	require.Nil(t, (&authz.Config{}).NewAuthorizer(nil, nil))
}
