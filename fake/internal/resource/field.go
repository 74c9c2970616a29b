package resource

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
)

// StringField returns a field selector of the stored type T. Its value for an object of another
// type is "".
func StringField[T runtime.Object](label string, value func(T) string) Field {
	return Field{Label: label, Value: func(obj runtime.Object) string {
		typed, ok := obj.(T)
		if !ok {
			return ""
		}
		return value(typed)
	}}
}

// BoolField returns a field selector with the values "true" and "false".
func BoolField[T runtime.Object](label string, value func(T) bool) Field {
	return StringField(label, func(obj T) string { return strconv.FormatBool(value(obj)) })
}

// IntField returns a field selector of a number.
func IntField[T runtime.Object](label string, value func(T) int32) Field {
	return StringField(label, func(obj T) string { return strconv.Itoa(int(value(obj))) })
}
