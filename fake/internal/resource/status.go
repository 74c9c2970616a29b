package resource

import (
	"cmp"
	"reflect"

	corev1 "k8s.io/api/core/v1"
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

// podStatusSubresource keeps the owners, and what old kubelets lose of the status: the class of
// quality of service and the generations that were seen (KEP-5067).
func podStatusSubresource() Subresource {
	s := StatusSubresource("metadata.ownerReferences")
	s.ResetFields = append(s.ResetFields, "metadata.deletionTimestamp")
	prepareForUpdate := s.PrepareForUpdate
	s.PrepareForUpdate = func(obj, old runtime.Object) {
		prepareForUpdate(obj, old)
		newStatus, oldStatus := &obj.(*corev1.Pod).Status, &old.(*corev1.Pod).Status
		newStatus.QOSClass = cmp.Or(newStatus.QOSClass, oldStatus.QOSClass)
		newStatus.ObservedGeneration = cmp.Or(newStatus.ObservedGeneration, oldStatus.ObservedGeneration)
		copyObservedGenerations(newStatus.Conditions, oldStatus.Conditions)
	}
	return s
}

// copyObservedGenerations carries over the generations of conditions that have none. There
// may be more than one of a type; they count in their order.
func copyObservedGenerations(conditions, oldConditions []corev1.PodCondition) {
	seen := map[corev1.PodConditionType][]int64{}
	for _, c := range oldConditions {
		seen[c.Type] = append(seen[c.Type], c.ObservedGeneration)
	}
	for i := range conditions {
		c := &conditions[i]
		if before := seen[c.Type]; len(before) > 0 {
			c.ObservedGeneration = cmp.Or(c.ObservedGeneration, before[0])
			seen[c.Type] = before[1:]
		}
	}
}

func withoutResetFields(s Subresource) Subresource {
	s.ResetFields = nil
	return s
}
