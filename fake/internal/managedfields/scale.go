package managedfields

import (
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"example.com/fakeapi/fake/internal/resource"
)

// ScaleHandler converts the managedFields of an object to those of its Scale and back. A write to
// the scale subresource owns the replicas field of the object (PA-22, SU-16).
type ScaleHandler struct{ handler *managedfields.ScaleHandler }

// NewScaleHandler returns a ScaleHandler for an object of res with the given entries, whose
// replicas field is spec.replicas.
func NewScaleHandler(res *resource.Resource, entries []metav1.ManagedFieldsEntry) ScaleHandler {
	replicas := managedfields.ResourcePathMappings{}
	for _, gv := range newVersionConverter(res).versions() {
		replicas[gv.String()] = fieldpath.MakePathOrDie("spec", "replicas")
	}
	return ScaleHandler{managedfields.NewScaleHandler(entries, res.GroupVersion(), replicas)}
}

// ToSubresource returns the entries of the Scale.
func (s ScaleHandler) ToSubresource() ([]metav1.ManagedFieldsEntry, error) {
	return s.handler.ToSubresource()
}

// ToParent returns the entries of the object after a write that made scale the entries of the
// Scale.
func (s ScaleHandler) ToParent(scale []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	return s.handler.ToParent(scale)
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
