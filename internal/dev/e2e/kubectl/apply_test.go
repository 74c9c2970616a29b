package kubectl_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shop lists the objects of the manifest, in its order.
var shop = []string{
	"namespace/shop",
	"resourcequota/shop",
	"limitrange/shop",
	"serviceaccount/web",
	"role.rbac.authorization.k8s.io/web",
	"rolebinding.rbac.authorization.k8s.io/web",
	"clusterrole.rbac.authorization.k8s.io/shop-metrics",
	"configmap/web",
	"secret/db",
	"service/db",
	"statefulset.apps/db",
	"deployment.apps/web",
	"service/web",
	"ingress.networking.k8s.io/web",
	"networkpolicy.networking.k8s.io/db",
	"horizontalpodautoscaler.autoscaling/web",
	"poddisruptionbudget.policy/web",
	"cronjob.batch/report",
}

// applyOutput returns what kubectl prints for the objects of the manifest: of for each object,
// except those in but.
func applyOutput(of string, but map[string]string) string {
	var all []string
	for _, name := range shop {
		if other := but[name]; other != "" {
			all = append(all, name+" "+other)
			continue
		}
		all = append(all, name+" "+of)
	}
	return lines(all...)
}

// alwaysPatched lists the objects that kubectl patches at every apply, also on a real server, which
// sets defaults in what kubectl replaces as a whole: the claim templates of a StatefulSet, the
// strategy of a Deployment and the rules of a NetworkPolicy. It replaces the selector of a
// PodDisruptionBudget without comparing it.
var alwaysPatched = map[string]string{
	"deployment.apps/web":                "configured",
	"networkpolicy.networking.k8s.io/db": "configured",
	"statefulset.apps/db":                "configured",
	"poddisruptionbudget.policy/web":     "configured",
}

func TestApplyCreatesThenLeavesUnchanged(t *testing.T) {
	u := newUser(t)
	require.Equal(t, applyOutput("created", nil), u.do("apply", "-f", manifest))
	versions := func() string {
		return u.do("get", "-f", manifest, "-o", `jsonpath={range .items[*]}{.kind}/{.metadata.name}={.metadata.resourceVersion} {end}`)
	}
	before := versions()
	require.Len(t, strings.Fields(before), len(shop))

	require.Equal(t, applyOutput("unchanged", alwaysPatched), u.do("apply", "-f", manifest))
	require.Equal(t, before, versions(), "a repeated apply does not change resourceVersions")
}

func TestApplyConfiguresWhatChanged(t *testing.T) {
	u := newUser(t)
	u.do("apply", "-f", manifest)
	text, err := os.ReadFile(manifest)
	require.NoError(t, err)
	changed := strings.NewReplacer(
		"  LOG_LEVEL: info\n", "", // a removed key
		"replicas: 2", "replicas: 3", // a changed value
		"shop/web:1.4.2", "shop/web:1.5.0", // a value in a list
		"runAsNonRoot: true", "runAsNonRoot: true, runAsUser: 1000", // an added field
	).Replace(string(text))

	want := map[string]string{
		"configmap/web": "configured", "deployment.apps/web": "configured", "cronjob.batch/report": "configured",
		"statefulset.apps/db": "configured", "poddisruptionbudget.policy/web": "configured", "networkpolicy.networking.k8s.io/db": "configured",
	}
	require.Equal(t, applyOutput("unchanged", want), u.doWith(changed, "apply", "-f", "-"))
	require.Equal(t, "map[shop.properties:currency=EUR\ncarts.expire=30m\n]",
		u.do("get", "configmap", "web", "-n", "shop", "-o", "go-template={{.data}}"))
	require.Equal(t, "3 1000 registry.example.com/shop/web:1.5.0 2",
		u.do("get", "deployment", "web", "-n", "shop", "-o", "jsonpath={.spec.replicas} "+
			"{.spec.template.spec.securityContext.runAsUser} {.spec.template.spec.containers[0].image} {.metadata.generation}"))
}

// Fields that other clients have set and that the manifest does not have remain.
func TestApplyLeavesTheFieldsOfOthers(t *testing.T) {
	u := newUser(t)
	u.do("apply", "-f", manifest)
	u.do("label", "deployment", "web", "-n", "shop", "team=checkout")
	u.do("patch", "configmap", "web", "-n", "shop", "-p", `{"data":{"EXTRA":"1","LOG_LEVEL":"debug"}}`)

	back := map[string]string{"configmap/web": "configured"}
	for name, what := range alwaysPatched {
		back[name] = what
	}
	require.Equal(t, applyOutput("unchanged", back), u.do("apply", "-f", manifest))
	require.Equal(t, "checkout", u.do("get", "deployment", "web", "-n", "shop", "-o", "jsonpath={.metadata.labels.team}"))
	require.Equal(t, "1 info", u.do("get", "configmap", "web", "-n", "shop", "-o", "jsonpath={.data.EXTRA} {.data.LOG_LEVEL}"))
}

func TestApplyServerDryRunLeavesNoTrace(t *testing.T) {
	u := newUser(t)
	cm := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n"
	require.Equal(t, "configmap/a created (server dry run)\n", u.doWith(cm, "apply", "-f", "-", "--dry-run=server"))
	u.doRefused("get", "configmap", "a")

	u.doWith(cm, "apply", "-f", "-")
	require.Equal(t, "configmap/a configured (server dry run)\n",
		u.doWith(strings.Replace(cm, "v}", "w}", 1), "apply", "-f", "-", "--dry-run=server"))
	require.Equal(t, "v", u.do("get", "configmap", "a", "-o", "jsonpath={.data.k}"))
}

// Server-side apply creates an object, makes no change when it is repeated, and reports a conflict
// for a field of another manager unless --force-conflicts is set.
func TestApplyServerSide(t *testing.T) {
	u := newUser(t)
	apply := func(value string, flags ...string) result {
		manifest := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: " + value + "}\n"
		return u.tryWith(manifest, append([]string{"apply", "--server-side", "-f", "-"}, flags...)...)
	}
	done := result{out: "configmap/a serverside-applied\n"}
	require.Equal(t, done, apply("v"))
	require.Equal(t, done, apply("v"))
	conflict := apply("w", "--field-manager=other")
	require.Equal(t, 1, conflict.code)
	require.Contains(t, conflict.err, `Apply failed with 1 conflict: conflict with "kubectl": .data.k`)
	require.Equal(t, done, apply("w", "--field-manager=other", "--force-conflicts"))
	require.Equal(t, "w", u.do("get", "configmap", "a", "-o", "jsonpath={.data.k}"))
}
