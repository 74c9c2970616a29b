package fakeapi

import (
	"errors"
	"io/fs"

	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/fixtures"
)

// Load stores objects as they are, with their status and without the API. Objects may be typed,
// with the kind of their Go type, or unstructured. Go types of custom resources need WithScheme or
// their TypeMeta.
//
// A missing namespace is "default". A namespace that does not exist is created. A Namespace among
// the objects may already exist and is replaced. uid and creationTimestamp are kept if they are
// set, and generateName is supported. Either all objects are stored or none. Watches see them in
// order. An error names the object and the cause: a kind that is not served, an unknown field,
// invalid metadata, or a name that is in use.
//
// CustomResourceDefinitions are stored first, so that their custom resources may be among the
// objects in any order; see LoadCRDs. Custom resources are defaulted and validated by their
// schemas, and converted to the storage version.
//
// A closed server returns net.ErrClosed, as it does from all methods that load objects.
func (s *Server) Load(objects ...runtime.Object) error {
	if err := s.checkOpen("load"); err != nil {
		return err
	}
	s.note("Load of %d objects", len(objects))
	return s.api.Load(objects)
}

// LoadManifests loads all manifests in a file system and its directories, in the order of their
// paths, with CustomResourceDefinitions first. Manifests are the files that end in .yaml, .yml or
// .json, except those of kustomize (kustomization.yaml, kustomization.yml) and hidden files and
// directories, whose names begin with a dot. They may have several documents, and a List stands for
// its items. Otherwise it is like Load. An error names the file, after the String of the file
// system if it has one. Manifests that are not regular files, such as FIFOs, are errors.
func (s *Server) LoadManifests(fsys fs.FS) error {
	if fsys == nil {
		return errors.New("fakeapi: LoadManifests needs a file system")
	}
	if err := s.checkOpen("load manifests"); err != nil {
		return err
	}
	all, err := readManifests(fsys)
	if err != nil {
		return err
	}
	s.note("LoadManifests of %d objects", len(all))
	return s.api.LoadItems(all)
}

// LoadYAML loads the objects of YAML or JSON documents, which are separated by lines of "---"; see
// Load. An error names the number of the document.
func (s *Server) LoadYAML(text string) error {
	if err := s.checkOpen("load YAML"); err != nil {
		return err
	}
	all, err := readYAML(text)
	if err != nil {
		return err
	}
	s.note("LoadYAML of %d objects", len(all))
	return s.api.LoadItems(all)
}

// fixture reads objects to load.
type fixture func() ([]fixtures.Item, error)

// loadFixtures loads all fixtures at once, so that CustomResourceDefinitions are stored first. In
// the storage of another server those that exist stay as they are.
func (s *Server) loadFixtures(readers []fixture) error {
	var all []fixtures.Item
	for _, read := range readers {
		more, err := read()
		if err != nil {
			return err
		}
		all = append(all, more...)
	}
	if s.opts.storageOf != nil {
		return s.api.LoadMissingItems(all)
	}
	return s.api.LoadItems(all)
}
