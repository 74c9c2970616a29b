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

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	kyaml "sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/fixtures"
)

// isManifest reports whether a file name is that of a manifest.
func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}

// readManifests reads all manifests of a file system.
func readManifests(fsys fs.FS) ([]fixtures.Item, error) {
	prefix := ""
	if stringer, ok := fsys.(fmt.Stringer); ok {
		prefix = stringer.String() + ": "
	}
	var all []fixtures.Item
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && (entry.IsDir() || !isManifest(name)) {
			return nil
		}
		var body []byte
		if err == nil {
			body, err = fs.ReadFile(fsys, name)
		}
		if err != nil {
			return fmt.Errorf("%s%w", prefix, err)
		}
		found, err := readManifest(prefix+name, body, rejectUnknown)
		all = append(all, found...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("fakeapi: manifests: %w", err)
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
