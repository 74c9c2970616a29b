package codec

import (
	"bytes"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// emptyListJSON is the encoding of an empty list in a field without omitempty. In a string the
// quote would be escaped; a false match costs one more encoding.
var emptyListJSON = []byte(`":[]`)

// dropEmptyLists sets empty lists in obj to nil, and reports whether its encoding may contain any.
// A real server stores built-in types in protobuf, which does not distinguish them: a Role with the
// rules [] is returned with null.
func dropEmptyLists(encoded []byte, obj runtime.Object) bool {
	if !bytes.Contains(encoded, emptyListJSON) {
		return false
	}
	setEmptySlicesNil(reflect.ValueOf(obj))
	return true
}

func setEmptySlicesNil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			setEmptySlicesNil(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				setEmptySlicesNil(f)
			}
		}
	case reflect.Slice:
		switch {
		case v.Type().Elem().Kind() == reflect.Uint8: // bytes are a value, not a list
		case v.Len() == 0 && v.CanSet():
			v.SetZero()
		default:
			for i := range v.Len() {
				setEmptySlicesNil(v.Index(i))
			}
		}
	}
}
