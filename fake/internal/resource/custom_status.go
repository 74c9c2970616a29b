package resource

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/crd/structural"
	"example.com/fakeapi/fake/internal/crd/versions"
)

// customStatusSubresource writes the status and nothing else. Of the metadata it writes only
// managedFields.
func customStatusSubresource(v *versions.Version) Subresource {
	s := StatusSubresource()
	s.PrepareForUpdate = func(_ context.Context, obj, old runtime.Object) {
		prepareStatusUpdate(asUnstructured(obj), asUnstructured(old))
	}
	s.ValidateUpdate = UpdateValidationWithContext(func(ctx context.Context, obj, old runtime.Object) field.ErrorList {
		return v.ValidateStatusUpdate(ctx, asUnstructured(obj), asUnstructured(old))
	})
	return s
}

// prepareStatusUpdate sets everything but the status, managedFields and the resourceVersion to what
// old has. obj shares values with old then, which must not change any more.
func prepareStatusUpdate(obj, old *unstructured.Unstructured) {
	sent := &unstructured.Unstructured{Object: obj.Object}
	metadata, _ := old.Object["metadata"].(map[string]any)
	obj.Object = maps.Clone(old.Object)
	obj.Object["metadata"] = maps.Clone(metadata)
	obj.SetResourceVersion(sent.GetResourceVersion())
	copyManagedFields(obj, sent)
	if status, hasStatus := sent.Object["status"]; hasStatus {
		obj.Object["status"] = status
	} else {
		delete(obj.Object, "status")
	}
}

// copyManagedFields sets the managedFields of to to those of from, which it decodes only if
// encoding them again may change them.
func copyManagedFields(to, from *unstructured.Unstructured) {
	entries, _, _ := unstructured.NestedFieldNoCopy(from.Object, "metadata", "managedFields")
	if structural.AreCanonicalManagedFields(entries) {
		to.Object["metadata"].(map[string]any)["managedFields"] = entries
		return
	}
	to.SetManagedFields(from.GetManagedFields())
}
