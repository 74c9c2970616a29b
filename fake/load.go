package fakeapi

import (
	"io/fs"

	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/fixtures"
)

// Load puts objects into the store as they are, status and all, without going
// through the API: what a test wants to find there when it begins. Objects may
// be typed (their kind is found from their type) or unstructured. The Go types of custom
// resources have to be known, see WithScheme, or have their TypeMeta filled in.
//
// A missing namespace of an object is "default". A namespace that does not exist
// is created; one that does, by itself or for an object in it, may be loaded and
// then is as it was loaded. uid and creationTimestamp are kept if they are given.
// generateName works. All objects are stored or none; watchers see them in
// order. An error names the object and what is wrong with it: a kind that is
// not served, a field that does not exist, invalid metadata, a name in use.
//
// CustomResourceDefinitions come before all else, so that what they define may be among
// the objects, in any order; see LoadCRDs. Custom resources are defaulted and validated by
// their schemas, and converted to the storage version.
func (s *Server) Load(objects ...runtime.Object) error { return s.api.Load(objects) }

// LoadManifests loads all manifests below the root of a file system, in the
// order of their paths, definitions of custom resources first: the files that end in .yaml,
// .yml or .json, each with any number of documents, a List counting as its items. See Load.
// All are stored or none. An error names the file, behind the file system's String() if it
// has one.
func (s *Server) LoadManifests(fsys fs.FS) error {
	all, err := readManifests(fsys)
	if err != nil {
		return err
	}
	return s.api.LoadItems(all)
}

// LoadYAML loads the objects of YAML or JSON documents, which are separated by lines of "---"; see
// Load. An error names the number of the document.
func (s *Server) LoadYAML(text string) error {
	all, err := readYAML(text)
	if err != nil {
		return err
	}
	return s.api.LoadItems(all)
}

// fixture gives objects to load.
type fixture func() ([]fixtures.Item, error)

// loadFixtures loads all fixtures at once, so that definitions of custom resources come first
// wherever they are.
func (s *Server) loadFixtures(readers []fixture) error {
	var all []fixtures.Item
	for _, read := range readers {
		more, err := read()
		if err != nil {
			return err
		}
		all = append(all, more...)
	}
	return s.api.LoadItems(all)
}
