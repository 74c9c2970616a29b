package kubectl_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPatchInThreeWays(t *testing.T) {
	u := newUser(t)
	u.do("apply", "-f", manifest)
	images := func() string {
		return u.do("get", "deployment", "web", "-n", "shop", "-o", "jsonpath={.spec.template.spec.containers[*].image}")
	}
	patch := func(args ...string) string {
		return u.do(append([]string{"patch", "deployment", "web", "-n", "shop"}, args...)...)
	}
	sidecar := `{"spec":{"template":{"spec":{"containers":[{"name":"proxy","image":"proxy:1"}]}}}}`
	require.Equal(t, "deployment.apps/web patched\n", patch("-p", sidecar))
	require.Equal(t, "proxy:1 registry.example.com/shop/web:1.4.2", images(), "a strategic patch merges lists")

	require.Equal(t, "deployment.apps/web patched\n",
		patch("--type=json", "-p", `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"proxy:2"}]`))
	require.Equal(t, "proxy:2 registry.example.com/shop/web:1.4.2", images())

	require.Equal(t, "deployment.apps/web patched\n", patch("--type=merge", "-p", sidecar))
	require.Equal(t, "proxy:1", images(), "a merge patch replaces lists")
	require.Equal(t, "deployment.apps/web patched (no change)\n", patch("--type=merge", "-p", sidecar))

	require.Equal(t, "deployment.apps/web patched\n", patch("--subresource=status", "--type=merge", "-p", `{"status":{"replicas":2}}`))
	require.Equal(t, "2", u.do("get", "deployment", "web", "-n", "shop", "-o", "jsonpath={.status.replicas}"))
}

func TestLabelAndAnnotate(t *testing.T) {
	u := newUser(t, withPods())
	require.Equal(t, "pod/web-1 labeled\n", u.do("label", "pod", "web-1", "tier=front"))
	require.Equal(t, "pod/web-1 not labeled\n", u.do("label", "pod", "web-1", "tier=front"))
	require.Equal(t, "error: 'tier' already has a value (front), and --overwrite is false\n",
		u.doRefused("label", "pod", "web-1", "tier=back"))
	require.Equal(t, "pod/web-1 labeled\npod/web-2 labeled\n", u.do("label", "pods", "-l", "app=web", "tier=back", "--overwrite"))
	require.Equal(t, "pod/web-1\npod/web-2\n", u.do("get", "pods", "-l", "tier=back", "-o", "name"))
	require.Equal(t, "pod/web-1 unlabeled\n", u.do("label", "pod", "web-1", "tier-"))
	require.Equal(t, "pod/web-2\n", u.do("get", "pods", "-l", "tier", "-o", "name"))

	require.Equal(t, "pod/web-1 annotated\n", u.do("annotate", "pod", "web-1", "note=two words"))
	require.Equal(t, "two words", u.do("get", "pod", "web-1", "-o", "jsonpath={.metadata.annotations.note}"))
	require.Equal(t, "pod/web-1 annotated\n", u.do("annotate", "pod", "web-1", "note-"))
	require.Empty(t, u.do("get", "pod", "web-1", "-o", "jsonpath={.metadata.annotations.note}"))
}

// A change with an old resourceVersion is rejected.
func TestAnnotateOfAnOldVersionConflicts(t *testing.T) {
	u := newUser(t, withPods())
	old := u.do("get", "pod", "web-1", "-o", "jsonpath={.metadata.resourceVersion}")
	u.do("label", "pod", "web-1", "tier=front")
	require.Equal(t, `Error from server (Conflict): Operation cannot be fulfilled on pods "web-1": the object has been modified; `+
		"please apply your changes to the latest version and try again\n",
		u.doRefused("annotate", "pod", "web-1", "a=b", "--resource-version="+old))
}

func TestSetChangesAPodTemplate(t *testing.T) {
	u := newUser(t)
	u.do("create", "deployment", "web", "--image=nginx:1")
	require.Equal(t, "deployment.apps/web image updated\n", u.do("set", "image", "deployment/web", "nginx=nginx:2"))
	require.Equal(t, "deployment.apps/web env updated\n", u.do("set", "env", "deployment/web", "MODE=fast"))
	require.Equal(t, "deployment.apps/web resource requirements updated\n",
		u.do("set", "resources", "deployment/web", "--limits=cpu=1"))
	require.Equal(t, "nginx:2 fast 1 4", u.do("get", "deployment", "web", "-o",
		"jsonpath={.spec.template.spec.containers[0].image} {.spec.template.spec.containers[0].env[0].value} "+
			"{.spec.template.spec.containers[0].resources.limits.cpu} {.metadata.generation}"))
}

func TestReplacePutsTheNewInThePlaceOfTheOld(t *testing.T) {
	u := newUser(t)
	u.do("create", "configmap", "a", "--from-literal=old=1")
	uid := u.do("get", "configmap", "a", "-o", "jsonpath={.metadata.uid}")
	next := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {new: '1'}\n"
	require.Equal(t, "configmap/a replaced\n", u.doWith(next, "replace", "-f", "-"))
	require.Equal(t, "map[new:1] "+uid, u.do("get", "configmap", "a", "-o", "go-template={{.data}} {{.metadata.uid}}"))

	require.Equal(t, "configmap \"a\" deleted from default namespace\nconfigmap/a replaced\n",
		u.doWith(next, "replace", "--force", "-f", "-"))
	require.NotEqual(t, uid, u.do("get", "configmap", "a", "-o", "jsonpath={.metadata.uid}"))
}
