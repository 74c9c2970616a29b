package codec

import (
	"bytes"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// emptyList is what an empty list looks like that its type never leaves out. Within a string the quote would be escaped, which at worst is
// looked at in vain.
var emptyList = []byte(`":[]`)

// forgetEmpty makes empty lists absent ones, and reports whether there may have been any in the encoded object. A real server keeps
// built-in types in protobuf, which does not tell the two apart: a Role with the rules [] comes back with null.
func forgetEmpty(encoded []byte, obj runtime.Object) bool {
	if !bytes.Contains(encoded, emptyList) {
		return false
	}
	forget(reflect.ValueOf(obj))
	return true
}

func forget(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			forget(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				forget(f)
			}
		}
	case reflect.Slice:
		switch {
		case v.Type().Elem().Kind() == reflect.Uint8: // bytes are a value, not a list
		case v.Len() == 0 && v.CanSet():
			v.SetZero()
		default:
			for i := range v.Len() {
				forget(v.Index(i))
			}
		}
	}
}
