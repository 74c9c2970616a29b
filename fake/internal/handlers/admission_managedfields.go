package handlers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"example.com/fakeapi/fake/internal/resource"
)

// managedFields are the managedFields of an object as it has them. They are not decoded, because
// admission seldom changes them.
type managedFields struct {
	typed []metav1.ManagedFieldsEntry
	raw   []any // those of a custom resource
}

func managedFieldsOf(obj runtime.Object) managedFields {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return managedFields{typed: resource.Accessor(obj).GetManagedFields()}
	}
	metadata, _ := u.Object["metadata"].(map[string]any)
	raw, _ := metadata["managedFields"].([]any)
	return managedFields{raw: raw}
}

// isSame reports whether both share the entries.
func (m managedFields) isSame(other managedFields) bool {
	return isSameSlice(m.typed, other.typed) && isSameSlice(m.raw, other.raw)
}

func isSameSlice[E any](a, b []E) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// restoreIfInvalid gives obj, the object after mutating admission, the managedFields from before if
// admission has made them invalid, and adds a warning to the response.
func (m managedFields) restoreIfInvalid(obj runtime.Object, q *request) {
	if m.isSame(managedFieldsOf(obj)) {
		return
	}
	meta := resource.Accessor(obj)
	err := managedfields.ValidateManagedFields(meta.GetManagedFields())
	if err == nil {
		return
	}
	if u, ok := obj.(*unstructured.Unstructured); ok && m.raw != nil {
		u.Object["metadata"].(map[string]any)["managedFields"] = m.raw
	} else {
		meta.SetManagedFields(m.typed)
	}
	q.AddWarning("", ".metadata.managedFields was in an invalid state after admission; this could be caused by an "+
		"outdated mutating admission controller; please fix your requests: "+err.Error())
}
