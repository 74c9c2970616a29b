package handlers

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/crd/registry"
	"example.com/fakeapi/fake/internal/ids"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/fake/internal/webhookclient"
	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/memstore"
)

// observedGrant is what ObserveGrant is called with.
type observedGrant struct {
	User, Verb, Resource, Namespace, Name string
	Rules                                 []rbacv1.PolicyRule
	Allowed                               bool
}

// startObserved returns an API that records grants and the creates that are authorized.
func startObserved(t *testing.T, modes ...authz.Mode) (a *API, grants *[]observedGrant, questions *[]string) {
	grants, questions = new([]observedGrant), new([]string)
	a = New(memstore.New(memstore.Options{}), registry.New(builtin.Table(), webhookclient.Network{}), ids.New([32]byte{1}), Settings{
		Authorization: authz.Config{Modes: modes},
		ObserveGrant: func(_ context.Context, a authorizer.Attributes, rules []rbacv1.PolicyRule, allowed bool) {
			*grants = append(*grants, observedGrant{a.GetUser().GetName(), a.GetVerb(), a.GetResource(), a.GetNamespace(), a.GetName(), rules, allowed})
		},
		ObserveAuthorization: func(_ context.Context, a authorizer.Attributes, _ authorizer.Decision, _ string) {
			*questions = append(*questions, strings.Join([]string{a.GetUser().GetName(), a.GetVerb(), a.GetResource(), a.GetNamespace(), a.GetName()}, " "))
		},
	})
	require.NoError(t, a.LoadSystem())
	return a, grants, questions
}

// sendAs sends a request of a user, who was authorized before. Root is in system:masters.
func sendAs(t *testing.T, a *API, name, method, path, body string) int {
	t.Helper()
	u := authenticationv1.UserInfo{Username: name}
	if name == "root" {
		u.Groups = []string{user.SystemPrivilegedGroup}
	}
	r := httptest.NewRequestWithContext(authn.WithUser(t.Context(), u), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", map[string]string{"PATCH": "application/merge-patch+json"}[method])
	if strings.Contains(path, "fieldManager") {
		r.Header.Set("Content-Type", "application/apply-patch+yaml")
	}
	w := httptest.NewRecorder()
	a.Serve(w, r, requestinfo.Parse(r.Method, r.URL.Path, r.URL.Query()))
	return w.Code
}

const (
	rolesPath        = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"
	bindingsPath     = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings"
	clusterRolesPath = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
)

// The grants of all users are observed, also without an authorizer. The fields of the garbage
// collector grant nothing.
func TestGrantsAreObserved(t *testing.T) {
	pods := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}
	all := []string{"*"}
	for _, modes := range [][]authz.Mode{nil, {authz.ModeAlwaysAllow}, {authz.ModeRBAC}} {
		a, grants, _ := startObserved(t, modes...)
		steps := []struct {
			method, path, body string
			want               *observedGrant
		}{
			{"POST", rolesPath, `{"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`, &observedGrant{"root", "escalate", "roles", "default", "", pods, true}},
			{"PATCH", rolesPath + "/r", `{"metadata":{"finalizers":["example.com/x"]}}`, nil},
			{"PATCH", rolesPath + "/r", `{"metadata":{"labels":{"a":"b"}}}`, &observedGrant{"root", "escalate", "roles", "default", "r", pods, true}},
			{"PUT", rolesPath + "/s", `{"metadata":{"name":"s"},"rules":[]}`, &observedGrant{"root", "escalate", "roles", "default", "s", nil, true}},
			{"PATCH", rolesPath + "/s?fieldManager=m", `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role"}`, nil},
			{"POST", bindingsPath + "?dryRun=All", `{"metadata":{"name":"b"},"roleRef":{"kind":"Role","name":"r"}}`, &observedGrant{"root", "bind", "roles", "default", "r", pods, true}},
			{"POST", bindingsPath, `{"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"gone"}}`, &observedGrant{"root", "bind", "clusterroles", "default", "gone", nil, true}},
			{"POST", clusterRolesPath, `{"metadata":{"name":"c"},"rules":[{"nonResourceURLs":["/a"],"verbs":["get"]}],"aggregationRule":{"clusterRoleSelectors":[{}]}}`, &observedGrant{"root", "escalate", "clusterroles", "", "", []rbacv1.PolicyRule{
				{NonResourceURLs: []string{"/a"}, Verbs: []string{"get"}}, {Verbs: all, APIGroups: all, Resources: all}, {Verbs: all, NonResourceURLs: all},
			}, true}},
			{"DELETE", rolesPath + "/s", "", nil},
			{"POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"c"}}`, nil},
		}
		for _, s := range steps {
			*grants = nil
			require.Less(t, sendAs(t, a, "root", s.method, s.path, s.body), 300, "%s %s", s.method, s.path)
			var want []observedGrant
			if s.want != nil {
				want = append(want, *s.want)
			}
			require.Empty(t, cmp.Diff(want, *grants, cmp.Transformer("empty", func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
				return append([]rbacv1.PolicyRule{}, rules...)
			})), "%s %s", s.method, s.path)
		}
	}
}

// A refused grant is observed too. The questions for escalate and bind are not: they are not about
// the request.
func TestRefusedGrantsAreObserved(t *testing.T) {
	a, grants, questions := startObserved(t, authz.ModeRBAC)
	code := sendAs(t, a, "ann", "POST", rolesPath, `{"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`)
	require.Equal(t, http.StatusForbidden, code)
	require.Len(t, *grants, 1)
	require.Equal(t, "ann", (*grants)[0].User)
	require.False(t, (*grants)[0].Allowed)
	require.Empty(t, *questions)
}

// The right to create by an update is asked of the observed authorizer, once, and only if there is
// no object.
func TestCreateByUpdateIsObserved(t *testing.T) {
	a, _, questions := startObserved(t, authz.ModeRBAC)
	const path = "/api/v1/namespaces/default/configmaps/a"
	body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`
	require.Equal(t, http.StatusForbidden, sendAs(t, a, "ann", "PATCH", path+"?fieldManager=m", body))
	require.Equal(t, []string{"ann create configmaps default a"}, *questions)
	require.Equal(t, http.StatusCreated, sendAs(t, a, "root", "PATCH", path+"?fieldManager=m", body))
	require.Equal(t, []string{"ann create configmaps default a", "root create configmaps default a"}, *questions)
	require.Equal(t, http.StatusOK, sendAs(t, a, "ann", "PATCH", path+"?fieldManager=m", body))
	require.Equal(t, http.StatusNotFound, sendAs(t, a, "ann", "PATCH", path+"b", `{}`))
	require.Len(t, *questions, 2)
}
