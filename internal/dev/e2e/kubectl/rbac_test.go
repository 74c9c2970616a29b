package kubectl_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/e2e/internal/poll"
)

// newAdmin starts a server that authorizes by roles and returns its administrator.
func newAdmin(t *testing.T, opts ...fakeapi.Option) *user {
	t.Helper()
	return newUser(t, append(opts, fakeapi.WithRBAC())...)
}

// login returns another user of the same server, in groups, with a client certificate.
func (u *user) login(name string, groups ...string) *user {
	u.t.Helper()
	config, err := u.srv.RESTConfigWithCertificate(name, groups...)
	require.NoError(u.t, err)
	return u.loginWith(config)
}

// loginWith returns the user of a configuration, with a home directory of its own.
func (u *user) loginWith(config *rest.Config) *user {
	u.t.Helper()
	file, err := u.srv.KubeconfigFor(config)
	require.NoError(u.t, err)
	return u.loginWithFile(file)
}

// loginWithFile returns the user of a kubeconfig, with a home directory of its own.
func (u *user) loginWithFile(file []byte) *user {
	u.t.Helper()
	other := &user{t: u.t, srv: u.srv, home: u.t.TempDir()}
	require.NoError(u.t, os.WriteFile(filepath.Join(other.home, "kubeconfig"), file, 0o600))
	return other
}

const settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: new}\n"

// basicAccess is what "kubectl auth can-i --list" prints for all authenticated users.
var basicAccess = lines(
	"Resources Non-Resource URLs Resource Names Verbs",
	"selfsubjectreviews.authentication.k8s.io [] [] [create]",
	"selfsubjectaccessreviews.authorization.k8s.io [] [] [create]",
	"selfsubjectrulesreviews.authorization.k8s.io [] [] [create]",
	"[/api/*] [] [get]", "[/api] [] [get]", "[/apis/*] [] [get]", "[/apis] [] [get]",
	"[/healthz] [] [get]", "[/healthz] [] [get]", "[/livez] [] [get]", "[/livez] [] [get]",
	"[/openapi/*] [] [get]", "[/openapi] [] [get]", "[/readyz] [] [get]", "[/readyz] [] [get]",
	"[/version/] [] [get]", "[/version/] [] [get]", "[/version] [] [get]", "[/version] [] [get]",
)

