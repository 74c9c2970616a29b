package fakeapi_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// newRole returns a Role that allows verbs on a resource of the core group.
func newRole(name, resource string, verbs ...string) *rbacv1.Role {
	return &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{resource}, Verbs: verbs}},
	}
}

// newRoleBinding returns a RoleBinding of a Role to a user.
func newRoleBinding(name, role, user string) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role},
	}
}

// With another authorizer than RBAC, the permissions that a user can grant are still those of the
// stored roles.
func TestEscalationWithAuthorizer(t *testing.T) {
	var asked []string
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(
		func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
			if a.GetVerb() == "escalate" || a.GetVerb() == "bind" {
				asked = append(asked, fmt.Sprintf("%s %s.%s/%s %s/%s", a.GetVerb(), a.GetResource(), a.GetAPIGroup(), a.GetAPIVersion(), a.GetNamespace(), a.GetName()))
				return authorizer.DecisionNoOpinion, "", nil
			}
			return authorizer.DecisionAllow, "", nil
		})), fakeapi.WithObjects(newRole("reader", "pods", "get", "list"), newRoleBinding("reader", "reader", "bob"), newRole("writer", "pods", "update")))
	roles, bindings := impersonatingClient(srv, "bob").RbacV1().Roles("default"), impersonatingClient(srv, "bob").RbacV1().RoleBindings("default")

	_, err := roles.Create(t.Context(), newRole("a", "pods", "list"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = roles.Update(t.Context(), newRole("a", "pods", "get", "watch"), metav1.UpdateOptions{})
	require.EqualError(t, err, `roles.rbac.authorization.k8s.io "a" is forbidden: user "bob" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:`+"\n"+
		`{APIGroups:[""], Resources:["pods"], Verbs:["watch"]}`)
	_, err = bindings.Create(t.Context(), newRoleBinding("b", "reader", "eve"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = bindings.Create(t.Context(), newRoleBinding("c", "writer", "eve"), metav1.CreateOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	require.Equal(t, []string{
		"escalate roles.rbac.authorization.k8s.io/* default/", "escalate roles.rbac.authorization.k8s.io/* default/a",
		"bind roles.rbac.authorization.k8s.io/* default/reader", "bind roles.rbac.authorization.k8s.io/* default/writer",
	}, asked)
}

// Without an authorizer every user can grant everything, except that a binding must refer to a kind
// of role, which is read first.
func TestEscalationWithoutAuthorizer(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	_, err := impersonatingClient(srv, "bob").RbacV1().Roles("default").Create(t.Context(), newRole("a", "*", "*"), metav1.CreateOptions{})
	require.NoError(t, err)
	bindings := impersonatingClient(srv, "bob").RbacV1().RoleBindings("default")
	_, err = bindings.Create(t.Context(), newRoleBinding("b", "missing", "bob"), metav1.CreateOptions{})
	require.NoError(t, err)
	other := newRoleBinding("c", "a", "bob")
	other.RoleRef.Kind = "Other"
	_, err = bindings.Create(t.Context(), other, metav1.CreateOptions{})
	require.ErrorContains(t, err, `unsupported role reference kind: "Other"`)
	require.Equal(t, metav1.StatusReasonUnknown, apierrors.ReasonForError(err))
	_, err = kubernetes.NewForConfigOrDie(srv.RESTConfig()).RbacV1().RoleBindings("default").Create(t.Context(), other, metav1.CreateOptions{})
	require.True(t, apierrors.IsInvalid(err), "%v", err)
}

// startWithGrantor starts a server with RBAC on which the user ann may write roles and bindings.
func startWithGrantor(t *testing.T) *fakeapi.Server {
	all := rbacv1.PolicyRule{
		APIGroups: []string{rbacv1.GroupName}, Resources: []string{"roles", "rolebindings", "clusterroles", "clusterrolebindings"},
		Verbs: []string{"get", "create", "update", "patch", "delete"},
	}
	return fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC(), fakeapi.WithObjects(
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "grantor"}, Rules: []rbacv1.PolicyRule{all}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "grantor"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "ann"}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "grantor"},
		}))
}

// A binding whose role cannot be read is refused with the error of the read, before it is
// validated.
func TestBindingToUnreadableRole(t *testing.T) {
	srv := startWithGrantor(t)
	for _, c := range []struct {
		binding rbacv1.RoleRef
		want    string
	}{
		{rbacv1.RoleRef{Kind: "Role", Name: "r"}, "Namespace parameter required."},
		{rbacv1.RoleRef{Kind: "ClusterRole"}, "Name parameter required."},
		{rbacv1.RoleRef{Kind: "ClusterRole", Name: "a/b"}, `Name parameter invalid: "a/b": may not contain '/'`},
		{rbacv1.RoleRef{Kind: "ClusterRole", Name: "gone"}, `clusterrolebindings.rbac.authorization.k8s.io "gone" not found`},
		{rbacv1.RoleRef{}, `unsupported role reference kind: ""`},
	} {
		_, err := impersonatingClient(srv, "ann").RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "b"}, RoleRef: c.binding,
		}, metav1.CreateOptions{})
		require.ErrorContains(t, err, c.want)
	}
}

// A role can have more permissions than can be compared.
func TestTooManyPermissions(t *testing.T) {
	srv := startWithGrantor(t)
	many := make([]string, 2000)
	for i := range many {
		many[i] = fmt.Sprintf("a%d", i)
	}
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "r", Namespace: "default"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: many, Resources: many, Verbs: many}},
	}
	_, err := impersonatingClient(srv, "ann").RbacV1().Roles("default").Create(t.Context(), role, metav1.CreateOptions{})
	require.True(t, apierrors.IsRequestEntityTooLargeError(err), "%v", err)
	_, err = kubernetes.NewForConfigOrDie(srv.RESTConfig()).RbacV1().Roles("default").Create(t.Context(), role, metav1.CreateOptions{})
	require.NoError(t, err)
}

