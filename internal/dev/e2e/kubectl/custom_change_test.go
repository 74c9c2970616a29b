package kubectl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func (u *user) siteField(name, path string) string {
	u.t.Helper()
	return u.do("get", "site", name, "-o", "jsonpath={"+path+"}")
}

// A client-side apply of a custom resource uses a JSON merge patch, because there is no Go type.
func TestCustomApply(t *testing.T) {
	u := newSiteUser(t)
	const done = "site.hosting.example.com/web "
	require.Equal(t, done+"created\n", u.doWith(site("web", "replicas: 2"), "apply", "-f", "-"))
	require.Equal(t, "2 Free", u.siteField("web", ".spec.replicas} {.spec.tier"))
	require.Equal(t, done+"unchanged\n", u.doWith(site("web", "replicas: 2"), "apply", "-f", "-"))
	u.do("patch", "site", "web", "--type=merge", "-p", `{"spec":{"tier":"Paid"}}`)
	require.Equal(t, done+"configured\n", u.doWith(site("web", "hosts: [a.example.com]"), "apply", "-f", "-"))
	require.Equal(t, `1 Paid ["a.example.com"] 3`, u.siteField("web", ".spec.replicas} {.spec.tier} {.spec.hosts} {.metadata.generation"),
		"fields removed from the manifest get their defaults")
	require.Equal(t, done+"configured (server dry run)\n", u.doWith(site("web", "replicas: 4"), "apply", "--dry-run=server", "-f", "-"))
	require.Contains(t, u.doRefusedWith(site("web", "replicas: 11", "tier: Free"), "apply", "-f", "-"), "spec: Invalid value: tier Free has 10 replicas at most")
	require.Equal(t, "1", u.siteField("web", ".spec.replicas"))
}

func TestCustomApplyServerSide(t *testing.T) {
	u := newSiteUser(t)
	done := "site.hosting.example.com/web serverside-applied\n"
	require.Equal(t, done, u.doWith(site("web", "ports: [{name: http, port: 80}]"), "apply", "--server-side", "-f", "-"))
	other := "apiVersion: hosting.example.com/v1\nkind: Site\nmetadata: {name: web}\nspec: {ports: [{name: metrics, port: 9090}]}\n"
	require.Equal(t, done, u.doWith(other, "apply", "--server-side", "--field-manager=other", "-f", "-"))
	require.Equal(t, "http metrics", u.siteField("web", ".spec.ports[*].name"))
	r := u.tryWith(strings.Replace(other, "metrics, port: 9090", "http, port: 81", 1), "apply", "--server-side", "--field-manager=other", "-f", "-")
	require.Contains(t, r.err, `Apply failed with 1 conflict: conflict with "kubectl": .spec.ports[name="http"].port`)
}

// The server reports unknown fields. kubectl's flag --validate selects whether they are errors or
// warnings.
func TestCustomValidate(t *testing.T) {
	u := newSiteUser(t)
	wrong := site("web", "imagee: x")
	require.Equal(t, `Error from server (BadRequest): error when creating "STDIN": Site in version "v1" cannot be handled as a Site: strict decoding error: unknown field "spec.imagee"`+"\n",
		u.doRefusedWith(wrong, "create", "--validate=strict", "-f", "-"))
	r := u.tryWith(wrong, "create", "--validate=warn", "-f", "-")
	require.Equal(t, result{out: "site.hosting.example.com/web created\n", err: "Warning: unknown field \"spec.imagee\"\n"}, r)
	require.Empty(t, u.siteField("web", ".spec.imagee"))
	require.Contains(t, u.doRefusedWith(site("two", "tier: Gold"), "create", "-f", "-"),
		"The Site \"two\" is invalid: \n* "+`spec.tier: Unsupported value: "Gold": supported values: "Free", "Paid"`)
}

