package typedjson

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/fakeapi/fake/internal/jsonvalue"
)

// Append appends the JSON of obj, a pointer to a value of the type, to b. It returns false if the
// value is not supported.
func (t *Type) Append(b []byte, obj any) ([]byte, bool) {
	if t == nil {
		return b, false
	}
	if b == nil {
		b = make([]byte, 0, t.size.Load())
	}
	b, ok := t.append(b, reflect.ValueOf(obj).Elem())
	t.size.Store(int64(len(b)) + int64(len(b))/8) // the next one is probably not much longer
	return b, ok
}

func (t *Type) append(b []byte, v reflect.Value) ([]byte, bool) {
	kind := t.kindOf()
	switch {
	case kind == timeKind && v.CanAddr():
		return appendTime(b, v.Addr().Interface().(*metav1.Time)), true
	case kind == intOrStringKind && v.CanAddr():
		return appendIntOrString(b, v.Addr().Interface().(*intstr.IntOrString))
	case kind == quantityKind:
		return appendQuantity(b, v)
	case kind == fieldsV1Kind && v.CanAddr():
		return appendFieldsV1(b, v.Addr().Interface().(*metav1.FieldsV1))
	case t.isMarshaler:
		return appendByLibrary(b, v)
	}
	switch kind {
	case stringKind:
		return jsonvalue.AppendString(b, v.String()), true
	case boolKind:
		return strconv.AppendBool(b, v.Bool()), true
	case intKind:
		return strconv.AppendInt(b, v.Int(), 10), true
	case floatKind:
		return appendByLibrary(b, v)
	case structKind:
		return t.appendStruct(b, v)
	case pointerKind:
		if !v.IsNil() {
			return t.elem.append(b, v.Elem())
		}
	case bytesKind:
		if !v.IsNil() {
			return append(base64.StdEncoding.AppendEncode(append(b, '"'), v.Bytes()), '"'), true
		}
	case listKind, stringsKind:
		if !v.IsNil() {
			return t.appendList(b, v)
		}
	case mapKind, stringMapKind:
		if !v.IsNil() {
			return t.appendMap(b, v)
		}
	default:
		return b, false
	}
	return append(b, "null"...), true
}

func (t *Type) appendStruct(b []byte, v reflect.Value) (_ []byte, ok bool) {
	b = append(b, '{')
	start := len(b)
	for i := range t.fields {
		f := &t.fields[i]
		value := f.in(v)
		if f.omitZero && !value.CanAddr() {
			return b, false
		}
		if f.isOmitted(value) {
			continue
		}
		if len(b) > start {
			b = append(b, ',')
		}
		b = append(b, f.key...)
		if b, ok = f.typ.append(b, value); !ok {
			return b, false
		}
	}
	return append(b, '}'), true
}

// isOmitted reports whether a field with a value is left out.
func (f *field) isOmitted(v reflect.Value) bool {
	return f.omitEmpty && isEmpty(v) || f.omitZero && isZero(v)
}

// isEmpty reports whether a field with omitempty is left out.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// isZero reports whether a field with omitzero is left out.
func isZero(v reflect.Value) bool {
	type zeroer interface{ IsZero() bool }
	if z, ok := v.Addr().Interface().(zeroer); ok && v.Kind() != reflect.Pointer {
		return z.IsZero()
	}
	if z, ok := v.Interface().(zeroer); ok {
		return v.IsNil() || z.IsZero()
	}
	return v.IsZero()
}

func (t *Type) appendList(b []byte, v reflect.Value) (_ []byte, ok bool) {
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		if t.kind == stringsKind {
			b = jsonvalue.AppendString(b, v.Index(i).String())
		} else if b, ok = t.elem.append(b, v.Index(i)); !ok {
			return b, false
		}
	}
	return append(b, ']'), true
}

// appendMap appends a map in the order of its keys.
func (t *Type) appendMap(b []byte, v reflect.Value) (_ []byte, ok bool) {
	if t.kind == stringMapKind && v.CanAddr() {
		return appendStringMap(b, *v.Addr().Interface().(*map[string]string)), true
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
	b = append(b, '{')
	for i, key := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsonvalue.AppendString(b, key.String()), ':')
		if t.kind == stringMapKind {
			b = jsonvalue.AppendString(b, v.MapIndex(key).String())
		} else if b, ok = t.elem.append(b, v.MapIndex(key)); !ok {
			return b, false
		}
	}
	return append(b, '}'), true
}

func appendStringMap(b []byte, m map[string]string) []byte {
	var buffer [16]string
	keys := buffer[:0]
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	b = append(b, '{')
	for i, key := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsonvalue.AppendString(b, key), ':')
		b = jsonvalue.AppendString(b, m[key])
	}
	return append(b, '}')
}

// appendByLibrary appends a value of a type with its own MarshalJSON.
func appendByLibrary(b []byte, v reflect.Value) ([]byte, bool) {
	if v.CanAddr() {
		v = v.Addr()
	}
	encoded, err := json.Marshal(v.Interface())
	return append(b, encoded...), err == nil
}

func appendTime(b []byte, t *metav1.Time) []byte {
	if t.IsZero() {
		return append(b, "null"...)
	}
	return append(t.UTC().AppendFormat(append(b, '"'), time.RFC3339), '"')
}

func appendIntOrString(b []byte, v *intstr.IntOrString) ([]byte, bool) {
	switch v.Type {
	case intstr.Int:
		return strconv.AppendInt(b, int64(v.IntVal), 10), true
	case intstr.String:
		return jsonvalue.AppendString(b, v.StrVal), true
	}
	return b, false
}

// appendQuantity appends a quantity, whose encoding has no characters that are escaped.
func appendQuantity(b []byte, v reflect.Value) ([]byte, bool) {
	encoded, err := v.Interface().(apiresource.Quantity).MarshalJSON()
	return append(b, encoded...), err == nil
}

// appendFieldsV1 appends a set of fields, which is JSON already. The library validates and encodes
// those that it may change.
func appendFieldsV1(b []byte, f *metav1.FieldsV1) ([]byte, bool) {
	raw := f.GetRawBytes()
	if n := fieldsLen(raw); n == 0 || n < len(raw) {
		return appendByLibrary(b, reflect.ValueOf(f))
	}
	return append(b, raw...), true
}