// A user without roles can use discovery and ask about itself, and nothing else.
func TestUserWithoutRoles(t *testing.T) {
	admin := newAdmin(t)
	admin.doWith(settings, "apply", "-f", "-")
	admin.do("create", "deployment", "web", "--image=nginx")
	admin.do("run", "p", "--image=nginx")
	bob := admin.login("bob", "dev")
	manifest := filepath.Join(bob.home, "a.yaml")
	require.NoError(t, os.WriteFile(manifest, []byte(strings.Replace(settings, "new", "newer", 1)), 0o600))

	const forbidden, inDefault = "Error from server (Forbidden): ", ` in the namespace "default"` + "\n"
	for _, tt := range []struct{ command, want string }{
		{"get configmaps", forbidden + `configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group ""` + inDefault},
		{"get configmap a", forbidden + `configmaps "a" is forbidden: User "bob" cannot get resource "configmaps" in API group ""` + inDefault},
		{"get pods -A", forbidden + `pods is forbidden: User "bob" cannot list resource "pods" in API group "" at the cluster scope` + "\n"},
		{"get nodes", forbidden + `nodes is forbidden: User "bob" cannot list resource "nodes" in API group "" at the cluster scope` + "\n"},
		{"get --raw /metrics", forbidden + `forbidden: User "bob" cannot get path "/metrics"` + "\n"},
		{"create configmap b", `error: failed to create configmap: configmaps is forbidden: User "bob" cannot create resource "configmaps" in API group ""` + inDefault},
		{"delete configmap a", forbidden + `configmaps "a" is forbidden: User "bob" cannot delete resource "configmaps" in API group ""` + inDefault},
		{"delete configmaps --all", forbidden + `configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group ""` + inDefault},
		{"logs p", forbidden + `pods "p" is forbidden: User "bob" cannot get resource "pods" in API group ""` + inDefault},
		{"exec p -- ls", forbidden + `pods "p" is forbidden: User "bob" cannot get resource "pods" in API group ""` + inDefault},
		{"scale deployment web --replicas=3", forbidden + `deployments.apps "web" is forbidden: User "bob" cannot get resource "deployments" in API group "apps"` + inDefault},
		{"apply --server-side -f " + manifest, forbidden + `configmaps "a" is forbidden: User "bob" cannot patch resource "configmaps" in API group ""` + inDefault},
		{"create token default", `error: failed to create token: serviceaccounts "default" is forbidden: User "bob" cannot create resource "serviceaccounts/token" in API group ""` + inDefault},
		{"create role r --verb=get --resource=pods", forbidden + `roles.rbac.authorization.k8s.io is forbidden: User "bob" cannot create resource "roles" in API group "rbac.authorization.k8s.io"` + inDefault},
		{"create rolebinding r --clusterrole=edit --user=bob", `error: failed to create rolebinding: rolebindings.rbac.authorization.k8s.io is forbidden: User "bob" cannot create resource "rolebindings" in API group "rbac.authorization.k8s.io"` + inDefault},
	} {
		require.Equal(t, tt.want, bob.doRefused(strings.Fields(tt.command)...), "kubectl %s", tt.command)
	}
	require.Regexp(t, `(?s)^Error from server \(Forbidden\): error when retrieving current configuration of:\n.*`+
		`: configmaps "a" is forbidden: User "bob" cannot get resource "configmaps" in API group "" in the namespace "default"\n$`,
		bob.doRefused("apply", "-f", manifest))
	require.Equal(t, result{err: forbidden + `configmaps "a" is forbidden: User "bob" cannot get resource "configmaps" in API group ""` + inDefault, code: 2},
		bob.withDiffTool().try("diff", "-f", manifest))

	require.Equal(t, result{out: "no\n", code: 1}, bob.try("auth", "can-i", "list", "pods"))
	require.Equal(t, basicAccess, collapseSpaces(bob.do("auth", "can-i", "--list"))+"\n")
	require.Regexp(t, `^ATTRIBUTE VALUE\nUsername bob\nGroups \[dev system:authenticated\]`, collapseSpaces(bob.do("auth", "whoami")))
	require.Equal(t, "new", admin.do("get", "configmap", "a", "-o", "jsonpath={.data.k}"))
}

