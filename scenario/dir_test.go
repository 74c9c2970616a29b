package scenario_test

import (
	"embed"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/clients"
)

// files are the files that tests read. They are embedded, because go test reuses the result of a
// test in another checkout only if the test opens no files of the module.
//
//go:embed doc.go example_*_test.go testdata
var files embed.FS

// TestRunDir runs the scenarios in testdata. The clients under test are client-go's informers.
func TestRunDir(t *testing.T) {
	under := map[string]scenario.Client{}
	for _, i := range clients.All() {
		if i.Name == "informer" {
			under[i.Role] = i.Client
		}
	}
	dir, err := fs.Sub(files, "testdata")
	require.NoError(t, err)
	scenario.RunDir(t, dir, scenario.Config{Clients: under})
}
