package kubectl_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// kubectl edit sends a patch with the changed fields.
func TestEdit(t *testing.T) {
	u := newUser(t)
	u.do("create", "deployment", "web", "--image=nginx:1")
	require.Equal(t, "deployment.apps/web edited\n", u.editor("nginx:1", "nginx:2").do("edit", "deployment", "web"))
	require.Equal(t, "nginx:2 2", u.do("get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image} {.metadata.generation}"))

	r := u.editor("nginx:1", "nginx:3").try("edit", "deployment", "web")
	require.Equal(t, result{err: "Edit cancelled, no changes made.\n"}, r)

	patch := u.editor("replicas: 1", "replicas: 3").do("edit", "deployment", "web", "--output-patch")
	require.Equal(t, "Patch: {\"spec\":{\"replicas\":3}}\ndeployment.apps/web edited\n", patch)
}

// When the server rejects an edit, kubectl saves the text in a file and the object does not change.
func TestEditRefused(t *testing.T) {
	u := newUser(t)
	u.do("create", "configmap", "a", "--from-literal=k=v")
	before := u.do("get", "configmap", "a", "-o", "yaml")
	for name, tt := range map[string]struct{ before, after, want string }{
		"invalid label":   {"  name: a\n", "  name: a\n  labels: {app: not a label}\n", `error: configmaps "a" is invalid`},
		"unknown field":   {"  k: v\n", "  k: v\ndta: x\n", `error: configmaps "a" is invalid`},
		"no YAML":         {"  k: v\n", "  k: [\n", `error: configmaps "a" is invalid`},
		"other name":      {"  name: a\n", "  name: b\n", `error: At least one of apiVersion, kind and name was changed`},
		"another's value": {"k: v\n", "k: {}\n", `error: configmaps "a" is invalid`},
	} {
		t.Run(name, func(t *testing.T) {
			r := u.editor(tt.before, tt.after).try("edit", "configmap", "a")
			require.Equal(t, 1, r.code, r.err)
			require.Contains(t, r.err, tt.want)
		})
	}
	require.Equal(t, before, u.do("get", "configmap", "a", "-o", "yaml"))
}

// The status is edited through its subresource, which changes nothing else.
func TestEditTheStatus(t *testing.T) {
	u := newUser(t)
	u.do("create", "deployment", "web", "--image=nginx:1")
	u.editor("status: {}", "status: {replicas: 1, readyReplicas: 1}").do("edit", "deployment", "web", "--subresource=status")
	require.Equal(t, "1 1", u.do("get", "deployment", "web", "-o", "jsonpath={.status.readyReplicas} {.metadata.generation}"))
}

// kubectl apply edit-last-applied changes the annotation that the next apply compares with.
func TestEditLastApplied(t *testing.T) {
	u := newUser(t)
	u.doWith("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n", "apply", "-f", "-")
	require.Equal(t, "configmap/a edited\n", u.editor("k: v", "k: w").do("apply", "edit-last-applied", "configmap", "a"))
	require.Contains(t, u.do("apply", "view-last-applied", "configmap", "a"), "k: w\n")
}
