package fakeapi_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
)

// listPods is a manifest with a ClusterRole that may list pods, bound to the user ann, the group
// team-a and the service account default/robot.
const listPods = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: list-pods}
rules:
- {apiGroups: [""], resources: [pods], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: list-pods}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: list-pods}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: team-a}
- {kind: ServiceAccount, name: robot, namespace: default}
`

// errorOfList lists pods or other objects of the core group in all namespaces, and returns the
// error.
func errorOfList(t *testing.T, config *rest.Config, resource string) error {
	t.Helper()
	return kubernetes.NewForConfigOrDie(config).CoreV1().RESTClient().Get().Resource(resource).Do(t.Context()).Error()
}

// codeOf returns the code of a GET.
func codeOf(t *testing.T, config *rest.Config, path string) (code int) {
	t.Helper()
	kubernetes.NewForConfigOrDie(config).RESTClient().Get().AbsPath(path).Do(t.Context()).StatusCode(&code)
	return code
}

// requireForbidden requires the 403 of listing objects of the core group.
func requireForbidden(t *testing.T, err error, user, resource string) {
	t.Helper()
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	require.EqualError(t, err, fmt.Sprintf("%s is forbidden: User %q cannot list resource %[1]q in API group \"\" at the cluster scope", resource, user))
}

// With RBAC the bootstrap policy decides what users without credentials and without bindings may
// do.
func TestRBACOfAnonymous(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC())
	ann, err := srv.RESTConfigWithCertificate("ann")
	require.NoError(t, err)
	for path, want := range map[string][2]int{
		"/version": {200, 200}, "/livez": {200, 200}, "/api": {403, 200}, "/openapi/v3": {403, 200}, "/metrics": {403, 403},
	} {
		require.Equal(t, want, [2]int{codeOf(t, srv.RESTConfigWithToken(""), path), codeOf(t, ann, path)}, path)
	}
}

// With RBAC the server's own clients are those of the administrator. Users have the rights of their
// bindings, with a certificate, a token or by impersonation, on the server and its replicas.
func TestRBACUsers(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithRBAC(), fakeapi.WithYAML(listPods))
	replica, err := srv.Replica()
	require.NoError(t, err)
	for _, s := range []*fakeapi.Server{srv, replica.Server} {
		admin, err := whoami(t, s.RESTConfig())
		require.NoError(t, err)
		require.Equal(t, "system:admin", admin.Username)
		require.Equal(t, []string{"system:masters", "system:authenticated"}, admin.Groups)
		require.NoError(t, errorOfList(t, s.RESTConfig(), "secrets"))
		code, _, _ := send(t, s, "GET", "/api/v1/secrets", "", nil)
		require.Equal(t, 200, code)

		robot, err := s.RESTConfigForServiceAccount("default", "robot")
		require.NoError(t, err)
		ann, err := s.RESTConfigWithCertificate("ann")
		require.NoError(t, err)
		eve, err := s.RESTConfigWithCertificate("eve", "team-a")
		require.NoError(t, err)
		bob := s.RESTConfig()
		bob.Impersonate = rest.ImpersonationConfig{UserName: "bob", Groups: []string{"team-a"}}
		for user, config := range map[string]*rest.Config{
			"system:serviceaccount:default:robot": robot, "ann": ann, "eve": eve, "bob": bob,
		} {
			require.NoError(t, errorOfList(t, config, "pods"), user)
			requireForbidden(t, errorOfList(t, config, "secrets"), user, "secrets")
		}
	}
}

// A client without its credentials is not the administrator, but system:anonymous. Invalid
// credentials are refused.
func TestRBACAuthenticates(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithRBAC(), fakeapi.WithControlAPI())
	requireForbidden(t, errorOfList(t, srv.RESTConfigWithToken(""), "pods"), "system:anonymous", "pods")
	require.True(t, apierrors.IsUnauthorized(errorOfList(t, srv.RESTConfigWithToken("some"), "pods")))
	require.Equal(t, 401, codeOf(t, srv.RESTConfigWithToken(""), "/fakeapi/v1/hits"), "the control API has no anonymous users")
	require.Equal(t, 200, codeOf(t, srv.RESTConfig(), "/fakeapi/v1/hits"))
	require.NoError(t, srv.AddToken(annToken))
	user, err := whoami(t, srv.RESTConfigWithToken(annToken.Value))
	require.NoError(t, err)
	require.Equal(t, "ann", user.Username)
}

// The first of several tokens is that of the server's own clients, also with RBAC.
func TestRBACWithTokens(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML(listPods), fakeapi.WithTokens(annToken), fakeapi.WithRBAC())
	require.NoError(t, errorOfList(t, srv.RESTConfig(), "pods"))
	requireForbidden(t, errorOfList(t, srv.RESTConfig(), "secrets"), "ann", "secrets")
	admin, err := srv.RESTConfigWithCertificate("system:admin", "system:masters")
	require.NoError(t, err)
	require.NoError(t, errorOfList(t, admin, "secrets"))
}

// A change of a binding counts at once, and a restore of its snapshot brings it back. A fork has
// the bindings of its original, and its own options.
func TestRBACSnapshots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC(), fakeapi.WithYAML(listPods))
		robot, err := srv.RESTConfigForServiceAccount("default", "robot")
		require.NoError(t, err)
		bindings := kubernetes.NewForConfigOrDie(srv.RESTConfig()).RbacV1().ClusterRoleBindings()
		before := srv.Snapshot()
		require.NoError(t, bindings.Delete(t.Context(), "list-pods", metav1.DeleteOptions{}))
		requireForbidden(t, errorOfList(t, robot, "pods"), "system:serviceaccount:default:robot", "pods")
		require.NoError(t, srv.Restore(before, 1000))
		require.NoError(t, errorOfList(t, robot, "pods"))

		fork, err := srv.Fork(fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC())
		require.NoError(t, err)
		t.Cleanup(func() { _ = fork.Close() })
		require.NoError(t, bindings.Delete(t.Context(), "list-pods", metav1.DeleteOptions{}))
		robot, err = fork.RESTConfigForServiceAccount("default", "robot")
		require.NoError(t, err)
		require.NoError(t, errorOfList(t, robot, "pods"))
		require.Error(t, errorOfList(t, robot, "secrets"))
		open, err := srv.Fork(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		t.Cleanup(func() { _ = open.Close() })
		require.NoError(t, errorOfList(t, open.RESTConfigWithToken(""), "secrets"))
	})
}

// The modes are asked in their order, after the function of WithAuthorizer. Those of a list with
// AlwaysAllow have no anonymous users, as in kube-apiserver.
func TestAuthorizationModes(t *testing.T) {
	deny := fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetResource() == "nodes" {
			return authorizer.DecisionDeny, "no nodes", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	}))
	const rbac, allow, never = fakeapi.ModeRBAC, fakeapi.ModeAlwaysAllow, fakeapi.ModeAlwaysDeny
	for _, test := range []struct {
		modes                  []fakeapi.AuthorizationMode
		pods, secrets, unnamed int // the codes of lists of ann, and of one of pods without credentials
	}{
		{[]fakeapi.AuthorizationMode{rbac}, 200, 403, 403},
		{[]fakeapi.AuthorizationMode{rbac, never}, 200, 403, 403},
		{[]fakeapi.AuthorizationMode{never, rbac}, 200, 403, 403},
		{[]fakeapi.AuthorizationMode{rbac, allow}, 200, 200, 401},
		{[]fakeapi.AuthorizationMode{never}, 403, 403, 403},
	} {
		t.Run(fmt.Sprint(test.modes), func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithAuthorizationModes(test.modes...), deny, fakeapi.WithYAML(listPods))
			ann, err := srv.RESTConfigWithCertificate("ann")
			require.NoError(t, err)
			require.Equal(t, test.pods, codeOf(t, ann, "/api/v1/pods"))
			require.Equal(t, test.secrets, codeOf(t, ann, "/api/v1/secrets"))
			require.Equal(t, 403, codeOf(t, ann, "/api/v1/nodes"))
			require.Equal(t, test.unnamed, codeOf(t, srv.RESTConfigWithToken(""), "/api/v1/pods"))
			require.Equal(t, 200, codeOf(t, srv.RESTConfig(), "/api/v1/nodes"))
			if test.modes[0] == never && len(test.modes) == 1 {
				require.Equal(t, 403, codeOf(t, ann, "/version"))
			}
		})
	}
	open := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithAuthorizationModes(allow, rbac))
	require.Regexp(t, "^http://", open.URL())
	require.NoError(t, errorOfList(t, open.RESTConfig(), "secrets"))
}

func TestInvalidAuthorizationModes(t *testing.T) {
	for want, modes := range map[string][]fakeapi.AuthorizationMode{
		`at least one authorization mode`: nil,
		`authorization mode "ABAC" is not one of [AlwaysAllow AlwaysDeny Node RBAC]: it needs a policy file`: {"ABAC"},
		`authorization mode "Webhook" is not one of [AlwaysAllow AlwaysDeny Node RBAC]: pass the authorizer`: {"Webhook"},
		`authorization mode "rbac" is not one of`:                                                            {"rbac"},
		`authorization mode "RBAC" is specified more than once`:                                              {fakeapi.ModeRBAC, fakeapi.ModeRBAC},
	} {
		_, err := fakeapi.New(fakeapi.WithAuthorizationModes(modes...))
		require.ErrorContains(t, err, want)
	}
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC())
	_, err := srv.Replica(fakeapi.WithRBAC())
	require.ErrorContains(t, err, "a replica has the users of its server")
}

// Rights change while requests are served.
func TestRBACChangesDuringRequests(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC(), fakeapi.WithYAML(listPods))
	robot, err := srv.RESTConfigForServiceAccount("default", "robot")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 4)
	for range cap(done) {
		go func() {
			client := kubernetes.NewForConfigOrDie(robot).CoreV1()
			for ctx.Err() == nil {
				if _, err := client.Pods("").List(ctx, metav1.ListOptions{}); err != nil && !apierrors.IsForbidden(err) && ctx.Err() == nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	admin := kubernetes.NewForConfigOrDie(srv.RESTConfig()).RbacV1()
	binding, err := admin.ClusterRoleBindings().Get(ctx, "list-pods", metav1.GetOptions{})
	require.NoError(t, err)
	binding.ObjectMeta = metav1.ObjectMeta{Name: binding.Name}
	for range 20 {
		require.NoError(t, admin.ClusterRoleBindings().Delete(ctx, binding.Name, metav1.DeleteOptions{}))
		requireForbidden(t, errorOfList(t, robot, "pods"), "system:serviceaccount:default:robot", "pods")
		_, err = admin.ClusterRoleBindings().Create(ctx, binding.DeepCopy(), metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, errorOfList(t, robot, "pods"))
		_, err = admin.ClusterRoles().Update(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "list-pods"}}, metav1.UpdateOptions{})
		require.NoError(t, err)
		requireForbidden(t, errorOfList(t, robot, "pods"), "system:serviceaccount:default:robot", "pods")
		_, err = admin.ClusterRoles().Update(ctx, &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "list-pods"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"pods"}, Verbs: []string{"*"}}},
		}, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	cancel()
	for range cap(done) {
		require.NoError(t, <-done)
	}
}

// In memory and on virtual time, a token of a service account is valid for years, until the test
// expires it.
func TestRBACOnVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC(), fakeapi.WithYAML(listPods))
		first, err := srv.RESTConfigForServiceAccount("default", "robot")
		require.NoError(t, err)
		second, err := srv.RESTConfigForServiceAccount("default", "robot")
		require.NoError(t, err)
		time.Sleep(9 * 365 * 24 * time.Hour)
		require.NoError(t, errorOfList(t, first, "pods"))
		require.NoError(t, srv.ExpireToken(first.BearerToken))
		require.True(t, apierrors.IsUnauthorized(errorOfList(t, first, "pods")))
		require.NoError(t, errorOfList(t, second, "pods"))
	})
}
