// Package recordings has recorded exchanges with a real API server of v1.37, in the format of
// package golden. They are embedded, so that go test knows them and reuses the results of tests.
package recordings

import (
	"embed"
	"io/fs"
)

//go:embed testdata
var files embed.FS

// Open returns the recordings in a directory: v1.37 has requests to a server without webhooks and
// policies, admission-v1.37 those to a server with them, and what it sent to the webhooks.
func Open(dir string) (fs.FS, error) { return fs.Sub(files, "testdata/"+dir) }
