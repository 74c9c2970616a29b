package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const otherKubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: production, cluster: {server: "https://10.0.0.1:6443"}}]
contexts: [{name: production, context: {cluster: production, user: me}}]
users: [{name: me, user: {}}]
current-context: production
`

func TestKubeconfigPathIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	first := start(t, "--kubeconfig", path)
	require.Equal(t, path, first.kubeconfig)
	require.NotContains(t, first.text, "removed")
	require.Equal(t, cleanExit, first.stop())
	require.FileExists(t, path)

	// A file written by serve is replaced by the next serve.
	second := start(t, "serve", "--kubeconfig", path)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(content), second.url)
	require.Equal(t, cleanExit, second.stop())
	requireOnly(t, path)
}

func TestKubeconfigOverAnEmptyFile(t *testing.T) {
	path := manifest(t, "from-mktemp", "\n")
	require.NoError(t, os.Chmod(path, 0o644))
	r := start(t, "--kubeconfig", path)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.Equal(t, cleanExit, r.stop())
}

func TestKubeconfigDoesNotOverwriteOthers(t *testing.T) {
	for name, content := range map[string]string{
		"real clusters": otherKubeconfig,
		"no kubeconfig": "dear diary",
		"only a user":   "apiVersion: v1\nkind: Config\nusers: [{name: me, user: {token: secret}}]\n",
		"other JSON":    `{"name": "some-package", "version": "1.0.0"}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := manifest(t, "config", content)
			requireFailure(t, "fakeapi: kubeconfig "+path+": it exists and was not written by fakeapi; name another file", "--kubeconfig", path)
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, content, string(after))
			requireOnly(t, path)
		})
	}
}

func TestKubeconfigUnwritable(t *testing.T) {
	dir := t.TempDir()
	requireFailure(t, "fakeapi: kubeconfig "+dir+": it exists and is not a regular file", "--kubeconfig", dir)
	lost := filepath.Join(dir, "missing", "kubeconfig")
	requireFailure(t, "fakeapi: kubeconfig "+lost+": no such file or directory", "--kubeconfig", lost)
	file := manifest(t, "file", "")
	below := filepath.Join(file, "kubeconfig")
	requireFailure(t, "fakeapi: kubeconfig "+below+": not a directory", "--kubeconfig", below)
}

// requireOnly requires that the directory has no temporary file beside path.
func requireOnly(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
