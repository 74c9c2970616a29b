package managedfields

import (
	"fmt"
	"slices"
	"strings"
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

// ScaleHandler translates the managedFields of an object between it and its Scale, which
// shows but one field of it: a write to the scale subresource owns spec.replicas of
// the object (PA-22, SU-16).
type ScaleHandler struct{ handler *managedfields.ScaleHandler }

// NewScaleHandler begins a write to the scale of an object of res with these entries.
func NewScaleHandler(res *resource.Resource, entries []metav1.ManagedFieldsEntry) ScaleHandler {
	replicas := managedfields.ResourcePathMappings{}
	for _, gv := range versionsOf(res).list() {
		replicas[gv.String()] = fieldpath.MakePathOrDie("spec", "replicas")
	}
	return ScaleHandler{managedfields.NewScaleHandler(entries, res.GroupVersion(), replicas)}
}

// NewCRDScaleHandler begins a write to the scale of a custom resource in version gv with
// these entries. replicas has the specReplicasPath of every version of the definition
// that has a scale subresource, and "" for the others.
func NewCRDScaleHandler(gv schema.GroupVersion, replicas map[string]string, entries []metav1.ManagedFieldsEntry) ScaleHandler {
	mappings := make(managedfields.ResourcePathMappings, len(replicas))
	for version, at := range replicas {
		var steps fieldpath.Path
		for name := range strings.SplitSeq(strings.TrimPrefix(at, "."), ".") {
			if at != "" {
				steps = append(steps, fieldpath.PathElement{FieldName: &name})
			}
		}
		mappings[schema.GroupVersion{Group: gv.Group, Version: version}.String()] = steps
	}
	return ScaleHandler{managedfields.NewScaleHandler(entries, gv, mappings)}
}

// Scale gives the entries that the Scale begins with.
func (s ScaleHandler) ToSubresource() ([]metav1.ManagedFieldsEntry, error) {
	return s.handler.ToSubresource()
}

// Object gives the entries of the object when those of the Scale have become these.
func (s ScaleHandler) ToParent(scale []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	return s.handler.ToParent(scale)
}

// converter is what turns the objects of a kind into the values that the library
// compares: client-go has the schemas of all kinds that are kept, and not that of
// Scale.
func converter(body *resource.Resource) (managedfields.TypeConverter, error) {
	switch {
	case body.Kind == "Scale":
		return scaleTypes()
	case resource.IsCRDResource(body):
		return extensions(), nil
	}
	return types(), nil
}

// scaleConverter knows one type.
type scaleConverter struct{ scale typed.ParseableType }

// scaleTypes adds the schema of Scale to those there are, whose metadata it has.
var scaleTypes = sync.OnceValues(func() (managedfields.TypeConverter, error) {
	kind := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	other, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	other.GetObjectKind().SetGroupVersionKind(kind)
	value, err := types().ObjectToTyped(other)
	if err != nil {
		return nil, err
	}
	known := value.Schema()
	top, ok := known.Resolve(value.TypeRef())
	if !ok || top.Map == nil {
		return nil, fmt.Errorf("no schema of %s", kind)
	}
	metadata, ok := top.Map.FindField("metadata")
	if !ok {
		return nil, fmt.Errorf("the schema of %s has no metadata", kind)
	}
	const name = "Scale"
	parser := typed.Parser{Schema: smd.Schema{Types: append(slices.Clone(known.Types), smd.TypeDef{
		Name: name,
		Atom: smd.Atom{Map: &smd.Map{Fields: []smd.StructField{
			{Name: "apiVersion", Type: inline(smd.String)},
			{Name: "kind", Type: inline(smd.String)},
			{Name: "metadata", Type: metadata.Type},
			{Name: "spec", Type: structOf(smd.StructField{Name: "replicas", Type: inline(smd.Numeric)})},
			{Name: "status", Type: structOf(
				smd.StructField{Name: "replicas", Type: inline(smd.Numeric)},
				smd.StructField{Name: "selector", Type: inline(smd.String)})},
		}}},
	})}}
	return scaleConverter{parser.Type(name)}, nil
})

func inline(of smd.Scalar) smd.TypeRef { return smd.TypeRef{Inlined: smd.Atom{Scalar: &of}} }

func structOf(fields ...smd.StructField) smd.TypeRef {
	return smd.TypeRef{Inlined: smd.Atom{Map: &smd.Map{Fields: fields}}}
}

// ObjectToTyped lays the schema over a Scale.
func (c scaleConverter) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if raw, ok := obj.(runtime.Unstructured); ok {
		return c.scale.FromUnstructured(raw.UnstructuredContent(), opts...)
	}
	return c.scale.FromStructured(obj, opts...)
}

// TypedToObject takes it off again.
func (c scaleConverter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	return types().TypedToObject(value)
}
