package resource

import (
	"cmp"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// status is the subresource by which controllers write what they see. It keeps the
// spec (SU-02) and, of the metadata, what keeps names: "metadata" for all of it,
// "metadata.labels" or "metadata.ownerReferences" for a part. Most types keep none.
func status(keeps ...string) Subresource {
	return Subresource{
		Name: "status", Verbs: objectVerbs(),
		ResetFields: append([]string{"spec"}, keeps...),
		PrepareForUpdate: func(obj, old runtime.Object) {
			keepSpec(obj, old)
			for _, part := range keeps {
				keepMetadata(part, obj, old)
			}
		},
	}
}

// keepSpec carries over all that is neither metadata nor status.
func keepSpec(obj, old runtime.Object) {
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

func keepMetadata(part string, obj, old runtime.Object) {
	to, from := accessor(obj), accessor(old)
	switch part {
	case "metadata":
		metav1.ResetObjectMetaForStatus(to, from)
	case "metadata.labels":
		to.SetLabels(from.GetLabels())
	case "metadata.ownerReferences":
		to.SetOwnerReferences(from.GetOwnerReferences())
	}
}

// accessor gives the metadata of an object of a known type.
func accessor(obj runtime.Object) metav1.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(err) // every type of the table has metadata; a test walks them
	}
	return m
}

// podStatus keeps the owners, and what old kubelets lose of the status: the class of
// quality of service and the generations that were seen (KEP-5067).
func podStatus() Subresource {
	s := status("metadata.ownerReferences")
	s.ResetFields = append(s.ResetFields, "metadata.deletionTimestamp")
	keep := s.PrepareForUpdate
	s.PrepareForUpdate = func(obj, old runtime.Object) {
		keep(obj, old)
		now, was := &obj.(*corev1.Pod).Status, &old.(*corev1.Pod).Status
		now.QOSClass = cmp.Or(now.QOSClass, was.QOSClass)
		now.ObservedGeneration = cmp.Or(now.ObservedGeneration, was.ObservedGeneration)
		keepGenerations(now.Conditions, was.Conditions)
	}
	return s
}

// keepGenerations carries over the generations of conditions that have none. There
// may be more than one of a type; they count in their order.
func keepGenerations(now, was []corev1.PodCondition) {
	seen := map[corev1.PodConditionType][]int64{}
	for _, c := range was {
		seen[c.Type] = append(seen[c.Type], c.ObservedGeneration)
	}
	for i := range now {
		c := &now[i]
		if before := seen[c.Type]; len(before) > 0 {
			c.ObservedGeneration = cmp.Or(c.ObservedGeneration, before[0])
			seen[c.Type] = before[1:]
		}
	}
}

func withoutResets(s Subresource) Subresource {
	s.ResetFields = nil
	return s
}
