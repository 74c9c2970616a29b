package codec

import (
	"bytes"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// emptyListJSON is the encoding of an empty list in a field without omitempty, and nullJSON that of
// nil in such a field or in a map. In a string the quote would be escaped; a false match costs one
// more encoding.
var (
	emptyListJSON = []byte(`":[]`)
	nullJSON      = []byte(`":null`)
)

// normalizeEmpty sets empty lists in obj to nil and bytes in maps that are nil to empty ones, and
// reports whether this may change its encoding. A real server stores most built-in types in
// protobuf, which does not distinguish them: a Role with the rules [] is returned with null, and a
// Secret with null for a key with "". Most nulls are other values, such as times.
func normalizeEmpty(encoded []byte, obj runtime.Object) bool {
	if !bytes.Contains(encoded, emptyListJSON) && !bytes.Contains(encoded, nullJSON) {
		return false
	}
	return normalizeEmptyValue(reflect.ValueOf(obj))
}

// normalizeEmptyValue is normalizeEmpty for a part of an object. It reports whether it changed any.
func normalizeEmptyValue(v reflect.Value) (changed bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && normalizeEmptyValue(v.Elem())
	case reflect.Map:
		if elem := v.Type().Elem(); elem.Kind() == reflect.Slice && elem.Elem().Kind() == reflect.Uint8 {
			for _, key := range v.MapKeys() {
				if v.MapIndex(key).IsNil() {
					v.SetMapIndex(key, reflect.MakeSlice(elem, 0, 0))
					changed = true
				}
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() && normalizeEmptyValue(f) {
				changed = true
			}
		}
	case reflect.Slice:
		switch {
		case v.Type().Elem().Kind() == reflect.Uint8: // bytes are a value, not a list
		case v.Len() == 0 && v.CanSet():
			changed = !v.IsNil()
			v.SetZero()
		default:
			for i := range v.Len() {
				if normalizeEmptyValue(v.Index(i)) {
					changed = true
				}
			}
		}
	}
	return changed
}