// A user with the ClusterRole view in a namespace reads most resources of that namespace, but
// neither Secrets nor roles.
func TestUserWithView(t *testing.T) {
	admin := newAdmin(t)
	admin.doWith(settings, "apply", "-f", "-")
	admin.do("create", "deployment", "web", "--image=nginx")
	admin.do("create", "rolebinding", "viewers", "--clusterrole=view", "--group=dev")
	bob := admin.login("bob", "dev")

	require.Equal(t, "configmap/a\n", bob.do("get", "configmaps", "-o", "name"))
	require.Equal(t, "deployment.apps/web\n", bob.do("get", "deployments", "-o", "name"))
	require.Equal(t, "0", bob.do("get", "deployment", "web", "--subresource=scale", "-o", "jsonpath={.status.replicas}"))
	const inDefault = ` in the namespace "default"` + "\n"
	for _, tt := range []struct{ command, want string }{
		{"get secrets", `secrets is forbidden: User "bob" cannot list resource "secrets" in API group ""` + inDefault},
		{"get roles", `roles.rbac.authorization.k8s.io is forbidden: User "bob" cannot list resource "roles" in API group "rbac.authorization.k8s.io"` + inDefault},
		{"get configmaps -n kube-system", `configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" in the namespace "kube-system"` + "\n"},
		{"delete configmap a", `configmaps "a" is forbidden: User "bob" cannot delete resource "configmaps" in API group ""` + inDefault},
		{"scale deployment web --replicas=3", `deployments.apps "web" is forbidden: User "bob" cannot patch resource "deployments/scale" in API group "apps"` + inDefault},
		{"label configmap a x=y", `configmaps "a" is forbidden: User "bob" cannot patch resource "configmaps" in API group ""` + inDefault},
	} {
		require.Equal(t, "Error from server (Forbidden): "+tt.want, bob.doRefused(strings.Fields(tt.command)...), "kubectl %s", tt.command)
	}
	changed := strings.Replace(settings, "new", "newer", 1)
	const cannotPatch = `configmaps "a" is forbidden: User "bob" cannot patch resource "configmaps" in API group ""` + inDefault
	require.Regexp(t, `(?s)^Error from server \(Forbidden\): error when applying patch:\n.*: error when patching "STDIN": `+regexp.QuoteMeta(cannotPatch)+"$",
		bob.doRefusedWith(changed, "apply", "-f", "-"))
	require.Equal(t, "Error from server (Forbidden): "+cannotPatch, bob.doRefusedWith(changed, "apply", "--server-side", "-f", "-"))
	require.Equal(t, result{err: "Error from server (Forbidden): error when patching \"STDIN\": " + cannotPatch, code: 2},
		bob.withDiffTool().tryWith(changed, "diff", "-f", "-"), "a diff is a dry run of the patch")

	list := collapseSpaces(bob.do("auth", "can-i", "--list"))
	for _, line := range []string{"pods/log [] [] [get list watch]", "deployments.apps/scale [] [] [get list watch]"} {
		require.Contains(t, list, "\n"+line+"\n")
	}
	require.NotContains(t, list, "\nsecrets ")
	require.Equal(t, basicAccess, collapseSpaces(bob.do("auth", "can-i", "--list", "-n", "kube-system"))+"\n")
	require.Equal(t, "yes\n", bob.do("auth", "can-i", "get", "pods/log"))
	require.Equal(t, result{out: "no\n", code: 1}, bob.try("auth", "can-i", "get", "pods", "-A"))
}

// A user with the ClusterRole edit in a namespace changes its objects, but not its roles. A role
// with a label for view is also part of edit, at once.
func TestUserWithEdit(t *testing.T) {
	admin := newAdmin(t)
	admin.do("create", "rolebinding", "editors", "--clusterrole=edit", "--user=ann")
	admin.do("create", "serviceaccount", "robot")
	ann := admin.login("ann")

	require.Equal(t, "configmap/a created\n", ann.doWith(settings, "apply", "-f", "-"))
	require.Equal(t, "configmap/a serverside-applied\n", ann.doWith(settings, "apply", "--server-side", "--force-conflicts", "-f", "-"))
	require.Equal(t, "", ann.withDiffTool().doWith(settings, "diff", "--server-side", "--field-manager=kubectl", "-f", "-"))
	require.Equal(t, "deployment.apps/web created\n", ann.do("create", "deployment", "web", "--image=nginx"))
	require.Equal(t, "deployment.apps/web scaled\n", ann.do("scale", "deployment", "web", "--replicas=3"))
	require.Equal(t, "configmap \"a\" deleted from default namespace\n", ann.do("delete", "configmap", "a"))
	robot := ann.loginWith(ann.srv.RESTConfigWithToken(strings.TrimSpace(ann.do("create", "token", "robot", "--duration=20m"))))
	require.Equal(t, "system:serviceaccount:default:robot", robot.do("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"))
	require.Equal(t, `Error from server (Forbidden): roles.rbac.authorization.k8s.io is forbidden: User "ann" cannot create resource "roles" in API group "rbac.authorization.k8s.io" in the namespace "default"`+"\n",
		ann.doRefused("create", "role", "r", "--verb=get", "--resource=pods"))

	require.Equal(t, `Error from server (Forbidden): leases.coordination.k8s.io is forbidden: User "eve" cannot list resource "leases" in API group "coordination.k8s.io" in the namespace "default"`+"\n",
		admin.login("eve").doRefused("get", "leases"))
	require.Equal(t, `Error from server (Forbidden): resourcequotas "q" is forbidden: User "ann" cannot delete resource "resourcequotas" in API group "" in the namespace "default"`+"\n",
		ann.doRefused("delete", "resourcequota", "q"))
	admin.do("create", "clusterrole", "quotas", "--verb=delete", "--resource=resourcequotas")
	admin.do("label", "clusterrole", "quotas", "rbac.authorization.k8s.io/aggregate-to-view=true")
	poll.Until(t, "edit to have the rules of the new role", func() bool {
		return strings.Contains(collapseSpaces(ann.do("auth", "can-i", "--list")), "\nresourcequotas [] [] [delete get list watch]\n")
	})
	require.Equal(t, "Error from server (NotFound): resourcequotas \"q\" not found\n", ann.doRefused("delete", "resourcequota", "q"))
}