// An update that changes nothing is checked for each user who sends it.
func TestEscalationByUpdateWithoutChange(t *testing.T) {
	srv := startWithGrantor(t)
	admin := kubernetes.NewForConfigOrDie(srv.RESTConfig()).RbacV1().Roles("default")
	_, err := admin.Create(t.Context(), newRole("r", "secrets", "get"), metav1.CreateOptions{})
	require.NoError(t, err)
	for range 3 {
		_, err = admin.Update(t.Context(), newRole("r", "secrets", "get"), metav1.UpdateOptions{})
		require.NoError(t, err)
		_, err = impersonatingClient(srv, "ann").RbacV1().Roles("default").Update(t.Context(), newRole("r", "secrets", "get"), metav1.UpdateOptions{})
		require.True(t, apierrors.IsForbidden(err), "%v", err)
	}
}

// A replica decides requests by the roles in its view, and escalation by those in the store.
func TestEscalationOnReplica(t *testing.T) {
	srv := startWithGrantor(t)
	replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
	require.NoError(t, err)
	replica.Freeze()
	admin := kubernetes.NewForConfigOrDie(srv.RESTConfig()).RbacV1()
	_, err = admin.Roles("default").Create(t.Context(), newRole("reader", "secrets", "list"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = admin.RoleBindings("default").Create(t.Context(), newRoleBinding("reader", "reader", "ann"), metav1.CreateOptions{})
	require.NoError(t, err)

	ann := impersonatingClient(replica.Server, "ann")
	_, err = ann.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	_, err = ann.RbacV1().Roles("default").Create(t.Context(), newRole("r", "secrets", "list"), metav1.CreateOptions{})
	require.NoError(t, err)
	replica.CatchUp()
	_, err = ann.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
}

// Roles and bindings change while requests are decided by them. A request that is sent after the
// response to a change sees the change.
func TestAuthorizationDuringChanges(t *testing.T) {
	srv := startWithGrantor(t)
	admin := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	_, err := admin.RbacV1().Roles("default").Create(t.Context(), newRole("base", "configmaps", "create", "list"), metav1.CreateOptions{})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for i := range 4 { // each user is bound and unbound
		user := fmt.Sprintf("user-%d", i)
		wg.Go(func() {
			client := impersonatingClient(srv, user).CoreV1().ConfigMaps("default")
			for range 20 {
				_, err := admin.RbacV1().RoleBindings("default").Create(t.Context(), newRoleBinding(user, "base", user), metav1.CreateOptions{})
				assert.NoError(t, err)
				_, err = client.List(t.Context(), metav1.ListOptions{})
				assert.NoError(t, err)
				assert.NoError(t, admin.RbacV1().RoleBindings("default").Delete(t.Context(), user, metav1.DeleteOptions{}))
				_, err = client.List(t.Context(), metav1.ListOptions{})
				assert.True(t, apierrors.IsForbidden(err), "%v", err)
			}
		})
	}
	wg.Go(func() { // ann can grant what she has at the moment
		roles := impersonatingClient(srv, "ann").RbacV1().Roles("default")
		for i := range 20 {
			_, err := admin.RbacV1().RoleBindings("default").Create(t.Context(), newRoleBinding("ann", "base", "ann"), metav1.CreateOptions{})
			assert.NoError(t, err)
			_, err = roles.Create(t.Context(), newRole(fmt.Sprintf("granted-%d", i), "configmaps", "list"), metav1.CreateOptions{})
			assert.NoError(t, err)
			assert.NoError(t, admin.RbacV1().RoleBindings("default").Delete(t.Context(), "ann", metav1.DeleteOptions{}))
			_, err = roles.Create(t.Context(), newRole(fmt.Sprintf("refused-%d", i), "configmaps", "list"), metav1.CreateOptions{})
			assert.True(t, apierrors.IsForbidden(err), "%v", err)
		}
	})
	wg.Wait()
	list, err := admin.RbacV1().Roles("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, slices.DeleteFunc(list.Items, func(r rbacv1.Role) bool { return !strings.HasPrefix(r.Name, "granted-") }), 20)
	require.False(t, slices.ContainsFunc(list.Items, func(r rbacv1.Role) bool { return strings.HasPrefix(r.Name, "refused-") }))
}

// A fork has the roles and bindings of the original at the time of the fork.
func TestEscalationInFork(t *testing.T) {
	srv := startWithGrantor(t)
	fork, err := srv.Fork(fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC())
	require.NoError(t, err)
	defer func() { require.NoError(t, fork.Close()) }()
	admin := kubernetes.NewForConfigOrDie(srv.RESTConfig()).RbacV1()
	require.NoError(t, admin.ClusterRoleBindings().Delete(t.Context(), "grantor", metav1.DeleteOptions{}))
	_, err = impersonatingClient(srv, "ann").RbacV1().Roles("default").Create(t.Context(), newRole("r", "pods"), metav1.CreateOptions{})
	require.EqualError(t, err, `roles.rbac.authorization.k8s.io is forbidden: User "ann" cannot create resource "roles" in API group "rbac.authorization.k8s.io" in the namespace "default"`)
	empty := newRole("r", "pods")
	empty.Rules = nil
	_, err = impersonatingClient(fork, "ann").RbacV1().Roles("default").Create(t.Context(), empty, metav1.CreateOptions{})
	require.NoError(t, err)
}
