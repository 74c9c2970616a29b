package resource

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
)

// StringField makes a selectable field of the stored type T. An object of another
// type has the value "", as one where the field is not set.
func StringField[T runtime.Object](label string, value func(T) string) Field {
	return Field{Label: label, Value: func(obj runtime.Object) string {
		typed, ok := obj.(T)
		if !ok {
			return ""
		}
		return value(typed)
	}}
}

// BoolField is how a boolean reads in a field selector: "true" or "false".
func BoolField[T runtime.Object](label string, value func(T) bool) Field {
	return StringField(label, func(obj T) string { return strconv.FormatBool(value(obj)) })
}

// IntField is how a number of replicas or pods reads in a field selector.
func IntField[T runtime.Object](label string, value func(T) int32) Field {
	return StringField(label, func(obj T) string { return strconv.Itoa(int(value(obj))) })
}
