package managedfields

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"example.com/fakeapi/fake/internal/resource"
)

// ScaleHandler converts the managedFields of an object to those of its Scale and back. A write to
// the scale subresource owns the replicas field of the object (PA-22, SU-16).
type ScaleHandler struct {
	// manager is the FieldManager of the resource.
	manager *FieldManager
	// replicas has the paths of the replicas field by version, those that are empty if the version has
	// no scale subresource.
	replicas map[schema.GroupVersion][]string
}

// NewScaleHandler returns a ScaleHandler for a resource whose replicas field is spec.replicas in
// all versions. manager is the FieldManager of the resource.
func NewScaleHandler(res *resource.Resource, manager *FieldManager) ScaleHandler {
	s := ScaleHandler{manager, make(map[schema.GroupVersion][]string)}
	for _, gv := range newVersionConverter(res).versions() {
		s.replicas[gv] = []string{"spec", "replicas"}
	}
	return s
}

// NewCRDScaleHandler returns a ScaleHandler for a custom resource. manager is the FieldManager of
// the resource in the version of the request. replicas has the specReplicasPath of each version of
// the definition that has the scale subresource, and "" for the others.
func NewCRDScaleHandler(manager *FieldManager, replicas map[string]string) ScaleHandler {
	s := ScaleHandler{manager, make(map[schema.GroupVersion][]string, len(replicas))}
	for version, path := range replicas {
		gv := schema.GroupVersion{Group: manager.kind.Group, Version: version}
		if s.replicas[gv] = nil; path != "" {
			s.replicas[gv] = strings.Split(strings.TrimPrefix(path, "."), ".")
		}
	}
	return s
}

// ToSubresource returns the managedFields of the Scale of obj.
func (s ScaleHandler) ToSubresource(obj runtime.Object) ([]metav1.ManagedFieldsEntry, error) {
	if useFastPath {
		if scale, ok := s.manager.fast.ToScale(obj, s.replicas[s.version()]); ok {
			return scale, nil
		}
	}
	return s.library(obj).ToSubresource()
}

// ToParent changes the managedFields of obj, which are those before a write that made scale the
// managedFields of its Scale.
func (s ScaleHandler) ToParent(obj runtime.Object, scale []metav1.ManagedFieldsEntry) error {
	if useFastPath && s.manager.fast.FromScale(obj, scale, s.replicas[s.version()]) {
		return nil
	}
	entries, err := s.library(obj).ToParent(scale)
	if err != nil {
		return err
	}
	resource.Accessor(obj).SetManagedFields(entries)
	return nil
}

// version returns the version of the request.
func (s ScaleHandler) version() schema.GroupVersion { return s.manager.kind.GroupVersion() }

// library returns the ScaleHandler of the library for obj.
func (s ScaleHandler) library(obj runtime.Object) *managedfields.ScaleHandler {
	mappings := make(managedfields.ResourcePathMappings, len(s.replicas))
	for gv, names := range s.replicas {
		var path fieldpath.Path
		for _, name := range names {
			path = append(path, fieldpath.PathElement{FieldName: &name})
		}
		mappings[gv.String()] = path
	}
	return managedfields.NewScaleHandler(resource.Accessor(obj).GetManagedFields(), s.version(), mappings)
}
