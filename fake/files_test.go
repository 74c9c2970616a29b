package fakeapi_test

import (
	"embed"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
)

// files are the files that tests read. They are embedded, because go test reuses the result of a
// test in another checkout only if the test opens no files of the module.
//
//go:embed *.go testdata access/testdata/config internal/crd/structural/testdata/widgets.yaml
var files embed.FS

// readFile returns the content of one of files.
func readFile(t testing.TB, name string) string {
	t.Helper()
	text, err := files.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// filesIn returns the files of a directory of files.
func filesIn(t *testing.T, dir string) fs.FS {
	t.Helper()
	below, err := fs.Sub(files, dir)
	require.NoError(t, err)
	return below
}
