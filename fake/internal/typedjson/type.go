package typedjson

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/fakeapi/fake/internal/jsonvalue"
)

// Types makes Types, which share the descriptions of the types that they have in common. It is safe
// for concurrent use. The zero value is ready.
type Types struct {
	mu     sync.Mutex // guards byType
	byType map[reflect.Type]*Type
}

// Type is the description of a Go type. It is safe for concurrent use.
type Type struct {
	goType reflect.Type
	kind   kind
	// isMarshaler and isUnmarshaler report whether the type has its own methods. The method
	// UnmarshalJSON is used instead of kind.
	isMarshaler, isUnmarshaler bool
	// elem is the type of the elements of lists and maps, and of what a pointer points to.
	elem *Type
	// complete sets the fields of a struct, on first use.
	complete func()
	fields   []field
	byName   map[string]int // indexes in fields
	// hasRawJSON is the result of containsRawJSON for a struct.
	hasRawJSON func() bool
	// size is the capacity of the slice that Append makes.
	size atomic.Int64
}

// kind is how the values of a type are read and written.
type kind int8

const (
	unsupported kind = iota
	stringKind
	boolKind
	intKind
	floatKind
	bytesKind
	listKind
	mapKind
	pointerKind
	structKind
	stringsKind   // []string
	stringMapKind // map[string]string
	timeKind      // metav1.Time
	quantityKind
	intOrStringKind
	fieldsV1Kind
)

// field is a field of the JSON of a struct.
type field struct {
	name  string
	key   string // "name":, as it is encoded
	index []int  // of the Go field; more than one for a field of an embedded struct
	typ   *Type
	// omitEmpty and omitZero are the options of the tag.
	omitEmpty, omitZero bool
	// strategy is how a strategic merge patch changes the field, mergeKey is the name of the field
	// that is the key of the elements of a list.
	strategy strategy
	mergeKey string
}

// in returns the field of a struct.
func (f *field) in(v reflect.Value) reflect.Value {
	for _, i := range f.index {
		v = v.Field(i)
	}
	return v
}

// NewType returns the description of a type.
func (ts *Types) NewType(t reflect.Type) *Type {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.newType(t)
}

// newType is NewType for a caller that holds the mutex.
func (ts *Types) newType(t reflect.Type) *Type {
	if known := ts.byType[t]; known != nil {
		return known
	}
	if ts.byType == nil {
		ts.byType = make(map[reflect.Type]*Type)
	}
	pointer := reflect.PointerTo(t)
	typ := &Type{
		goType:        t,
		isMarshaler:   pointer.Implements(reflect.TypeFor[json.Marshaler]()),
		isUnmarshaler: pointer.Implements(reflect.TypeFor[json.Unmarshaler]()),
	}
	ts.byType[t] = typ
	switch t {
	case reflect.TypeFor[metav1.Time]():
		typ.kind = timeKind
	case reflect.TypeFor[apiresource.Quantity]():
		typ.kind = quantityKind
	case reflect.TypeFor[intstr.IntOrString]():
		typ.kind = intOrStringKind
	case reflect.TypeFor[metav1.FieldsV1]():
		typ.kind = fieldsV1Kind
	case reflect.TypeFor[[]string]():
		typ.kind, typ.elem = stringsKind, ts.newType(t.Elem())
	case reflect.TypeFor[map[string]string]():
		typ.kind, typ.elem = stringMapKind, ts.newType(t.Elem())
	default:
		if !isText(t) {
			ts.setKind(typ)
		}
	}
	return typ
}

// isText reports whether values of a type are encoded as texts by the type itself.
func isText(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return pointer.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// setKind sets the kind of a type that has none of its own.
func (ts *Types) setKind(typ *Type) {
	t := typ.goType
	switch t.Kind() {
	case reflect.String:
		typ.kind = stringKind
	case reflect.Bool:
		typ.kind = boolKind
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		typ.kind = intKind
	case reflect.Float64:
		typ.kind = floatKind
	case reflect.Slice:
		typ.kind = listKind
		if typ.elem = ts.newType(t.Elem()); t.Elem().Kind() == reflect.Uint8 {
			typ.kind = bytesKind
		}
	case reflect.Map:
		if t.Key().Kind() == reflect.String && !isText(t.Key()) {
			typ.kind, typ.elem = mapKind, ts.newType(t.Elem())
		}
	case reflect.Pointer:
		typ.kind, typ.elem = pointerKind, ts.newType(t.Elem())
	case reflect.Struct:
		typ.kind = structKind
		typ.complete = sync.OnceFunc(func() {
			ts.mu.Lock()
			defer ts.mu.Unlock()
			ts.addFields(typ, t, nil)
		})
		typ.hasRawJSON = sync.OnceValue(func() bool { return typ.containsRawJSON(make(map[*Type]bool)) })
	}
}

// maxFields is the number of fields up to which a struct is supported.
const maxFields = 64

// addFields adds the fields of a struct, or of one that is embedded at an index, in the order in
// which they are encoded. A struct with fields that hide each other is not supported.
func (ts *Types) addFields(typ *Type, t reflect.Type, at []int) {
	if typ.byName == nil {
		typ.byName = make(map[string]int, t.NumField())
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" || !f.Anonymous && !f.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		index := append(at[:len(at):len(at)], i)
		if f.Anonymous && name == "" {
			embedded := ts.newType(f.Type)
			if embedded.kind != structKind || embedded.isMarshaler || embedded.isUnmarshaler {
				typ.kind = unsupported
				return
			}
			ts.addFields(typ, f.Type, index)
			continue
		}
		if name == "" {
			name = f.Name
		}
		if _, isHidden := typ.byName[name]; isHidden || !f.IsExported() || len(typ.fields) == maxFields {
			typ.kind = unsupported
			return
		}
		typ.byName[name] = len(typ.fields)
		field := field{name: name, key: string(jsonvalue.AppendString(nil, name)) + ":", index: index, typ: ts.newType(f.Type),
			strategy: newStrategy(f.Tag.Get("patchStrategy")), mergeKey: f.Tag.Get("patchMergeKey")}
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "omitempty":
				field.omitEmpty = true
			case "omitzero":
				field.omitZero = true
			case "string":
				typ.kind = unsupported
				return
			}
		}
		typ.fields = append(typ.fields, field)
	}
}

// kindOf returns the kind. The fields of a struct are complete then.
func (t *Type) kindOf() kind {
	if t.complete != nil {
		t.complete()
	}
	return t.kind
}
