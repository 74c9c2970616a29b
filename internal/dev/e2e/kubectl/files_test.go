package kubectl_test

import (
	"embed"
	"os"
	"path/filepath"

	"example.com/fakeapi/internal/dev/builtintypes/manifests"
	"example.com/fakeapi/internal/dev/e2e/operator/config"
)

// The paths of the files that kubectl reads. They are written from embedded files, because go test
// knows only those.
var (
	manifest = filepath.Join(folder, "testdata", "shop.yaml")
	// types is a directory of manifests with objects of all built-in types.
	types = filepath.Join(folder, "types")
	// sites is the CRD of Sites.
	sites = filepath.Join(folder, "operator", "crd", "bases", "hosting.example.com_sites.yaml")
)

//go:embed testdata
var testdata embed.FS

// writeFiles writes the files.
func writeFiles() error {
	all, err := manifests.Files()
	if err != nil {
		return err
	}
	if err := os.CopyFS(types, all); err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(folder, "operator"), config.Files()); err != nil {
		return err
	}
	return os.CopyFS(folder, testdata)
}
