package resource

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// StatusSubresource is the subresource by which controllers write what they see. It keeps the
// spec (SU-02) and, of the metadata, what keeps names: "metadata" for all of it,
// "metadata.labels" or "metadata.ownerReferences" for a part. Most types keep none.
func StatusSubresource(resetMetadata ...string) Subresource {
	return Subresource{
		Name: "status", Verbs: ObjectSubresourceVerbs(),
		ResetFields: append([]string{"spec"}, resetMetadata...),
		PrepareForUpdate: func(obj, old runtime.Object) {
			copySpec(obj, old)
			for _, part := range resetMetadata {
				copyMetadata(part, obj, old)
			}
		},
	}
}

// copySpec carries over all that is neither metadata nor status.
func copySpec(obj, old runtime.Object) {
	to, from := reflect.ValueOf(obj).Elem(), reflect.ValueOf(old).Elem()
	for i := range to.NumField() {
		if IsSpecField(to.Type().Field(i).Name) {
			to.Field(i).Set(from.Field(i))
		}
	}
}

// IsSpecField tells the Go fields of a type that are neither metadata nor status: the
// spec, and what types without one have in its place.
func IsSpecField(field string) bool {
	return field != "TypeMeta" && field != "ObjectMeta" && field != "Status"
}

func copyMetadata(part string, obj, old runtime.Object) {
	to, from := mustAccessor(obj), mustAccessor(old)
	switch part {
	case "metadata":
		metav1.ResetObjectMetaForStatus(to, from)
	case "metadata.labels":
		to.SetLabels(from.GetLabels())
	case "metadata.ownerReferences":
		to.SetOwnerReferences(from.GetOwnerReferences())
	}
}

// mustAccessor gives the metadata of an object of a known type.
func mustAccessor(obj runtime.Object) metav1.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(err) // every type of the table has metadata; a test walks them
	}
	return m
}
