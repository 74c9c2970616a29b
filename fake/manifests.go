package fakeapi

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	kyaml "sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/fixtures"
)

// isManifest reports whether a file name is that of a manifest. The files of kustomize are none.
func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) && !isHidden(name) &&
		!slices.Contains([]string{"kustomization.yaml", "kustomization.yml"}, path.Base(name))
}

// isHidden reports whether a file or directory is hidden by its name: files of editors and of
// version control, and the directories of ConfigMap volumes, which have each file twice.
func isHidden(name string) bool { return strings.HasPrefix(path.Base(name), ".") && name != "." }

// walkManifests calls read for each manifest in a file system, in the order of their paths. It
// opens regular files only, because others may block.
func walkManifests(fsys fs.FS, read func(name string, body []byte) error) error {
	return fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && isHidden(name):
			return fs.SkipDir
		case entry.IsDir() || !isManifest(name):
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
		if err := checkRegular(name, mode); err != nil {
			return err
		}
		body, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		return read(name, body)
	})
}

// checkRegular returns an error unless a file is a regular one.
func checkRegular(name string, mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return fmt.Errorf("%s: is a directory", name)
	case !mode.IsRegular():
		return fmt.Errorf("%s: not a regular file", name)
	}
	return nil
}

// readManifests reads all manifests of a file system.
func readManifests(fsys fs.FS) ([]fixtures.Item, error) {
	prefix := ""
	if stringer, ok := fsys.(fmt.Stringer); ok {
		prefix = stringer.String() + ": "
	}
	var all []fixtures.Item
	err := walkManifests(fsys, func(name string, body []byte) error {
		found, err := readManifest(name, body, rejectUnknown)
		for _, item := range found {
			item.Source = prefix + item.Source
			all = append(all, item)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("fakeapi: manifests: %s%w", prefix, err)
	}
	return all, nil
}

// readYAML reads the documents of a text.
func readYAML(text string) ([]fixtures.Item, error) {
	items, err := readManifest("YAML", []byte(text), rejectUnknown)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: manifests: %w", err)
	}
	return items, nil
}

// documentPolicy is what to do with documents that are not Kubernetes objects.
type documentPolicy bool

const (
	rejectUnknown documentPolicy = true
	skipUnknown   documentPolicy = false
)

// readManifest reads the documents of one file. An error names the file.
func readManifest(file string, body []byte, policy documentPolicy) ([]fixtures.Item, error) {
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(body)))
	var all []fixtures.Item
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		from := fmt.Sprintf("%s: document %d", file, n)
		objects, err := readDocument(document, policy)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", from, err)
		}
		for _, obj := range objects {
			all = append(all, fixtures.Item{Source: from, Object: obj})
		}
	}
}

// readDocument reads one YAML or JSON document: an object, the items of a List, or nothing if it
// has only white space and comments.
func readDocument(document []byte, policy documentPolicy) ([]runtime.Object, error) {
	body, err := kyaml.YAMLToJSON(document)
	if err != nil {
		return nil, err
	}
	if string(body) == "null" {
		return nil, nil
	}
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(body); err != nil {
		if runtime.IsMissingKind(err) && policy == skipUnknown {
			err = nil
		}
		return nil, err
	}
	if !obj.IsList() {
		return []runtime.Object{obj}, nil
	}
	var objects []runtime.Object
	err = obj.EachListItem(func(item runtime.Object) error {
		objects = append(objects, item)
		return nil
	})
	return objects, err
}
