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

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Load puts objects into the store as they are, status and all, without going
// through the API: what a test wants to find there when it begins. Objects may
// be typed (their kind is found from their type) or unstructured.
//
// A missing namespace of an object is "default". A namespace that does not exist
// is created; one that does, by itself or for an object in it, may be loaded and
// then is as it was loaded. uid and creationTimestamp are kept if they are given.
// generateName works. All objects are stored or none; watchers see them in
// order. An error names the object and what is wrong with it: a kind that is
// not served, a field that does not exist, invalid metadata, a name in use.
func (s *Server) Load(objects ...runtime.Object) error { return s.api.Load(objects) }

// LoadManifests loads all manifests below the root of a file system, in the
// order of their paths: the files that end in .yaml, .yml or .json, each with any
// number of documents, a List counting as its items. See Load. All are stored
// or none.
func (s *Server) LoadManifests(fsys fs.FS) error {
	var objects []runtime.Object
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) {
			return nil
		}
		body, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		found, err := s.decodeManifest(body)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		objects = append(objects, found...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("fakeapi: manifests: %w", err)
	}
	return s.Load(objects...)
}

// decodeManifest decodes the documents of one file.
func (s *Server) decodeManifest(body []byte) ([]runtime.Object, error) {
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(body)))
	var objects []runtime.Object
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		found, err := s.api.Manifest(document)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		objects = append(objects, found...)
	}
}
