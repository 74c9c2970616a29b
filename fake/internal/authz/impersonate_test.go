package authz_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
)

type (
	user  = authenticationv1.UserInfo
	extra = map[string]authenticationv1.ExtraValue
)

// rights is an authorizer that allows a list of actions and records the actions that it is asked
// about.
type rights struct {
	allowed []string
	actions []string
}

func (r *rights) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	one := a.GetVerb() + " " + a.GetAPIGroup() + "/" + a.GetResource() + "/" + a.GetSubresource() + " " + a.GetNamespace() + "/" + a.GetName()
	r.actions = append(r.actions, one)
	if slices.Contains(r.allowed, one) {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// The permissions that each mode needs, and the user as which the request then acts (KEP-5284).
func TestImpersonate(t *testing.T) {
	request := func(u user) authorizer.AttributesRecord {
		return authorizer.AttributesRecord{User: authn.NewInfo(u), ResourceRequest: true, Verb: "list", APIVersion: "v1", Resource: "pods", Namespace: "ns"}
	}
	ann := user{Username: "ann"}
	agent := user{Username: "system:serviceaccount:ns:agent", Extra: extra{"authentication.kubernetes.io/node-name": {"n"}, "other": {"x"}}}
	const all = "authenticated"
	for name, one := range map[string]struct {
		by      user
		wanted  user
		allowed []string
		groups  []string
	}{
		"an account on its node": {
			agent, user{Username: "system:node:n"},
			[]string{"impersonate-on:associated-node:list /pods/ ns/", "impersonate:associated-node authentication.k8s.io/nodes/ /*"},
			[]string{"system:nodes", "system:" + all},
		},
		"an account, any node": {
			agent, user{Username: "system:node:m"},
			[]string{"impersonate-on:arbitrary-node:list /pods/ ns/", "impersonate:arbitrary-node authentication.k8s.io/nodes/ /m"},
			[]string{"system:nodes", "system:" + all},
		},
		"a node for all requests": {
			ann, user{Username: "system:node:n"}, []string{"impersonate /users/ /system:node:n"}, []string{"system:" + all},
		},
		"a service account": {
			ann, user{Username: "system:serviceaccount:x:y"},
			[]string{"impersonate-on:serviceaccount:list /pods/ ns/", "impersonate:serviceaccount authentication.k8s.io/serviceaccounts/ x/y"},
			[]string{"system:serviceaccounts", "system:serviceaccounts:x", "system:" + all},
		},
		"a service account with groups": {
			ann, user{Username: "system:serviceaccount:x:y", Groups: []string{"g"}},
			[]string{"impersonate /serviceaccounts/ x/y", "impersonate /groups/ /g"},
			[]string{"g", "system:" + all},
		},
		"an invalid service account name": {
			ann, user{Username: "system:serviceaccount:X:y"}, []string{"impersonate /users/ /system:serviceaccount:X:y"}, []string{"system:" + all},
		},
		"a user with all fields": {
			ann, user{Username: "bob", UID: "7", Groups: []string{"g"}, Extra: extra{"example.com/a": {"1", "2"}}},
			[]string{
				"impersonate-on:user-info:list /pods/ ns/", "impersonate:user-info authentication.k8s.io/users/ /bob",
				"impersonate:user-info authentication.k8s.io/uids/ /7", "impersonate:user-info authentication.k8s.io/groups/ /g",
				"impersonate:user-info authentication.k8s.io/userextras/example.com/a /1", "impersonate:user-info authentication.k8s.io/userextras/example.com/a /2",
			},
			[]string{"g", "system:" + all},
		},
		"many groups and extra fields": {
			ann, user{Username: "bob", Groups: []string{"a", "b", "c", "d"}, Extra: extra{"acme.com/k": {"1", "2", "3", "4"}}},
			[]string{
				"impersonate-on:user-info:list /pods/ ns/", "impersonate:user-info authentication.k8s.io/users/ /bob",
				"impersonate:user-info authentication.k8s.io/groups/ /*", "impersonate:user-info authentication.k8s.io/userextras/* /*",
			},
			[]string{"a", "b", "c", "d", "system:" + all},
		},
		"system:masters, for all requests": {
			ann, user{Username: "bob", Groups: []string{"system:masters"}}, []string{"impersonate /users/ /bob", "impersonate /groups/ /system:masters"},
			[]string{"system:masters", "system:" + all},
		},
		"the anonymous user": {
			ann, user{Username: "system:anonymous"}, []string{"impersonate /users/ /system:anonymous"}, []string{"system:unauthenticated"},
		},
		"an unauthenticated user": {
			ann, user{Username: "bob", Groups: []string{"system:unauthenticated"}},
			[]string{"impersonate /users/ /bob", "impersonate /groups/ /system:unauthenticated"}, []string{"system:unauthenticated"},
		},
	} {
		got, err := authz.NewImpersonation(&rights{allowed: one.allowed}).Impersonate(t.Context(), request(one.by), one.wanted)
		require.NoError(t, err, name)
		want := one.wanted
		want.Groups = one.groups
		require.Equal(t, want, got, name)
		for i := range one.allowed { // each of them is needed
			_, err := authz.NewImpersonation(&rights{allowed: slices.Delete(slices.Clone(one.allowed), i, i+1)}).Impersonate(t.Context(), request(one.by), one.wanted)
			require.Error(t, err, "%s without %s", name, one.allowed[i])
		}
	}
}

// Some users cannot be impersonated in a constrained mode, whatever the permissions.
func TestImpersonateWithinLimits(t *testing.T) {
	for want, wanted := range map[string]user{
		"impersonating the empty string group is not allowed":                                                            {Username: "bob", Groups: []string{""}},
		"impersonating the system:masters group is not allowed":                                                          {Username: "bob", Groups: []string{"system:masters"}},
		"impersonating the empty string key in extra is not allowed":                                                     {Username: "bob", Extra: extra{"": {"a"}}},
		"impersonating a non-lowercase key in extra is not allowed: \"example.com/A\"":                                   {Username: "bob", Extra: extra{"example.com/A": {"a"}}},
		"impersonating empty values in extra is not allowed":                                                             {Username: "bob", Extra: extra{"example.com/a": {}}},
		"impersonating the empty string value in extra is not allowed":                                                   {Username: "bob", Extra: extra{"example.com/a": {""}}},
		"impersonating an invalid key in extra is not allowed: extra.key: Invalid value: \"a\": must be a domain-prefix": {Username: "bob", Extra: extra{"a": {"a"}}},
	} {
		by := &rights{allowed: []string{"impersonate-on:user-info:get // /", "impersonate:user-info authentication.k8s.io/users/ /bob"}}
		_, err := authz.NewImpersonation(by).Impersonate(t.Context(), authorizer.AttributesRecord{User: authn.NewInfo(user{Username: "ann"}), Verb: "get", Path: "/x"}, wanted)
		require.ErrorContains(t, err, want)
	}
}

// A 403 of an authorizer is the answer, and other errors are the reason of one.
func TestImpersonateWithErrors(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "users"}, "bob", errors.New("not today"))
	for want, by := range map[string]authorizer.AuthorizerFunc{
		forbidden.Error(): func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionDeny, "reason", forbidden
		},
		`forbidden: User "ann" cannot impersonate-on:user-info:get path "/x": failed: reason`: func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionNoOpinion, "reason", errors.New("failed")
		},
	} {
		_, err := authz.NewImpersonation(by).Impersonate(t.Context(), authorizer.AttributesRecord{User: authn.NewInfo(user{Username: "ann"}), Verb: "get", Path: "/x"}, user{Username: "bob"})
		require.EqualError(t, err, want)
	}
}

