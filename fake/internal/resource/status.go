package resource

import (
	"context"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// StatusSubresource returns the status subresource. It keeps the spec (SU-02), and the parts of the
// metadata in resetMetadata: "metadata", "metadata.labels" or "metadata.ownerReferences". Most
// types keep no metadata.
func StatusSubresource(resetMetadata ...string) Subresource {
	return Subresource{
		Name: "status", Verbs: ObjectSubresourceVerbs(),
		ResetFields: append([]string{"spec"}, resetMetadata...),
		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			copySpec(obj, old)
			for _, part := range resetMetadata {
				copyMetadata(part, obj, old)
			}
		},
	}
}

// copySpec copies all fields except metadata and status.
func copySpec(obj, old runtime.Object) {
	to, from := reflect.ValueOf(obj).Elem(), reflect.ValueOf(old).Elem()
	for i := range to.NumField() {
		if IsSpecField(to.Type().Field(i).Name) {
			to.Field(i).Set(from.Field(i))
		}
	}
}

// IsSpecField reports whether a Go field of a type is neither metadata nor status: the spec, or the
// fields of a type without spec.
func IsSpecField(field string) bool {
	return field != "TypeMeta" && field != "ObjectMeta" && field != "Status"
}

func copyMetadata(part string, obj, old runtime.Object) {
	to, from := Accessor(obj), Accessor(old)
	switch part {
	case "metadata":
		metav1.ResetObjectMetaForStatus(to, from)
	case "metadata.labels":
		to.SetLabels(from.GetLabels())
	case "metadata.ownerReferences":
		to.SetOwnerReferences(from.GetOwnerReferences())
	}
}
