package kubectl_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// attempting is what a user is refused with who grants more than the user has.
func attempting(user string, rules ...string) string {
	return `is forbidden: user "` + user + `" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:` + "\n" + lines(rules...)
}

// newRoleWriter returns the administrator, and the user eve, who writes roles and bindings and has
// the ClusterRole view.
func newRoleWriter(t *testing.T) (admin, eve *user) {
	t.Helper()
	admin = newAdmin(t)
	admin.do("create", "clusterrole", "role-writer", "--verb=get,list,create,update,patch",
		"--resource=roles.rbac.authorization.k8s.io,clusterroles.rbac.authorization.k8s.io,rolebindings.rbac.authorization.k8s.io,clusterrolebindings.rbac.authorization.k8s.io")
	admin.do("create", "clusterrolebinding", "eve-writes", "--clusterrole=role-writer", "--user=eve")
	admin.do("create", "clusterrolebinding", "eve-views", "--clusterrole=view", "--user=eve")
	return admin, admin.login("eve")
}

// A user grants what the user has, with the commands that create and change roles and bindings.
func TestGrantingHeldPermissions(t *testing.T) {
	admin, eve := newRoleWriter(t)
	require.Equal(t, "role.rbac.authorization.k8s.io/reader created\n", eve.do("create", "role", "reader", "--verb=get,list", "--resource=pods"))
	require.Equal(t, "clusterrole.rbac.authorization.k8s.io/reader created\n", eve.do("create", "clusterrole", "reader", "--verb=get", "--resource=pods/log", "--resource-name=web"))
	require.Equal(t, "rolebinding.rbac.authorization.k8s.io/view created\n", eve.do("create", "rolebinding", "view", "--clusterrole=view", "--user=zoe"))
	require.Equal(t, "clusterrolebinding.rbac.authorization.k8s.io/view created\n", eve.do("create", "clusterrolebinding", "view", "--clusterrole=view", "--group=dev"))
	require.Equal(t, "rolebinding.rbac.authorization.k8s.io/view subjects updated\n", eve.do("set", "subject", "rolebinding", "view", "--user=zed", "--serviceaccount=default:robot"))
	require.Equal(t, "User zoe User zed ServiceAccount robot ", admin.do("get", "rolebinding", "view", "-o", `jsonpath={range .subjects[*]}{.kind} {.name} {end}`))
	require.Equal(t, "yes\n", admin.do("auth", "can-i", "list", "pods", "--as", "zed"))
	require.Equal(t, result{out: "no\n", code: 1}, admin.try("auth", "can-i", "list", "secrets", "--as", "zed"))
}

// A user who writes roles and bindings grants nothing that the user does not have.
func TestEscalationIsRefused(t *testing.T) {
	admin, eve := newRoleWriter(t)
	eve.do("create", "role", "reader", "--verb=get,list", "--resource=pods")
	const everything, allPaths = `{APIGroups:["*"], Resources:["*"], Verbs:["*"]}`, `{NonResourceURLs:["*"], Verbs:["*"]}`
	const failed = "Error from server (Forbidden): "
	for _, tt := range []struct {
		command []string
		want    string
	}{
		{
			[]string{"create", "role", "secrets", "--verb=get", "--resource=secrets"},
			failed + `roles.rbac.authorization.k8s.io "secrets" ` + attempting("eve", `{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}`),
		},
		{
			[]string{"patch", "role", "reader", "--type=json", "-p", `[{"op": "add", "path": "/rules/0/verbs/-", "value": "delete"}]`},
			failed + `roles.rbac.authorization.k8s.io "reader" ` + attempting("eve", `{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}`),
		},
		{
			[]string{"create", "clusterrolebinding", "mine", "--clusterrole=cluster-admin", "--user=eve"},
			`error: failed to create clusterrolebinding: clusterrolebindings.rbac.authorization.k8s.io "mine" ` + attempting("eve", everything, allPaths),
		},
		{
			[]string{"set", "subject", "clusterrolebinding", "cluster-admin", "--user=eve"},
			`error: failed to patch subjects to rolebinding: clusterrolebindings.rbac.authorization.k8s.io "cluster-admin" ` + attempting("eve", everything, allPaths),
		},
		{
			[]string{"create", "clusterrole", "all", "--aggregation-rule=rbac.authorization.k8s.io/aggregate-to-view=true"},
			failed + `clusterroles.rbac.authorization.k8s.io "all" is forbidden: must have cluster-admin privileges to use the aggregationRule` + "\n",
		},
		{
			[]string{"label", "clusterrole", "cluster-admin", "rbac.authorization.k8s.io/aggregate-to-view=true"},
			failed + `clusterroles.rbac.authorization.k8s.io "cluster-admin" ` + attempting("eve", everything, allPaths),
		},
	} {
		require.Equal(t, tt.want, eve.doRefused(tt.command...), "kubectl %v", tt.command)
	}
	const secretsForView = `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: secrets, labels: {rbac.authorization.k8s.io/aggregate-to-view: "true"}},` +
		` rules: [{apiGroups: [""], resources: [secrets], verbs: [list]}]}`
	require.Equal(t, failed+`error when creating "STDIN": clusterroles.rbac.authorization.k8s.io "secrets" `+attempting("eve", `{APIGroups:[""], Resources:["secrets"], Verbs:["list"]}`),
		eve.doRefusedWith(secretsForView, "apply", "-f", "-"))
	require.Equal(t, result{out: "no\n", code: 1}, eve.try("auth", "can-i", "list", "secrets"))

	admin.do("create", "clusterrole", "escalate", "--verb=escalate", "--resource=clusterroles.rbac.authorization.k8s.io")
	admin.do("create", "clusterrolebinding", "escalate", "--clusterrole=escalate", "--user=eve")
	admin.do("create", "clusterrole", "bind", "--verb=bind", "--resource=clusterroles.rbac.authorization.k8s.io", "--resource-name=edit")
	admin.do("create", "clusterrolebinding", "bind", "--clusterrole=bind", "--user=eve")
	require.Equal(t, "clusterrole.rbac.authorization.k8s.io/secrets created\n", eve.doWith(strings.Replace(secretsForView, "aggregate-to-view", "unused", 1), "create", "-f", "-"))
	require.Equal(t, "rolebinding.rbac.authorization.k8s.io/edit created\n", eve.do("create", "rolebinding", "edit", "--clusterrole=edit", "--user=eve"))
	require.Equal(t, "yes\n", eve.do("auth", "can-i", "list", "secrets"))
	require.Contains(t, eve.doRefused("create", "rolebinding", "admin", "--clusterrole=admin", "--user=eve"), `rolebindings.rbac.authorization.k8s.io "admin" `+
		strings.TrimSuffix(attempting("eve"), "\n"))
}

