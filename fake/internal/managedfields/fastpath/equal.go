package fastpath

import (
	"bytes"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// equalFunc reports whether the library considers two values of one Go type equal. Both are
// present. A nil pointer, slice or map is null.
type equalFunc func(a, b reflect.Value) bool

func equalString(a, b reflect.Value) bool {
	a, b, null, equal := indirect(a, b)
	return equal && (null || a.String() == b.String())
}

func equalBool(a, b reflect.Value) bool {
	a, b, null, equal := indirect(a, b)
	return equal && (null || a.Bool() == b.Bool())
}

func equalInt(a, b reflect.Value) bool {
	a, b, null, equal := indirect(a, b)
	return equal && (null || a.Int() == b.Int())
}

// equalBytes distinguishes null and empty, as the library does.
func equalBytes(a, b reflect.Value) bool {
	a, b, null, equal := indirect(a, b)
	return equal && (null || a.IsNil() == b.IsNil() && bytes.Equal(a.Bytes(), b.Bytes()))
}

// indirect returns the values that two pointers point to. null is whether one of the pointers is
// nil, equal whether both or none are. It returns values that are no pointers unchanged.
func indirect(a, b reflect.Value) (_, _ reflect.Value, null, equal bool) {
	if a.Kind() != reflect.Pointer {
		return a, b, false, true
	}
	if a.IsNil() || b.IsNil() {
		return a, b, true, a.IsNil() == b.IsNil()
	}
	return a.Elem(), b.Elem(), false, true
}

// equalTime compares times in seconds, as they are encoded. The zero time is null.
func equalTime(a, b reflect.Value) bool {
	x, y := pointerTo(a).(*metav1.Time), pointerTo(b).(*metav1.Time)
	if x.IsZero() || y.IsZero() {
		return x.IsZero() == y.IsZero()
	}
	return x.Unix() == y.Unix()
}

// equalQuantities compares quantities as they are encoded.
func equalQuantities(a, b resource.Quantity) bool {
	return a == b || a.String() == b.String()
}

// equalDeep compares values of any type. If they are not equal in Go, the library decides.
func equalDeep(a, b reflect.Value) bool {
	if a.Kind() == reflect.Slice && a.Type().Elem().Kind() == reflect.String {
		return equalStrings(a, b)
	}
	if reflect.DeepEqual(pointerTo(a), pointerTo(b)) {
		return true
	}
	x, err := value.NewValueReflect(pointerTo(a))
	if err != nil {
		return false
	}
	y, err := value.NewValueReflect(pointerTo(b))
	return err == nil && value.Equals(x, y)
}

// equalStrings is reflect.DeepEqual for two slices of strings.
func equalStrings(a, b reflect.Value) bool {
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

// pointerTo returns a pointer to v, or v if it is a pointer.
func pointerTo(v reflect.Value) any {
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

// equalJSON reports whether the library considers two values of decoded JSON equal: 1 equals 1.0.
func equalJSON(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for name, value := range x {
			if other, has := y[name]; !has || !equalJSON(value, other) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, equalJSON)
	case int64:
		if y, ok := b.(float64); ok {
			return float64(x) == y
		}
	case float64:
		if y, ok := b.(int64); ok {
			return x == float64(y)
		}
	}
	return a == b
}