// The mode in which a user impersonated last is tried first. Its error is the answer, if no other
// mode is allowed.
func TestImpersonateInTheLastMode(t *testing.T) {
	by := &rights{allowed: []string{"impersonate /users/ /bob", "impersonate-on:user-info:get // /"}}
	ann := authorizer.AttributesRecord{User: authn.NewInfo(user{Username: "ann"}), Verb: "get", Path: "/x"}
	impersonation := authz.NewImpersonation(by)
	const (
		limited   = `users.authentication.k8s.io "carl" is forbidden: User "ann" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope`
		unlimited = `users "carl" is forbidden: User "ann" cannot impersonate resource "users" in API group "" at the cluster scope`
	)
	_, err := impersonation.Impersonate(t.Context(), ann, user{Username: "carl"})
	require.EqualError(t, err, limited)
	_, err = impersonation.Impersonate(t.Context(), ann, user{Username: "bob"})
	require.NoError(t, err)
	_, err = impersonation.Impersonate(t.Context(), ann, user{Username: "carl"})
	require.EqualError(t, err, unlimited)

	by.allowed = append(by.allowed, "impersonate:user-info authentication.k8s.io/users/ /carl")
	_, err = impersonation.Impersonate(t.Context(), ann, user{Username: "carl"})
	require.NoError(t, err)
	_, err = impersonation.Impersonate(t.Context(), ann, user{Username: "dave"})
	require.ErrorContains(t, err, "cannot impersonate:user-info")
}

func TestWanted(t *testing.T) {
	_, ok, err := authz.RequestedImpersonation(http.Header{"Accept": {"a"}, "Impersonate-User": {""}})
	require.NoError(t, err)
	require.False(t, ok)
	got, ok, err := authz.RequestedImpersonation(http.Header{
		"Impersonate-User": {"bob"}, "Impersonate-Uid": {"7"}, "Impersonate-Group": {"a", "b"},
		"Impersonate-Extra-Acme.com%2fteam": {"x"}, "Impersonate-Extra-Bad%2": {"y"},
	})
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, user{Username: "bob", UID: "7", Groups: []string{"a", "b"}, Extra: extra{"acme.com/team": {"x"}, "bad%2": {"y"}}}, got)
}
