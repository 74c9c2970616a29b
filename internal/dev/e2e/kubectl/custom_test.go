package kubectl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/dev/e2e/internal/poll"
	"example.com/fakeapi/internal/dev/e2e/internal/server"
)

// site returns a manifest of a site with the given additional fields of its spec.
func site(name string, spec ...string) string {
	all := append([]string{"image: example.com/web:1"}, spec...)
	return "apiVersion: hosting.example.com/v1\nkind: Site\nmetadata: {name: " + name + "}\nspec: {" + strings.Join(all, ", ") + "}\n"
}

// newCustomUser returns a user of a server without CRDs. The server may be a real one, so the
// kubeconfig selects a namespace of the test.
func newCustomUser(t *testing.T) *user {
	t.Helper()
	config := server.Kubeconfig(t)
	u := &user{t: t, home: t.TempDir()}
	require.NoError(t, os.WriteFile(filepath.Join(u.home, "kubeconfig"), config, 0o600))
	namespace := u.doWith("apiVersion: v1\nkind: Namespace\nmetadata: {generateName: custom-}\n", "create", "-f", "-", "-o", "jsonpath={.metadata.name}")
	u.do("config", "set-context", "--current", "--namespace", namespace)
	return u
}

// newSiteUser returns a user of a server on which the CRD of Sites is established until the test
// ends.
func newSiteUser(t *testing.T) *user {
	t.Helper()
	u := newCustomUser(t)
	u.do("apply", "-f", sites)
	t.Cleanup(u.uninstall)
	u.established()
	poll.Until(t, "the resource to be found", func() bool { return u.try("get", "sites").code == 0 })
	return u
}

// established waits until the CRD is established. It repeats kubectl wait, which fails as long as
// the conditions of the CRD are null.
func (u *user) established() {
	u.t.Helper()
	met := result{out: "customresourcedefinition.apiextensions.k8s.io/sites.hosting.example.com condition met\n"}
	poll.Until(u.t, "the CRD to be established", func() bool {
		return u.try("wait", "--for", "condition=established", "--timeout=10s", "crd/sites.hosting.example.com") == met
	})
}

// uninstall deletes the CRD and waits until it is deleted.
func (u *user) uninstall() {
	r := u.waitFor("delete", "--ignore-not-found", "-f", sites)
	require.Zero(u.t, r.code, r.err)
}

func TestCustomDefinitionInstallAndDelete(t *testing.T) {
	u := newCustomUser(t)
	require.Equal(t, "error: the server doesn't have a resource type \"sites\"\n", u.doRefused("get", "sites"))
	require.Equal(t, "customresourcedefinition.apiextensions.k8s.io/sites.hosting.example.com created\n", u.do("apply", "-f", sites))
	t.Cleanup(u.uninstall)
	u.established()
	require.Equal(t, "customresourcedefinition.apiextensions.k8s.io/sites.hosting.example.com unchanged\n", u.do("apply", "-f", sites))
	require.Equal(t, [][]string{{"NAME"}, {"sites.hosting.example.com"}}, columns(u.do("get", "crd", "sites.hosting.example.com"), 1))
	require.Equal(t, [][]string{{"NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"}, {"sites", "si", "hosting.example.com/v1", "true", "Site"}},
		columns(u.do("api-resources", "--api-group=hosting.example.com"), 5))
	require.Contains(t, u.do("api-versions"), "hosting.example.com/v1\nhosting.example.com/v1beta1\n")

	u.doWith(site("web"), "create", "-f", "-")
	require.Equal(t, "customresourcedefinition.apiextensions.k8s.io \"sites.hosting.example.com\" deleted\n", u.do("delete", "crd", "sites.hosting.example.com"))
	poll.Until(t, "the resource to be removed", func() bool { return u.try("get", "sites").code == 1 })
	require.NotContains(t, u.do("api-versions"), "hosting.example.com")
}

