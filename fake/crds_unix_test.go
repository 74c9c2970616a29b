//go:build unix

package fakeapi_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// A FIFO in a directory of definitions is named and not opened, unless it is hidden.
func TestCRDsFromPathsReadsRegularFiles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(widgetCRD), 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, ".b.yaml"), 0o600))
	srv := fakeapi.Start(t)
	require.NoError(t, srv.LoadCRDs(fakeapi.CRDsFromPaths(dir)))
	pipe := filepath.Join(dir, "b.yaml")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.EqualError(t, srv.LoadCRDs(fakeapi.CRDsFromPaths(dir)), "fakeapi: CRDs: "+pipe+": not a regular file")
}
