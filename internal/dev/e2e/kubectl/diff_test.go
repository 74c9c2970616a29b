package kubectl_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// kubectl diff prints what an apply would change. It uses a dry run, and nothing is stored.
func TestDiff(t *testing.T) {
	u := newUser(t).withDiffTool()
	text, err := os.ReadFile(manifest)
	require.NoError(t, err)
	r := u.tryWith("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n", "diff", "-f", "-")
	require.Equal(t, 1, r.code, r.err)
	require.Contains(t, r.out, "v1.ConfigMap.default.a + k: v\n", "the object does not exist yet")

	u.do("apply", "-f", manifest)
	require.Empty(t, u.do("diff", "-f", manifest), "no differences after the apply")

	changed := strings.NewReplacer("LOG_LEVEL: info", "LOG_LEVEL: debug", "replicas: 2", "replicas: 3").Replace(string(text))
	want := lines(
		"apps.v1.Deployment.shop.web - generation: 1",
		"apps.v1.Deployment.shop.web - replicas: 2",
		"apps.v1.Deployment.shop.web + generation: 2",
		"apps.v1.Deployment.shop.web + replicas: 3",
		"v1.ConfigMap.shop.web - LOG_LEVEL: info",
		"v1.ConfigMap.shop.web + LOG_LEVEL: debug",
	)
	versions := u.do("get", "-f", manifest, "-o", "jsonpath={.items[*].metadata.resourceVersion}")
	require.Equal(t, result{out: want, code: 1}, u.tryWith(changed, "diff", "-f", "-"))
	require.Equal(t, versions, u.do("get", "-f", manifest, "-o", "jsonpath={.items[*].metadata.resourceVersion}"))
}

// kubectl diff --server-side reports conflicts.
func TestDiffServerSide(t *testing.T) {
	u := newUser(t).withDiffTool()
	config := func(value string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: " + value + "}\n"
	}
	u.doWith(config("v"), "apply", "--server-side", "-f", "-")
	require.Empty(t, u.doWith(config("v"), "diff", "--server-side", "-f", "-"))
	require.Equal(t, result{out: lines("v1.ConfigMap.default.a - k: v", "v1.ConfigMap.default.a + k: w"), code: 1},
		u.tryWith(config("w"), "diff", "--server-side", "-f", "-"))
	r := u.tryWith(config("w"), "diff", "--server-side", "--field-manager=other", "-f", "-")
	require.Contains(t, r.err, `conflict with "kubectl"`)
	require.Equal(t, result{out: lines("v1.ConfigMap.default.a - k: v", "v1.ConfigMap.default.a + k: w"), code: 1},
		u.tryWith(config("w"), "diff", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "-"))
}
