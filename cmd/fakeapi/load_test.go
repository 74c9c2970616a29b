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
	aNamespace = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
`
	aConfigMap = `
apiVersion: v1
kind: ConfigMap
metadata: {name: prices, namespace: shop}
data: {tea: "3"}
`
	aJSONSecret  = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"key","namespace":"shop"}}`
	misspelt     = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: wrong}\ndatum: {}\n"
	unknownsKind = "apiVersion: v1\nkind: Gizmo\nmetadata: {name: wrong}\n"
)

// manifest writes a file in a new directory and gives its path.
func manifest(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "deep", "er"), 0o700))
	for name, content := range map[string]string{
		"a-shop.yaml":      aNamespace,
		"deep/er/a.yml":    aConfigMap,
		"deep/key.json":    aJSONSecret,
		"deep/README.md":   "not: a: manifest",
		"deep/er/notes.sh": "exit 1",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	one := manifest(t, "one.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n")
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(one), "other.yaml"), []byte(misspelt), 0o600))

	r := start(t, "--load", dir, "--load="+one)
	for _, path := range []string{"namespaces/shop", "namespaces/shop/configmaps/prices", "namespaces/shop/secrets/key", "namespaces/default/configmaps/one"} {
		require.Equal(t, http.StatusOK, r.get(t, "/api/v1/"+path, nil), path)
	}
	require.Equal(t, cleanEnd, r.stop())
}

func TestLoadRefused(t *testing.T) {
	empty, good := t.TempDir(), manifest(t, "good.yaml", aNamespace)
	missing := filepath.Join(empty, "missing.yaml")
	requireFailure(t, "fakeapi: --load "+missing+": no such file or directory", "--load", missing)
	requireFailure(t, "fakeapi: --load "+empty+": no manifests in this directory: their names must end in .yaml, .yml or .json", "--load", empty)
	requireFailure(t, "fakeapi: --load -: no such file or directory", "--load", "-")
	text := manifest(t, "notes.txt", aNamespace)
	requireFailure(t, "fakeapi: --load "+text+": not a manifest: its name must end in .yaml, .yml or .json", "--load", text)
	dangling := filepath.Join(t.TempDir(), "link.yaml")
	require.NoError(t, os.Symlink(missing, dangling))
	requireFailure(t, "fakeapi: --load "+dangling+": no such file or directory", "--load", good, "--load", dangling)
}

// A manifest that the server refuses: the line names the source, the file in it
// and what is wrong.
func TestLoadOfInvalidManifests(t *testing.T) {
	good := manifest(t, "good.yaml", aNamespace)
	for name, test := range map[string]struct{ content, want string }{
		"unknown field": {misspelt, `unknown field "datum"`},
		"unknown kind":  {unknownsKind, "Gizmo"},
		"no YAML":       {"a: b: c", "bad.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := manifest(t, "bad.yaml", test.content)
			got := runNow(t, "--load", good, "--load", bad)
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
		// Modes do not bind root: a directory that bears a manifest's name is
		// what cannot be read.
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
		require.NoError(t, os.Symlink("real", filepath.Join(dir, "bad.yaml")))
		got := runNow(t, "--load", dir)
		require.Equal(t, exitError, got.status)
		require.Contains(t, got.stderr, "bad.yaml")
		require.Contains(t, got.stderr, "is a directory")
		return
	}
	bad := manifest(t, "bad.yaml", aNamespace)
	require.NoError(t, os.Chmod(bad, 0))
	got := runNow(t, "--load", bad)
	require.Equal(t, exitError, got.status)
	require.Contains(t, got.stderr, "bad.yaml")
	require.Contains(t, got.stderr, "permission denied")
}
