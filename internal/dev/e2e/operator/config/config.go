// Package config has the manifests of the operator, in the layout of kubebuilder.
package config

import (
	"embed"
	"io/fs"
)

//go:embed crd rbac webhook
var files embed.FS

// Files returns the directories crd, rbac and webhook.
func Files() fs.FS { return files }
