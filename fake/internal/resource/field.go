package resource

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
)

// stringField makes a selectable field of the stored type T. An object of another
// type has the value "", as one where the field is not set.
func stringField[T runtime.Object](label string, value func(T) string) Field {
	return Field{Label: label, Value: func(obj runtime.Object) string {
		typed, ok := obj.(T)
		if !ok {
			return ""
		}
		return value(typed)
	}}
}

// boolField is how a boolean reads in a field selector: "true" or "false".
func boolField[T runtime.Object](label string, value func(T) bool) Field {
	return stringField(label, func(obj T) string { return strconv.FormatBool(value(obj)) })
}

// intField is how a number of replicas or pods reads in a field selector.
func intField[T runtime.Object](label string, value func(T) int32) Field {
	return stringField(label, func(obj T) string { return strconv.Itoa(int(value(obj))) })
}
