package fakeapi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/fixtures"
	"example.com/fakeapi/fake/internal/manifests"
)

// CRDSource is a source of CustomResourceDefinitions. CRDsFromObjects, CRDsFromPaths, CRDsFromFS
// and CRDFromGoType return one.
type CRDSource struct {
	read func() ([]fixtures.Item, error)
	// scheme has the Go types of the custom resources; it may be nil.
	scheme *runtime.Scheme
}

// CRDsFromObjects returns a source of Go objects: *apiextensionsv1.CustomResourceDefinition,
// unstructured ones, and lists of them. Others are an error.
func CRDsFromObjects(objects ...runtime.Object) CRDSource {
	return CRDSource{read: func() ([]fixtures.Item, error) {
		var all []fixtures.Item
		for _, obj := range objects {
			items := []runtime.Object{obj}
			if !fixtures.IsNil(obj) && meta.IsListType(obj) {
				var err error
				if items, err = meta.ExtractList(obj); err != nil {
					return nil, fmt.Errorf("fakeapi: CRDs: %T: %w", obj, err)
				}
			}
			for _, item := range items {
				if !isCRD(item) {
					return nil, fmt.Errorf("fakeapi: CRDs: %T is not a CustomResourceDefinition", item)
				}
				all = append(all, fixtures.Item{Object: item})
			}
		}
		return all, nil
	}}
}

// CRDsFromPaths returns a source of files and directories. Of a directory it reads the files that
// end in .yaml, .yml or .json, and not its subdirectories, as envtest does. A file may have several
// documents. Those that are not CustomResourceDefinitions are ignored. A path that does not exist
// or has no CustomResourceDefinition is an error.
func CRDsFromPaths(paths ...string) CRDSource {
	return CRDSource{read: func() ([]fixtures.Item, error) {
		var all []fixtures.Item
		for _, path := range paths {
			found, err := readCRDPath(path)
			if err == nil && len(found) == 0 {
				err = fmt.Errorf("%s has no CustomResourceDefinition", path)
			}
			if err != nil {
				return nil, fmt.Errorf("fakeapi: CRDs: %w", err)
			}
			all = append(all, found...)
		}
		return all, nil
	}}
}

// CRDsFromFS returns a source of all manifests in a file system and its directories, such as an
// embed.FS or os.DirFS; see Server.LoadManifests. Otherwise it is like CRDsFromPaths.
func CRDsFromFS(fsys fs.FS) CRDSource {
	return CRDSource{read: func() ([]fixtures.Item, error) {
		if fsys == nil {
			return nil, errors.New("fakeapi: CRDs: CRDsFromFS needs a file system")
		}
		var all []fixtures.Item
		err := manifests.Walk(fsys, func(name string, body []byte) error {
			found, err := crdsInManifest(name, body)
			all = append(all, found...)
			return err
		})
		if err == nil && len(all) == 0 {
			err = errors.New("the file system has no CustomResourceDefinition")
		}
		if err != nil {
			return nil, fmt.Errorf("fakeapi: CRDs: %w", err)
		}
		return all, nil
	}}
}

// readCRDPath reads the definitions of a file, or of the files in a directory.
func readCRDPath(path string) ([]fixtures.Item, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	files := []string{path}
	if info.IsDir() {
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		files = nil
		for _, entry := range entries {
			if !entry.IsDir() && manifests.IsManifest(entry.Name()) {
				files = append(files, filepath.Join(path, entry.Name()))
			}
		}
	}
	var all []fixtures.Item
	for _, file := range files {
		info, err := os.Stat(file)
		if err == nil && file != path {
			err = manifests.CheckRegular(file, info.Mode()) // a FIFO, for example, would block
		}
		if err != nil {
			return nil, err
		}
		body, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := crdsInManifest(file, body)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// crdsInManifest returns the definitions among the documents of a file.
func crdsInManifest(file string, body []byte) ([]fixtures.Item, error) {
	items, err := readManifest(file, body, skipUnknown)
	if err != nil {
		return nil, err
	}
	var all []fixtures.Item
	for _, item := range items {
		if u := item.Object.(*unstructured.Unstructured); isCRD(u) && isCompleteCRD(u) {
			all = append(all, item)
		}
	}
	return all, nil
}

// isCompleteCRD reports whether u is a definition and not a patch of one, as in directories for
// kustomize.
func isCompleteCRD(u *unstructured.Unstructured) bool {
	group, _, _ := unstructured.NestedString(u.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(u.Object, "spec", "names", "kind")
	return group != "" && kind != ""
}

// isCRD reports whether obj is a CustomResourceDefinition of any version.
func isCRD(obj runtime.Object) bool {
	switch typed := obj.(type) {
	case *apiextensionsv1.CustomResourceDefinition:
		return typed != nil
	case *unstructured.Unstructured:
		if typed == nil {
			return false
		}
		kind := typed.GroupVersionKind()
		return kind.Group == apiextensionsv1.GroupName && kind.Kind == "CustomResourceDefinition"
	}
	return false
}

// LoadCRDs creates the CustomResourceDefinitions of the sources. They are validated as by the API,
// and Established, in discovery and in OpenAPI when LoadCRDs returns. Either all are stored or
// none. A definition that exists is updated, as by envtest. An error names the file or the object
// and the causes.
func (s *Server) LoadCRDs(sources ...CRDSource) error {
	if err := s.checkOpen("load CRDs"); err != nil {
		return err
	}
	var all []fixtures.Item
	for _, source := range sources {
		if source.read == nil {
			return errors.New("fakeapi: CRDs: the CRDSource is empty; use CRDsFromObjects, CRDsFromPaths, CRDsFromFS or CRDFromGoType")
		}
		found, err := source.read()
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	if len(all) > 0 {
		s.note("LoadCRDs of %d definitions", len(all))
		if err := s.api.LoadItems(all); err != nil {
			return err
		}
	}
	for _, source := range sources {
		if source.scheme != nil {
			s.types.AddSchemes(source.scheme)
		}
	}
	return nil
}

// WithCRDs creates CustomResourceDefinitions before all fixtures and before the first request; see
// Server.LoadCRDs.
//
//	srv := fakeapi.Start(t, fakeapi.WithCRDs(fakeapi.CRDsFromPaths("../config/crd/bases")))
func WithCRDs(sources ...CRDSource) Option {
	return func(o *options) error {
		o.crds = append(o.crds, sources...)
		return nil
	}
}

// WithScheme adds schemes to that of client-go, so that objects of their Go types do not need their
// TypeMeta in WithObjects, Load, Get and List. The scheme of CRDFromGoType is added without it. It
// does not define custom resources.
func WithScheme(schemes ...*runtime.Scheme) Option {
	return func(o *options) error {
		for _, s := range schemes {
			if s == nil {
				return errors.New("fakeapi: WithScheme: the scheme is nil")
			}
		}
		o.schemes = append(o.schemes, schemes...)
		return nil
	}
}
