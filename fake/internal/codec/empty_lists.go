package codec

import (
	"bytes"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// emptyListJSON is what an empty list looks like that its type never leaves out. Within a string the quote would be escaped, which at worst is
// looked at in vain.
var emptyListJSON = []byte(`":[]`)

// dropEmptyLists makes empty lists absent ones, and reports whether there may have been any in the encoded object. A real server keeps
// built-in types in protobuf, which does not tell the two apart: a Role with the rules [] comes back with null.
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
