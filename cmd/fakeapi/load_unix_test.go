//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Only regular files are opened: a FIFO would block. The volume of a ConfigMap has each file twice,
// in a hidden directory and as a link.
func TestLoadOfOtherFiles(t *testing.T) {
	volume := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(volume, "..2026_11_22"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(volume, "..2026_11_22", "a.yaml"), []byte(namespaceManifest), 0o600))
	require.NoError(t, os.Symlink("..2026_11_22", filepath.Join(volume, "..data")))
	require.NoError(t, os.Symlink("..data/a.yaml", filepath.Join(volume, "a.yaml")))
	r := start(t, "--load", volume)
	require.Equal(t, http.StatusOK, r.get(t, "/api/v1/namespaces/shop", nil))
	require.Equal(t, cleanExit, r.stop())

	for name, want := range map[string]string{"pipe.yaml": "pipe.yaml: not a regular file", "kustomization.yaml": "", ".pipe.yaml": "", "pipe": ""} {
		dir := filepath.Dir(fifo(t, name))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(namespaceManifest), 0o600))
		if want != "" {
			requireFailure(t, "fakeapi: --load "+dir+": "+want, "--load", dir)
			continue
		}
		r := start(t, "--load", dir)
		require.Equal(t, cleanExit, r.stop())
	}
	pipe := fifo(t, "pipe.yaml")
	requireFailure(t, "fakeapi: --load "+pipe+": not a regular file", "--load", pipe)
}
