package managedfields

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"example.com/fakeapi/fake/internal/managedfields/fastpath"
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

// NewScaleHandler returns a ScaleHandler for a resource whose replicas field is spec.replicas in all
// versions. manager is the FieldManager of the resource.
func NewScaleHandler(res *resource.Resource, manager *FieldManager) ScaleHandler {
	s := ScaleHandler{manager, make(map[schema.GroupVersion][]string)}
	for _, gv := range newVersionConverter(res).versions() {
		s.replicas[gv] = []string{"spec", "replicas"}
	}
	return s
}

// NewCRDScaleHandler returns a ScaleHandler for a custom resource. manager is the FieldManager of the
// resource in the version of the request. replicas has the specReplicasPath of each version of the
// definition that has the scale subresource, and "" for the others.
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

// scaleConverter is the managedfields.TypeConverter of Scale.
type scaleConverter struct{ scale typed.ParseableType }

// scaleTypes returns a converter with a schema of Scale, whose metadata is that of the other types.
var scaleTypes = sync.OnceValues(func() (managedfields.TypeConverter, error) {
	kind := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	other, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	other.GetObjectKind().SetGroupVersionKind(kind)
	value, err := builtinTypes().ObjectToTyped(other)
	if err != nil {
		return nil, err
	}
	all := value.Schema()
	top, ok := all.Resolve(value.TypeRef())
	if !ok || top.Map == nil {
		return nil, fmt.Errorf("no schema of %s", kind)
	}
	metadata, ok := top.Map.FindField("metadata")
	if !ok {
		return nil, fmt.Errorf("the schema of %s has no metadata", kind)
	}
	const name = "Scale"
	parser := typed.Parser{Schema: smd.Schema{Types: append(slices.Clone(all.Types), smd.TypeDef{
		Name: name,
		Atom: smd.Atom{Map: &smd.Map{Fields: []smd.StructField{
			{Name: "apiVersion", Type: scalarRef(smd.String)},
			{Name: "kind", Type: scalarRef(smd.String)},
			{Name: "metadata", Type: metadata.Type},
			{Name: "spec", Type: structRef(smd.StructField{Name: "replicas", Type: scalarRef(smd.Numeric)})},
			{Name: "status", Type: structRef(
				smd.StructField{Name: "replicas", Type: scalarRef(smd.Numeric)},
				smd.StructField{Name: "selector", Type: scalarRef(smd.String)})},
		}}},
	})}}
	return scaleConverter{parser.Type(name)}, nil
})

// scaleType returns the type of Scales for the fast path.
var scaleType = sync.OnceValue(func() *fastpath.Type {
	types, err := scaleTypes()
	if err != nil {
		return nil
	}
	scale := &autoscalingv1.Scale{}
	scale.SetGroupVersionKind(autoscalingv1.SchemeGroupVersion.WithKind("Scale"))
	return fastpath.NewType(types, scale)
})

// scalarRef returns a scalar type.
func scalarRef(scalar smd.Scalar) smd.TypeRef {
	return smd.TypeRef{Inlined: smd.Atom{Scalar: &scalar}}
}

// structRef returns an object type.
func structRef(fields ...smd.StructField) smd.TypeRef {
	return smd.TypeRef{Inlined: smd.Atom{Map: &smd.Map{Fields: fields}}}
}

// ObjectToTyped returns a Scale as a value with its schema.
func (c scaleConverter) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if u, ok := obj.(runtime.Unstructured); ok {
		return c.scale.FromUnstructured(u.UnstructuredContent(), opts...)
	}
	return c.scale.FromStructured(obj, opts...)
}

// TypedToObject returns the object of a value.
func (c scaleConverter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	return builtinTypes().TypedToObject(value)
}