// kubectl auth reconcile adds what roles and bindings lack, if the user has it.
func TestAuthReconcile(t *testing.T) {
	admin, eve := newRoleWriter(t)
	eve.do("create", "role", "reader", "--verb=get", "--resource=pods")
	const binding = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: robot, namespace: default}]
`
	const role = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: default}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
`
	require.Equal(t, result{
		out: "role.rbac.authorization.k8s.io/reader reconciled\nrolebinding.rbac.authorization.k8s.io/reader reconciled\n",
		err: lines(
			"\treconciliation required update", "\tmissing rules added:",
			"\t\t{Verbs:[list] APIGroups:[] Resources:[pods] ResourceNames:[] NonResourceURLs:[]}",
			"\treconciliation required create", "\tmissing subjects added:",
			"\t\t{Kind:ServiceAccount APIGroup: Name:robot Namespace:default}",
		),
	}, eve.tryWith(role+binding, "auth", "reconcile", "-f", "-"))
	require.Equal(t, "role.rbac.authorization.k8s.io/reader reconciled\nrolebinding.rbac.authorization.k8s.io/reader reconciled\n", eve.doWith(role+binding, "auth", "reconcile", "-f", "-"))

	require.Equal(t, `Error from server (Forbidden): roles.rbac.authorization.k8s.io "reader" `+attempting("eve", `{APIGroups:[""], Resources:["secrets"], Verbs:["list"]}`),
		eve.doRefusedWith(strings.Replace(strings.Replace(role, "pods", "secrets", 1), "get, list", "list", 1), "auth", "reconcile", "-f", "-"))
	require.Contains(t, admin.tryWith(strings.Replace(role, "get, list", "get", 1), "auth", "reconcile", "--remove-extra-permissions", "-f", "-").err, "extra rules removed:")
	require.Equal(t, "get", admin.do("get", "role", "reader", "-o", "jsonpath={.rules[*].verbs[*]}"))
	require.Equal(t, `Error from server (Forbidden): roles.rbac.authorization.k8s.io "reader" is forbidden: User "bob" cannot get resource "roles" in API group "rbac.authorization.k8s.io" in the namespace "default"`+"\n",
		admin.login("bob").doRefusedWith(role, "auth", "reconcile", "-f", "-"))
}

// --as and --as-group need the verb impersonate, for each name.
func TestImpersonation(t *testing.T) {
	admin := newAdmin(t)
	admin.do("create", "clusterrole", "impersonate-bob", "--verb=impersonate", "--resource=users", "--resource-name=bob")
	admin.do("create", "clusterrolebinding", "impersonate-bob", "--clusterrole=impersonate-bob", "--user=ann")
	admin.do("create", "clusterrole", "impersonate-dev", "--verb=impersonate", "--resource=groups", "--resource-name=dev")
	admin.do("create", "clusterrolebinding", "impersonate-dev", "--clusterrole=impersonate-dev", "--user=ann")
	admin.do("create", "rolebinding", "view", "--clusterrole=view", "--group=dev")
	ann := admin.login("ann")

	require.Contains(t, ann.doRefused("get", "pods", "--as=carol"), "Error from server (Forbidden): unknown\n", "kubectl cannot discover resources either")
	require.Contains(t, ann.doRefused("get", "pods"), `User "ann" cannot list resource "pods"`) // kubectl keeps what it discovers
	const denied = `Error from server (Forbidden): pods is forbidden: User "ann" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "default"` + "\n"
	require.Equal(t, denied, ann.doRefused("get", "pods", "--as=carol"))
	require.Equal(t, denied, ann.doRefused("get", "pods", "--as=bob", "--as-group=system:masters"))
	require.Equal(t, strings.Replace(denied, "user-info", "serviceaccount", 1), ann.doRefused("get", "pods", "--as=system:serviceaccount:default:robot"))

	require.Equal(t, "bob [dev system:authenticated]", ann.do("auth", "whoami", "--as=bob", "--as-group=dev", "-o",
		"jsonpath={.status.userInfo.username} [{.status.userInfo.groups[0]} {.status.userInfo.groups[1]}]"))
	require.Equal(t, result{err: "No resources found in default namespace.\n"}, ann.try("get", "pods", "--as=bob", "--as-group=dev"))
	require.Equal(t, "yes\n", ann.do("auth", "can-i", "list", "pods", "--as=bob", "--as-group=dev"))
	require.Equal(t, result{out: "no\n", code: 1}, ann.try("auth", "can-i", "list", "pods", "--as=bob"))
	require.Equal(t, `Error from server (Forbidden): pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default"`+"\n",
		ann.doRefused("get", "pods", "--as=bob"))
}
