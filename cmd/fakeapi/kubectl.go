package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// findKubectl returns the first kubectl in the folders of searchPath that is not this program.
func findKubectl(searchPath string) (string, error) {
	for _, folder := range filepath.SplitList(searchPath) {
		if !filepath.IsAbs(folder) {
			continue
		}
		path, err := exec.LookPath(filepath.Join(folder, kubectlName))
		if err == nil && !isFakeapi(path) && !isThisProgram(path) {
			return path, nil
		}
	}
	return "", errors.New("no kubectl is found on PATH: install it (https://kubernetes.io/docs/tasks/tools/), or set TEST_ASSET_KUBECTL for envtest")
}

// isThisProgram reports whether path is the file of this program.
func isThisProgram(path string) bool {
	e, err := currentExecutable()
	if err != nil {
		return false
	}
	own, err := os.Stat(e.path)
	if err != nil {
		return false
	}
	other, err := os.Stat(path)
	return err == nil && os.SameFile(own, other)
}
