package kubectl_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	fakeapi "example.com/fakeapi/fake"
)

// readers is an authorizer that allows bob to read ConfigMaps in default, and everybody to use
// discovery and the review APIs.
func readers(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	switch {
	case !a.IsResourceRequest(), a.GetAPIGroup() == "authorization.k8s.io", a.GetAPIGroup() == "authentication.k8s.io":
		return authorizer.DecisionAllow, "", nil
	case a.GetUser().GetName() == "bob" && a.GetResource() == "configmaps" && a.GetNamespace() == "default" && (a.GetVerb() == "get" || a.GetVerb() == "list"):
		return authorizer.DecisionAllow, "bob reads", nil
	case a.GetResource() == "secrets":
		return authorizer.DecisionDeny, "access to secrets is denied", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// kubectl auth can-i checks the user, impersonated users and non-resource paths.
func TestAuthCanI(t *testing.T) {
	u := newUser(t, fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(readers)))
	require.Equal(t, "yes\n", u.do("auth", "can-i", "delete", "secrets"))
	require.Equal(t, "yes\n", u.do("auth", "can-i", "list", "configmaps", "--as", "bob"))
	require.Equal(t, "yes\n", u.do("auth", "can-i", "get", "/metrics", "--as", "bob"))
	no := func(want string, args ...string) {
		t.Helper()
		r := u.try(append([]string{"auth", "can-i"}, args...)...)
		require.Equal(t, result{out: want, err: r.err, code: 1}, r)
	}
	no("no\n", "list", "configmaps", "--as", "bob", "-n", "kube-system")
	no("no\n", "list", "pods", "--as", "bob")
	no("no - access to secrets is denied\n", "get", "secrets", "--as", "bob")
	no("no\n", "list", "configmaps", "--as", "carol")

	require.Contains(t, collapseSpaces(u.do("auth", "can-i", "--list")), "*.* [] [] [*]")
	listed := u.try("auth", "can-i", "--list", "--as", "bob")
	require.Zero(t, listed.code)
	require.Contains(t, listed.err, "Warning: the list may be incomplete: the authorizer is a function")
}

// kubectl auth whoami prints the user of the request, also with impersonation.
func TestAuthWhoami(t *testing.T) {
	u := newUser(t)
	require.Equal(t, "ATTRIBUTE VALUE\nUsername system:admin\nGroups [system:masters system:authenticated]", collapseSpaces(u.do("auth", "whoami")))
	require.Equal(t, "ATTRIBUTE VALUE\nUsername system:serviceaccount:ns:sa\nGroups [system:serviceaccounts system:serviceaccounts:ns system:authenticated]",
		collapseSpaces(u.do("auth", "whoami", "--as", "system:serviceaccount:ns:sa")))
	require.Equal(t, "bob [a b system:authenticated] 7 [x y]", u.do("auth", "whoami", "--as", "bob", "--as-group", "a", "--as-group", "b", "--as-uid", "7", "--as-user-extra", "scope=x", "--as-user-extra", "scope=y",
		"-o", `jsonpath={.status.userInfo.username} [{.status.userInfo.groups[0]} {.status.userInfo.groups[1]} {.status.userInfo.groups[2]}] {.status.userInfo.uid} [{.status.userInfo.extra.scope[0]} {.status.userInfo.extra.scope[1]}]`))
}

// kubectl prints the Forbidden messages that the server sends for impersonated users.
func TestDenials(t *testing.T) {
	u := newUser(t, fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(readers)))
	u.do("create", "configmap", "a", "--from-literal=k=v")
	require.Equal(t, "configmap/a\n", u.do("get", "configmaps", "a", "-o", "name", "--as", "bob"))
	require.Equal(t, `Error from server (Forbidden): configmaps "a" is forbidden: User "bob" cannot delete resource "configmaps" in API group "" in the namespace "default"`+"\n",
		u.doRefused("delete", "configmap", "a", "--as", "bob"))
	require.Equal(t, `Error from server (Forbidden): configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" at the cluster scope`+"\n",
		u.doRefused("get", "configmaps", "-A", "--as", "bob"))
	require.Equal(t, `error: failed to create secret secrets is forbidden: User "bob" cannot create resource "secrets" in API group "" in the namespace "default": access to secrets is denied`+"\n",
		u.doRefused("create", "secret", "generic", "s", "--as", "bob"))
}

// The kubeconfig has the client certificate of the administrator. Flags select the certificate of
// another user.
func TestClientCertificates(t *testing.T) {
	u := newUser(t, fakeapi.WithClientCA())
	require.Equal(t, "system:admin", u.do("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"))
	cert, key, err := u.srv.IssueClientCertificate(0, "ann", "team-a")
	require.NoError(t, err)
	certFile, keyFile := filepath.Join(u.home, "cert"), filepath.Join(u.home, "key")
	require.NoError(t, os.WriteFile(certFile, cert, 0o600))
	require.NoError(t, os.WriteFile(keyFile, key, 0o600))
	require.Equal(t, "ann team-a", u.do("auth", "whoami", "--client-certificate", certFile, "--client-key", keyFile,
		"-o", "jsonpath={.status.userInfo.username} {.status.userInfo.groups[0]}"))
}
