package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	namespaceManifest = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
`
	configMapManifest = `
apiVersion: v1
kind: ConfigMap
metadata: {name: prices, namespace: shop}
data: {tea: "3"}
`
	jsonSecretManifest   = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"key","namespace":"shop"}}`
	unknownFieldManifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: wrong}\ndatum: {}\n"
	unknownKindManifest  = "apiVersion: v1\nkind: Gizmo\nmetadata: {name: wrong}\n"
)

// manifest writes a file in a new directory and returns its path.
func manifest(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a-shop.yaml":      namespaceManifest,
		"deep/er/a.yml":    configMapManifest,
		"deep/key.json":    jsonSecretManifest,
		"deep/README.md":   "not: a: manifest",
		"deep/er/notes.sh": "exit 1",
		// Files of kustomize and hidden files are no manifests.
		"kustomization.yaml":     "resources: [a-shop.yaml]",
		"deep/kustomization.yml": "resources: [key.json]",
		".a-shop.yaml.swp.yaml":  "not: a: manifest",
		".github/workflow.yaml":  "jobs: {}",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	one := manifest(t, "one.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n")
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(one), "other.yaml"), []byte(unknownFieldManifest), 0o600))

	r := start(t, "--load", dir, "--load="+one)
	for _, path := range []string{"namespaces/shop", "namespaces/shop/configmaps/prices", "namespaces/shop/secrets/key", "namespaces/default/configmaps/one"} {
		require.Equal(t, http.StatusOK, r.get(t, "/api/v1/"+path, nil), path)
	}
	require.Equal(t, cleanExit, r.stop())
}

func TestLoadRefused(t *testing.T) {
	empty, good := t.TempDir(), manifest(t, "good.yaml", namespaceManifest)
	missing := filepath.Join(empty, "missing.yaml")
	requireFailure(t, "fakeapi: --load "+missing+": no such file or directory", "--load", missing)
	requireFailure(t, "fakeapi: --load "+empty+": no manifests in this directory: their names must end in .yaml, .yml or .json", "--load", empty)
	requireFailure(t, "fakeapi: --load -: no such file or directory", "--load", "-")
	text := manifest(t, "notes.txt", namespaceManifest)
	requireFailure(t, "fakeapi: --load "+text+": not a manifest: its name must end in .yaml, .yml or .json", "--load", text)
	hidden, kustomization := manifest(t, ".hidden.yaml", namespaceManifest), manifest(t, "kustomization.yaml", namespaceManifest)
	requireFailure(t, "fakeapi: --load "+hidden+": not a manifest: its name begins with a dot", "--load", hidden)
	requireFailure(t, "fakeapi: --load "+kustomization+": not a manifest: load the output of kubectl kustomize instead", "--load", kustomization)
	only := filepath.Dir(hidden)
	requireFailure(t, "fakeapi: --load "+only+": no manifests in this directory: their names must end in .yaml, .yml or .json", "--load", only)
	dangling := filepath.Join(t.TempDir(), "link.yaml")
	require.NoError(t, os.Symlink(missing, dangling))
	requireFailure(t, "fakeapi: --load "+dangling+": no such file or directory", "--load", good, "--load", dangling)
}

// The error for an invalid manifest names the source, the file in it and the cause.
func TestLoadOfInvalidManifests(t *testing.T) {
	good := manifest(t, "good.yaml", namespaceManifest)
	for name, test := range map[string]struct{ content, want string }{
		"unknown field": {unknownFieldManifest, `unknown field "datum"`},
		"unknown kind":  {unknownKindManifest, "Gizmo"},
		"no YAML":       {"a: b: c", "bad.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := manifest(t, "bad.yaml", test.content)
			got := runCommand(t, "--load", good, "--load", bad)
			require.Equal(t, exitError, got.status)
			require.Empty(t, got.stdout)
			require.Regexp(t, "^fakeapi: --load \\Q"+bad+"\\E: [^\n]+\n$", got.stderr)
			require.Equal(t, 1, strings.Count(got.stderr, prefix))
			require.Contains(t, got.stderr, test.want)
		})
	}
}

func TestLoadUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		// Root ignores file modes, so an unreadable manifest is a directory with its name.
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
		require.NoError(t, os.Symlink("real", filepath.Join(dir, "bad.yaml")))
		got := runCommand(t, "--load", dir)
		require.Equal(t, exitError, got.status)
		require.Contains(t, got.stderr, "bad.yaml")
		require.Contains(t, got.stderr, "is a directory")
		return
	}
	bad := manifest(t, "bad.yaml", namespaceManifest)
	require.NoError(t, os.Chmod(bad, 0))
	got := runCommand(t, "--load", bad)
	require.Equal(t, exitError, got.status)
	require.Contains(t, got.stderr, "bad.yaml")
	require.Contains(t, got.stderr, "permission denied")
}

const (
	crdManifest = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gizmos.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: gizmos, kind: Gizmo}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`
	gizmoManifest = "apiVersion: shop.example.com/v1\nkind: Gizmo\nmetadata: {name: a}\nspec: {size: 1}\n"
)

// Custom resources are loaded after their definitions, even if those come with a later flag.
func TestLoadOfCustomResources(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(gizmoManifest), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "crd"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "crd", "gizmos.yaml"), []byte(crdManifest), 0o600))
	one, definition := manifest(t, "one.yaml", gizmoManifest), manifest(t, "crd.yaml", crdManifest)
	for _, args := range [][]string{{"--load", dir}, {"--load", one, "--load", definition}} {
		r := start(t, args...)
		require.Equal(t, http.StatusOK, r.get(t, "/apis/shop.example.com/v1/namespaces/default/gizmos/a", nil))
		require.Equal(t, http.StatusOK, r.get(t, "/apis/shop.example.com/v1", nil))
		require.Equal(t, cleanExit, r.stop())
	}
	wrong := manifest(t, "wrong.yaml", strings.Replace(crdManifest, "Namespaced", "Anywhere", 1))
	requireFailureLike(t, "--load "+wrong+": wrong.yaml: document 1: CustomResourceDefinition gizmos.shop.example.com: ", "spec.scope", "--load", wrong)
	large := manifest(t, "large.yaml", strings.Replace(gizmoManifest, "1}", "big}", 1))
	requireFailureLike(t, "--load "+large+": large.yaml: document 1: Gizmo a: ", "spec.size", "--load", definition, "--load", large)
}

// requireFailureLike requires that the command prints one line that begins with begins and contains
// contains.
func requireFailureLike(t *testing.T, begins, contains string, args ...string) {
	t.Helper()
	got := runCommand(t, args...)
	require.Equal(t, exitError, got.status)
	require.Empty(t, got.stdout)
	require.True(t, strings.HasPrefix(got.stderr, "fakeapi: "+begins), "%s", got.stderr)
	require.Contains(t, got.stderr, contains)
	require.Equal(t, 1, strings.Count(got.stderr, "\n"))
}
