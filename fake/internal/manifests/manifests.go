// Package manifests finds the manifests in a file system and reads their documents.
package manifests

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"
	kyaml "sigs.k8s.io/yaml"
)

// IsManifest reports whether a file name is that of a manifest: it ends in .yaml, .yml or .json.
// The files of kustomize and hidden files are none.
func IsManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) && !isHidden(name) &&
		!slices.Contains([]string{"kustomization.yaml", "kustomization.yml"}, path.Base(name))
}

// isHidden reports whether a file or directory is hidden by its name: files of editors and of
// version control, and the directories of ConfigMap volumes, which have each file twice.
func isHidden(name string) bool { return strings.HasPrefix(path.Base(name), ".") && name != "." }

// Walk calls read for each manifest in a file system, in the order of their paths. It opens regular
// files only, because others may block.
func Walk(fsys fs.FS, read func(name string, body []byte) error) error {
	return fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nameRoot(fsys, err)
		case entry.IsDir() && isHidden(name):
			return fs.SkipDir
		case entry.IsDir() || !IsManifest(name):
			return nil
		}
		mode := entry.Type()
		if mode&fs.ModeSymlink != 0 { // fs.Stat opens the file if fsys has no Stat
			info, err := fs.Stat(fsys, name)
			if err != nil {
				return err
			}
			mode = info.Mode()
		}
		if err := CheckRegular(name, mode); err != nil {
			return err
		}
		body, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		return read(name, body)
	})
}

// nameRoot replaces the path "." of an error by the directory of os.DirFS, whose type is a string.
func nameRoot(fsys fs.FS, err error) error {
	var pathError *fs.PathError
	directory := reflect.ValueOf(fsys)
	if directory.Kind() != reflect.String || !errors.As(err, &pathError) || pathError.Path != "." {
		return err
	}
	return &fs.PathError{Op: pathError.Op, Path: directory.String(), Err: pathError.Err}
}

// CheckRegular returns an error unless a file is a regular one.
func CheckRegular(name string, mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return fmt.Errorf("%s: is a directory", name)
	case !mode.IsRegular():
		return fmt.Errorf("%s: not a regular file", name)
	}
	return nil
}

// ReadDocuments calls read with the JSON of each YAML or JSON document of a file. A document that
// has only white space and comments is left out. source is the file and the number of the document,
// which an error begins with.
func ReadDocuments(file string, body []byte, read func(source string, document []byte) error) error {
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(body)))
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		source := fmt.Sprintf("%s: document %d", file, n)
		converted, err := kyaml.YAMLToJSON(document)
		if err == nil && string(converted) != "null" {
			err = read(source, converted)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
	}
}
