package jsonvalue

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
)

// Equal is reflect.DeepEqual, and fast for values that Decode returns.
func Equal(a, b any) bool { return comparison{reflect.DeepEqual, false}.equal(a, b) }

// SemanticEqual is equality.Semantic.DeepEqual, and fast for values that Decode returns.
func SemanticEqual(a, b any) bool { return comparison{equality.Semantic.DeepEqual, true}.equal(a, b) }

// comparison is a way to compare values.
type comparison struct {
	other      func(a, b any) bool // compares values of other types
	nilIsEmpty bool                // nil maps and slices equal empty ones
}

func (c comparison) equal(a, b any) bool {
	switch x := a.(type) {
	case nil, string, bool, int64, float64:
		return a == b
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && c.equalObjects(x, y)
	case []any:
		y, ok := b.([]any)
		return ok && c.equalLists(x, y)
	}
	return c.other(a, b)
}

func (c comparison) equalObjects(a, b map[string]any) bool {
	if len(a) != len(b) || !c.nilIsEmpty && (a == nil) != (b == nil) {
		return false
	}
	if reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer() {
		return true
	}
	for name, value := range a {
		if other, has := b[name]; !has || !c.equal(value, other) {
			return false
		}
	}
	return true
}

func (c comparison) equalLists(a, b []any) bool {
	if len(a) != len(b) || !c.nilIsEmpty && (a == nil) != (b == nil) {
		return false
	}
	if len(a) == 0 || &a[0] == &b[0] {
		return true
	}
	for i := range a {
		if !c.equal(a[i], b[i]) {
			return false
		}
	}
	return true
}
