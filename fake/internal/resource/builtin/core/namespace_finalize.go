package core

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource"
)

// finalizeSubresource writes spec.finalizers, which no other request can change. The namespace
// controller removes its finalizer when the namespace is empty (NS-07).
func finalizeSubresource() resource.Subresource {
	return resource.Subresource{
		Name: "finalize", Verbs: []string{"update"},
		ResetFields:      []string{"status"},
		PrepareForUpdate: prepareNamespaceFinalizeForUpdate,
		ValidateUpdate:   validateNamespaceFinalizeUpdate,
	}
}

func prepareNamespaceFinalizeForUpdate(_ context.Context, obj, old runtime.Object) {
	obj.(*corev1.Namespace).Status = old.(*corev1.Namespace).Status
}

func validateNamespaceFinalizeUpdate(_ context.Context, obj, _ runtime.Object) field.ErrorList {
	var errs field.ErrorList
	standard := []string{string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}
	for i, f := range obj.(*corev1.Namespace).Spec.Finalizers {
		path, name := field.NewPath("spec", "finalizers").Index(i), string(f)
		for _, problem := range validation.IsQualifiedName(name) {
			errs = append(errs, field.Invalid(path, name, problem))
		}
		if !strings.Contains(name, "/") && !slices.Contains(standard, name) {
			errs = append(errs, field.Invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}