// The CRD declares the columns that kubectl prints and the names of the resource.
func TestCustomColumns(t *testing.T) {
	u := newSiteUser(t)
	require.Equal(t, "site.hosting.example.com/web created\n", u.doWith(site("web", "hosts: [a.example.com, b.example.com]"), "create", "-f", "-"))
	ready := `{"status":{"readyReplicas":1,"conditions":[{"type":"Ready","status":"True","reason":"R","message":"","lastTransitionTime":"2026-01-02T03:04:05Z"}]}}`
	u.do("patch", "site", "web", "--subresource=status", "--type=merge", "-p", ready)
	narrow := [][]string{{"NAME", "IMAGE", "DESIRED", "READY", "AGE"}, {"web", "example.com/web:1", "1", "True"}}
	for _, name := range []string{"sites", "site", "si", "sites.hosting.example.com", "sites.v1.hosting.example.com"} {
		got := columns(u.do("get", name), 5)
		got[1] = got[1][:4] // without the age
		require.Equal(t, narrow, got, name)
	}
	wide := columns(u.do("get", "sites", "-o", "wide"), 5)
	require.Equal(t, []string{"NAME", "IMAGE", "DESIRED", "READY", "HOSTS"}, wide[0])
	require.Equal(t, []string{"web", "example.com/web:1", "1", "True", `["a.example.com","b.example.com"]`}, wide[1])
	require.Contains(t, u.do("get", "all"), "site.hosting.example.com/web")
	require.Equal(t, "site.hosting.example.com/web\n", u.do("get", "si", "-o", "name"))

	old := u.try("get", "sites.v1beta1.hosting.example.com", "web")
	require.Equal(t, "Warning: hosting.example.com/v1beta1 Site is deprecated; use v1\n", old.err)
	require.Equal(t, []string{"NAME", "HOST", "AGE"}, columns(old.out, 3)[0])
	require.Contains(t, collapseSpaces(u.do("describe", "site", "web")), "\nSpec:\nHosts:\na.example.com\nb.example.com\nImage: example.com/web:1\n")
}

func TestCustomSelectionAndWatch(t *testing.T) {
	u := newSiteUser(t)
	u.doWith(site("free"), "create", "-f", "-")
	u.doWith(site("paid", "tier: Paid"), "create", "-f", "-")
	require.Equal(t, "site.hosting.example.com/paid\n", u.do("get", "sites", "--field-selector", "spec.tier=Paid", "-o", "name"))
	require.Contains(t, u.doRefused("get", "sites", "--field-selector", "spec.image=x"), "field label not supported: spec.image")

	next := u.watch("get", "sites", "--field-selector", "spec.tier=Paid", "--watch", "--output-watch-events", "--no-headers")
	require.Equal(t, "ADDED paid", next())
	u.do("patch", "site", "free", "--type=merge", "-p", `{"spec":{"tier":"Paid"}}`)
	require.Equal(t, "ADDED free", next())
	u.do("patch", "site", "free", "--type=merge", "-p", `{"spec":{"replicas":2}}`)
	require.Equal(t, "MODIFIED free", next())
	u.do("patch", "site", "paid", "--type=merge", "-p", `{"spec":{"tier":"Free"}}`)
	require.Equal(t, "DELETED paid", next())
	require.Equal(t, "site.hosting.example.com \"free\" deleted from "+u.namespace()+" namespace\n", u.do("delete", "site", "free"))
	require.Equal(t, "DELETED free", next())
}

func (u *user) namespace() string {
	return u.do("config", "view", "--minify", "-o", "jsonpath={..namespace}")
}

// kubectl explain uses the OpenAPI documents, which the server updates with the CRD.
func TestCustomExplain(t *testing.T) {
	u := newSiteUser(t)
	poll.Until(t, "the OpenAPI documents to be updated", func() bool { return u.try("explain", "site").code == 0 })
	for field, want := range map[string][]string{
		"site":                     {"GROUP:      hosting.example.com", "KIND:       Site", "VERSION:    v1", "Site is a web site with its pods and its service.", "spec\t<Object> -required-", "metadata\t<ObjectMeta>"},
		"site.spec.ports":          {"FIELD: ports <[]Object>", "ports are the ports that the site listens on.", "name\t<string> -required-"},
		"site.spec.tier":           {"FIELD: tier <string>", "ENUM:\n    Free\n    Paid"},
		"site.metadata.labels":     {"FIELD: labels <map[string]string>"},
		"site.spec.resources":      {"FIELD: resources <Object>", "limits\t<map[string]Object>"},
		"site.spec.maxUnavailable": {"FIELD: maxUnavailable <Object>"},
		"site.status.conditions":   {"lastTransitionTime\t<string> -required-"},
	} {
		out := u.do("explain", field)
		for _, part := range want {
			require.Contains(t, out, part, field)
		}
	}
	old := u.do("explain", "site.spec", "--api-version=hosting.example.com/v1beta1")
	require.Contains(t, old, "VERSION:    v1beta1")
	require.Contains(t, old, "size\t<integer>")
	require.Equal(t, "error: field \"nope\" does not exist\n", u.try("explain", "site.spec.nope").err)
	require.Contains(t, u.do("explain", "site", "--recursive"), "      protocol\t<string>\n")
}
