// Package manifests has manifests with objects of all built-in types, as users write them: with the
// fields that a type requires and few others.
package manifests

import (
	"embed"
	"io/fs"
)

//go:embed testdata
var files embed.FS

// Files returns the manifests.
func Files() (fs.FS, error) { return fs.Sub(files, "testdata") }
