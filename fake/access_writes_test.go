package fakeapi_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/fake/access"
)

// verbsOf returns the accesses of a report without the user as text.
func verbsOf(r access.Report) (all []string) {
	for _, a := range r.Accesses {
		all = append(all, fmt.Sprintf("%s %s/%s %q +%d -%d", a.Verb, a.Namespace, a.Resource, a.Names, a.Allowed, a.Denied))
	}
	return all
}

// A PUT or an apply that creates an object needs the permission to create it, which the report has
// also on a server that allows everything.
func TestAccessOfCreationByUpdate(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	client := clientOf(srv.RESTConfig(), "test")
	for range 2 {
		_, err := client.CoreV1().ConfigMaps("default").Apply(t.Context(), applycorev1.ConfigMap("a", "default"), metav1.ApplyOptions{FieldManager: "test"})
		require.NoError(t, err)
		code, _, _ := send(t, srv, "PUT", "/api/v1/namespaces/default/endpoints/a", "application/json", []byte(`{"metadata":{"name":"a"}}`))
		require.Less(t, code, 300)
	}
	require.Equal(t, []string{`create default/configmaps ["a"] +1 -0`, `patch default/configmaps ["a"] +2 -0`}, verbsOf(srv.Access().Of("test")))
	require.Equal(t, []string{`create default/endpoints ["a"] +1 -0`, `update default/endpoints ["a"] +2 -0`}, verbsOf(srv.Access().Of("Go-http-client")))
}

// Who writes a role or a binding needs to have its permissions, or the verb escalate or bind.
func TestAccessOfGrants(t *testing.T) {
	rules := []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "r", Namespace: "default"}, Rules: rules}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "r"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "a"}},
	}
	write := func(srv *fakeapi.Server, token string) error {
		client := clientOf(srv.RESTConfigWithToken(token), "test").RbacV1()
		_, err := client.Roles("default").Create(t.Context(), role, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		_, err = client.RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{})
		return err
	}
	grants := func(srv *fakeapi.Server) (all access.Report) {
		for _, a := range srv.Access().Of("test").Accesses {
			if a.Verb == "escalate" || a.Verb == "bind" {
				require.Equal(t, rules, a.Grants)
				all.Accesses = append(all.Accesses, a)
			} else {
				require.Empty(t, a.Grants)
			}
		}
		return all
	}
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	require.NoError(t, write(srv, ""))
	require.Equal(t, []string{`bind default/roles ["r"] +1 -0`, `escalate default/roles [""] +1 -0`}, verbsOf(grants(srv)))

	srv = fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC(), fakeapi.WithTokens(annToken, rootToken), fakeapi.WithObjects(
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "roles"},
			Rules:      []rbacv1.PolicyRule{{Verbs: []string{"create"}, APIGroups: []string{rbacv1.GroupName}, Resources: []string{"roles", "rolebindings"}}},
		},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "roles"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "roles"},
			Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "ann"}},
		}))
	require.True(t, apierrors.IsForbidden(write(srv, annToken.Value)))
	require.Equal(t, []string{`escalate default/roles [""] +0 -1`}, verbsOf(grants(srv)))
	require.EqualValues(t, 1, grants(srv).Accesses[0].FirstDenied)
	require.NoError(t, write(srv, rootToken.Value), "an administrator grants permissions, too")
	require.Equal(t, []string{
		`escalate default/roles [""] +0 -1`, `bind default/roles ["r"] +1 -0`, `escalate default/roles [""] +1 -0`,
	}, verbsOf(grants(srv)))
}

// The control API has the report as text and as JSON, all of it or that of a client, and removes
// it.
func TestControlAccess(t *testing.T) {
	c := newControlClient(t)
	_, err := clientOf(c.srv.RESTConfig(), "manager/v1").CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	_, err = clientOf(c.srv.RESTConfig(), "other/v1").CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, c.srv.Access().String(), c.call(200, "GET", "access", ""))
	require.Equal(t, c.srv.Access().Of("manager").String(), c.call(200, "GET", "access?client=manager", ""))
	require.Contains(t, c.call(200, "GET", "access?client=manager", ""), "nodes")
	require.Empty(t, c.call(200, "GET", "access?client=nothing", ""))

	var report access.Report
	c.getJSON("access?client=other", &report)
	require.Equal(t, c.srv.Access().Of("other"), report)
	require.Equal(t, c.srv.Access().String(), c.getAs("text/plain", "access?format=text"))
	require.JSONEq(t, c.getAs("application/json", "access"), c.call(200, "GET", "access?format=json", ""))
	manifests := c.getAs("application/yaml", "access?client=other&format=yaml")
	require.Contains(t, manifests, "kind: ClusterRoleBinding")
	require.Contains(t, manifests, "- pods\n")
	require.NotContains(t, manifests, "nodes")
	require.Contains(t, c.call(400, "GET", "access?format=xml", ""), `"reason":"BadRequest"`)

	c.call(204, "DELETE", "access", "")
	require.Empty(t, c.call(200, "GET", "access", ""))
	require.JSONEq(t, `{"accesses": []}`, c.getAs("application/json", "access"))
	c.call(405, "POST", "access", "")
}