// A ClusterRole with an aggregation rule has the rules of the roles with its labels, and loses them
// with the labels.
func TestUserWithAggregatedRole(t *testing.T) {
	admin := newAdmin(t)
	admin.do("create", "clusterrole", "monitoring", "--aggregation-rule=team=monitoring")
	admin.do("create", "clusterrolebinding", "monitoring", "--clusterrole=monitoring", "--user=mia")
	mia := admin.login("mia")
	require.Equal(t, result{out: "no\n", err: nodesWarning, code: 1}, mia.try("auth", "can-i", "list", "nodes"))
	canList := func() bool {
		return mia.try("auth", "can-i", "list", "nodes") == (result{out: "yes\n", err: nodesWarning})
	}

	admin.do("create", "clusterrole", "nodes", "--verb=get,list", "--resource=nodes")
	admin.do("label", "clusterrole", "nodes", "team=monitoring")
	poll.Until(t, "the role to have the rules", canList)
	require.Equal(t, result{err: "No resources found\n"}, mia.try("get", "nodes"))
	admin.do("label", "clusterrole", "nodes", "team-")
	poll.Until(t, "the role to lose the rules", func() bool { return !canList() })
	require.Equal(t, `Error from server (Forbidden): nodes is forbidden: User "mia" cannot list resource "nodes" in API group "" at the cluster scope`+"\n", mia.doRefused("get", "nodes"))
}

const nodesWarning = "Warning: resource 'nodes' is not namespace scoped\n\n"

// The control API issues kubeconfigs, also for a service account, whose rights are those of its
// bindings at each request.
func TestKubeconfigOfServiceAccount(t *testing.T) {
	admin := newAdmin(t, fakeapi.WithControlAPI())
	admin.do("create", "namespace", "system")
	admin.do("create", "serviceaccount", "manager", "-n", "system")
	response, err := admin.srv.Client().Post(admin.srv.URL()+"/fakeapi/v1/kubeconfigs", "text/plain", strings.NewReader("system:serviceaccount:system:manager"))
	require.NoError(t, err)
	defer response.Body.Close()
	file, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, response.StatusCode, "%s", file)

	manager := admin.loginWithFile(file)
	require.Equal(t, "system:serviceaccount:system:manager [system:serviceaccounts system:serviceaccounts:system system:authenticated]", manager.do("auth", "whoami", "-o",
		"jsonpath={.status.userInfo.username} [{.status.userInfo.groups[0]} {.status.userInfo.groups[1]} {.status.userInfo.groups[2]}]"))
	denied := `Error from server (Forbidden): pods is forbidden: User "system:serviceaccount:system:manager" cannot list resource "pods" in API group "" in the namespace "default"` + "\n"
	require.Equal(t, denied, manager.doRefused("get", "pods"))
	admin.do("create", "rolebinding", "pods", "--clusterrole=view", "--serviceaccount=system:manager")
	require.Equal(t, result{err: "No resources found in default namespace.\n"}, manager.try("get", "pods"))
	admin.do("delete", "rolebinding", "pods")
	require.Equal(t, denied, manager.doRefused("get", "pods"))
}