// Custom resources support JSON patches and merge patches, but no strategic merge patches.
func TestCustomPatchAndEdit(t *testing.T) {
	u := newSiteUser(t)
	u.doWith(site("web"), "create", "-f", "-")
	require.Equal(t, "site.hosting.example.com/web patched\n", u.do("patch", "site", "web", "--type=merge", "-p", `{"spec":{"tier":"Paid"}}`))
	require.Equal(t, "site.hosting.example.com/web patched\n", u.do("patch", "site", "web", "--type=json", "-p", `[{"op":"replace","path":"/spec/image","value":"example.com/web:2"}]`))
	require.Equal(t, "Paid example.com/web:2", u.siteField("web", ".spec.tier} {.spec.image"))
	require.Contains(t, u.doRefused("patch", "site", "web", "-p", `{"spec":{"tier":"Free"}}`), "application/strategic-merge-patch+json is not supported")

	require.Equal(t, "site.hosting.example.com/web edited\n", u.editor("web:2", "web:3").do("edit", "site", "web"))
	require.Equal(t, "example.com/web:3", u.siteField("web", ".spec.image"))
	r := u.editor("tier: Paid", "tier: Gold").try("edit", "site", "web")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.err, `sites.hosting.example.com "web" is invalid`)
	require.Equal(t, "site.hosting.example.com/web labeled\n", u.do("label", "site", "web", "a=b"))
	require.Equal(t, "site.hosting.example.com/web annotated\n", u.do("annotate", "site", "web", "a=b"))
	require.Equal(t, "4", u.siteField("web", ".metadata.generation"))
}

func TestCustomScale(t *testing.T) {
	u := newSiteUser(t)
	u.doWith(site("web"), "create", "-f", "-")
	require.Equal(t, "site.hosting.example.com/web scaled\n", u.do("scale", "site", "web", "--replicas=3"))
	require.Equal(t, "3", u.siteField("web", ".spec.replicas"))
	require.Contains(t, u.doRefused("scale", "site", "web", "--replicas=3", "--current-replicas=1"), "Expected replicas to be 1, was 3")
	require.Contains(t, u.doRefused("scale", "site", "web", "--replicas=11"), "tier Free has 10 replicas at most")
	require.Equal(t, "3 Scale", u.do("get", "site", "web", "--subresource=scale", "-o", "jsonpath={.spec.replicas} {.kind}"))
}

// kubectl waits for conditions of custom resources, and uses the new schema after the CRD is
// applied again.
func TestCustomWaitAndChangeOfTheDefinition(t *testing.T) {
	u := newSiteUser(t)
	u.doWith(site("web"), "create", "-f", "-")
	ended := make(chan result, 1)
	go func() { ended <- u.try("wait", "--for=condition=Ready", "site/web", waitLong) }()
	u.do("patch", "site", "web", "--subresource=status", "--type=merge", "-p",
		`{"status":{"readyReplicas":1,"conditions":[{"type":"Ready","status":"True","reason":"R","message":"","lastTransitionTime":"2026-01-02T03:04:05Z"}]}}`)
	require.Equal(t, result{out: "site.hosting.example.com/web condition met\n"}, <-ended)

	text, err := os.ReadFile(sites)
	require.NoError(t, err)
	changed := filepath.Join(u.home, "changed.yaml")
	require.NoError(t, os.WriteFile(changed, []byte(strings.Replace(string(text), "- Paid", "- Paid\n                - Gold", 1)), 0o600))
	require.Equal(t, "customresourcedefinition.apiextensions.k8s.io/sites.hosting.example.com configured\n", u.do("apply", "-f", changed))
	require.Equal(t, "2", u.do("get", "crd", "sites.hosting.example.com", "-o", "jsonpath={.metadata.generation}"))
	u.do("patch", "site", "web", "--type=merge", "-p", `{"spec":{"tier":"Gold"}}`)
	require.Equal(t, "Gold", u.siteField("web", ".spec.tier"))
}
