package managedfields

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"example.com/fakeapi/fake/internal/managedfields/fastpath"
)

// goTypeConverter is the managedfields.TypeConverter of a type of objects that are not stored,
// whose schema client-go does not have.
type goTypeConverter struct{ objects typed.ParseableType }

// newGoTypeConverter returns a converter with a schema of the Go type of obj, whose metadata is
// that of the other types. All its lists are atomic, as those of the types that are not stored.
func newGoTypeConverter(obj runtime.Object) (managedfields.TypeConverter, error) {
	types, metadata, err := metadataTypes()
	if err != nil {
		return nil, err
	}
	goType := reflect.TypeOf(obj).Elem()
	parser := typed.Parser{Schema: smd.Schema{Types: append(slices.Clone(types), smd.TypeDef{
		Name: goType.Name(), Atom: structAtom(goType, metadata),
	})}}
	return goTypeConverter{parser.Type(goType.Name())}, nil
}

// newGoType returns the type of obj, which has its kind set, for the fast path.
func newGoType(obj runtime.Object) *fastpath.Type {
	types, err := newGoTypeConverter(obj)
	if err != nil {
		return nil
	}
	return fastpath.NewType(types, obj)
}

// metadataTypes returns the types of client-go and the reference to that of metadata.
func metadataTypes() (types []smd.TypeDef, metadata smd.TypeRef, err error) {
	kind := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	other, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil, metadata, err
	}
	other.GetObjectKind().SetGroupVersionKind(kind)
	value, err := builtinTypes().ObjectToTyped(other)
	if err != nil {
		return nil, metadata, err
	}
	all := value.Schema()
	top, ok := all.Resolve(value.TypeRef())
	if !ok || top.Map == nil {
		return nil, metadata, fmt.Errorf("no schema of %s", kind)
	}
	found, ok := top.Map.FindField("metadata")
	if !ok {
		return nil, metadata, fmt.Errorf("the schema of %s has no metadata", kind)
	}
	return all.Types, found.Type, nil
}

// structAtom returns the schema of a struct, with metadata as that of metav1.ObjectMeta.
func structAtom(t reflect.Type, metadata smd.TypeRef) smd.Atom {
	m := &smd.Map{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Type == reflect.TypeFor[metav1.ObjectMeta]():
			m.Fields = append(m.Fields, smd.StructField{Name: name, Type: metadata})
		case f.Anonymous && name == "":
			m.Fields = append(m.Fields, structAtom(f.Type, metadata).Map.Fields...)
		default:
			m.Fields = append(m.Fields, smd.StructField{Name: name, Type: smd.TypeRef{Inlined: atomOf(f.Type)}})
		}
	}
	if t == reflect.TypeFor[corev1.ObjectReference]() {
		m.ElementRelationship = smd.Atomic
	}
	return smd.Atom{Map: m}
}

// atomOf returns the schema of the type of a field.
func atomOf(t reflect.Type) smd.Atom {
	scalar := smd.Scalar(smd.Numeric)
	switch t.Kind() {
	case reflect.Pointer:
		return atomOf(t.Elem())
	case reflect.Struct:
		if t != reflect.TypeFor[metav1.Time]() {
			return structAtom(t, smd.TypeRef{})
		}
		scalar = smd.String
	case reflect.Slice:
		return smd.Atom{List: &smd.List{ElementType: smd.TypeRef{Inlined: atomOf(t.Elem())}, ElementRelationship: smd.Atomic}}
	case reflect.Map:
		return smd.Atom{Map: &smd.Map{ElementType: smd.TypeRef{Inlined: atomOf(t.Elem())}}}
	case reflect.String:
		scalar = smd.String
	case reflect.Bool:
		scalar = smd.Boolean
	}
	return smd.Atom{Scalar: &scalar}
}

// ObjectToTyped returns an object as a value with its schema.
func (c goTypeConverter) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if u, ok := obj.(runtime.Unstructured); ok {
		return c.objects.FromUnstructured(u.UnstructuredContent(), opts...)
	}
	return c.objects.FromStructured(obj, opts...)
}

// TypedToObject returns the object of a value.
func (c goTypeConverter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	return builtinTypes().TypedToObject(value)
}

// newScale returns a Scale with its kind.
func newScale() *autoscalingv1.Scale {
	scale := &autoscalingv1.Scale{}
	scale.SetGroupVersionKind(autoscalingv1.SchemeGroupVersion.WithKind("Scale"))
	return scale
}

// scaleTypes returns the converter of Scales.
var scaleTypes = sync.OnceValues(func() (managedfields.TypeConverter, error) { return newGoTypeConverter(newScale()) })

// scaleType returns the type of Scales for the fast path.
var scaleType = sync.OnceValue(func() *fastpath.Type { return newGoType(newScale()) })
