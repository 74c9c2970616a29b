package fakeapi

import (
	"fmt"
	"io/fs"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/fixtures"
	"example.com/fakeapi/fake/internal/manifests"
)

// readManifests reads all manifests of a file system.
func readManifests(fsys fs.FS) ([]fixtures.Item, error) {
	prefix := ""
	if stringer, ok := fsys.(fmt.Stringer); ok {
		prefix = stringer.String() + ": "
	}
	var all []fixtures.Item
	err := manifests.Walk(fsys, func(name string, body []byte) error {
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
	var all []fixtures.Item
	err := manifests.ReadDocuments(file, body, func(source string, document []byte) error {
		objects, err := readDocument(document, policy)
		for _, obj := range objects {
			all = append(all, fixtures.Item{Source: source, Object: obj})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// readDocument reads one JSON document: an object, or the items of a List.
func readDocument(document []byte, policy documentPolicy) ([]runtime.Object, error) {
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(document); err != nil {
		if runtime.IsMissingKind(err) && policy == skipUnknown {
			err = nil
		}
		return nil, err
	}
	if !obj.IsList() {
		return []runtime.Object{obj}, nil
	}
	var objects []runtime.Object
	err := obj.EachListItem(func(item runtime.Object) error {
		objects = append(objects, item)
		return nil
	})
	return objects, err
}
