package managedfields

import (
	"bytes"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// likeness reports whether two values of one Go type are the same to the library.
// Both are there; a nil pointer, slice or map is null.
type likeness func(a, b reflect.Value) bool

func sameString(a, b reflect.Value) bool {
	a, b, null, same := behind(a, b)
	return same && (null || a.String() == b.String())
}

func sameBool(a, b reflect.Value) bool {
	a, b, null, same := behind(a, b)
	return same && (null || a.Bool() == b.Bool())
}

func sameInt(a, b reflect.Value) bool {
	a, b, null, same := behind(a, b)
	return same && (null || a.Int() == b.Int())
}

// sameBytes tells null from empty, as the library does.
func sameBytes(a, b reflect.Value) bool {
	a, b, null, same := behind(a, b)
	return same && (null || a.IsNil() == b.IsNil() && bytes.Equal(a.Bytes(), b.Bytes()))
}

// behind gives what two pointers point to. null means that both are nil, same
// that both or neither are. What is no pointer is given back.
func behind(a, b reflect.Value) (_, _ reflect.Value, null, same bool) {
	if a.Kind() != reflect.Pointer {
		return a, b, false, true
	}
	if a.IsNil() || b.IsNil() {
		return a, b, true, a.IsNil() == b.IsNil()
	}
	return a.Elem(), b.Elem(), false, true
}

// sameTime compares times as they are written, in whole seconds; the zero time is
// null.
func sameTime(a, b reflect.Value) bool {
	x, y := pointer(a).(*metav1.Time), pointer(b).(*metav1.Time)
	if x.IsZero() || y.IsZero() {
		return x.IsZero() == y.IsZero()
	}
	return x.Unix() == y.Unix()
}

// sameQuantities compares quantities as they are written.
func sameQuantities(a, b resource.Quantity) bool {
	return a == b || a.String() == b.String()
}

// sameDeep compares anything: what Go takes for equal is, what it does not the
// library decides.
func sameDeep(a, b reflect.Value) bool {
	if a.Kind() == reflect.Slice && a.Type().Elem().Kind() == reflect.String {
		return sameStrings(a, b)
	}
	if reflect.DeepEqual(pointer(a), pointer(b)) {
		return true
	}
	x, err := value.NewValueReflect(pointer(a))
	if err != nil {
		return false
	}
	y, err := value.NewValueReflect(pointer(b))
	return err == nil && value.Equals(x, y)
}

// sameStrings is what DeepEqual says of two slices of strings.
func sameStrings(a, b reflect.Value) bool {
	if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		if a.Index(i).String() != b.Index(i).String() {
			return false
		}
	}
	return true
}

// pointer gives a pointer to v, or v if it is one.
func pointer(v reflect.Value) any {
	if v.Kind() == reflect.Pointer {
		return v.Interface()
	}
	if v.CanAddr() {
		return v.Addr().Interface()
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p.Interface()
}
