package kubectl_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/dev/e2e/internal/poll"
)

func TestDeleteWhatAManifestNames(t *testing.T) {
	u := newUser(t)
	u.do("apply", "-f", manifest)
	var want []string
	for _, name := range shop[3:] { // the objects with the label
		kind, object, _ := strings.Cut(name, "/")
		line := kind + ` "` + object + `" deleted`
		if kind != "clusterrole.rbac.authorization.k8s.io" {
			line += " from shop namespace"
		}
		want = append(want, line)
	}
	require.Equal(t, lines(want...), u.do("delete", "-f", manifest, "-l", "app.kubernetes.io/part-of=shop"))
	require.Equal(t, "namespace/shop\nresourcequota/shop\nlimitrange/shop\n",
		u.do("get", "-f", manifest, "-o", "name", "--ignore-not-found"))
}

func TestDeleteByNameByLabelAndAll(t *testing.T) {
	u := newUser(t, withPods())
	u.do("create", "configmap", "a")
	require.Equal(t, "configmap \"a\" deleted from default namespace\n", u.do("delete", "configmap", "a"))
	require.Equal(t, "Error from server (NotFound): configmaps \"a\" not found\n", u.doRefused("delete", "configmap", "a"))
	require.Empty(t, u.do("delete", "configmap", "a", "--ignore-not-found"))

	require.Equal(t, lines(`pod "web-1" deleted from default namespace`, `pod "web-2" deleted from default namespace`),
		u.do("delete", "pods", "-l", "app=web", "--grace-period=1"))
	require.Equal(t, "pod \"db-1\" deleted from prod namespace\n", u.do("delete", "pods", "--all", "-n", "prod", "--now"))
	require.Equal(t, result{out: "No resources found\n"}, u.try("delete", "pods", "--all", "-n", "prod"))
}

func TestDeleteNamespaceDeletesContent(t *testing.T) {
	u := newUser(t)
	u.do("apply", "-f", manifest)
	require.Equal(t, "namespace \"shop\" deleted\n", u.do("delete", "namespace", "shop"))
	require.Equal(t, "clusterrole.rbac.authorization.k8s.io/shop-metrics\n",
		u.do("get", "-f", manifest, "-o", "name", "--ignore-not-found"))
	require.Equal(t, "namespace/shop created\n", u.do("create", "namespace", "shop"))
	require.Equal(t, result{err: "No resources found in shop namespace.\n"}, u.try("get", "all,configmaps,secrets", "-n", "shop"))
}

// kubectl delete waits until the object has no finalizers and is deleted.
func TestDeleteWaitsForFinalizers(t *testing.T) {
	u := newUser(t)
	u.do("create", "configmap", "held")
	u.do("patch", "configmap", "held", "-p", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	ended := make(chan result, 1)
	go func() { ended <- u.try("delete", "configmap", "held") }()
	poll.Until(t, "the deletion to begin", func() bool {
		return u.do("get", "configmap", "held", "-o", "jsonpath={.metadata.deletionTimestamp}") != ""
	})
	require.Empty(t, ended)
	u.do("patch", "configmap", "held", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	require.Equal(t, result{out: "configmap \"held\" deleted from default namespace\n"}, <-ended)
}
