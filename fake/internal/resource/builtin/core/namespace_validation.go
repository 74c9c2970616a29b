package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateNamespace validates the finalizers of a new namespace.
func validateNamespace(ns *corev1.Namespace) (errs field.ErrorList) {
	var root *validate.Path
	for _, finalizer := range ns.Spec.Finalizers {
		errs = append(errs, validateNamespaceFinalizer(finalizer, root.Child("spec").Child("finalizers"))...)
	}
	return errs
}

// validateNamespaceFinalizeUpdate validates the finalizers of a namespace that replace those of
// another.
func validateNamespaceFinalizeUpdate(ns, _ *corev1.Namespace) (errs field.ErrorList) {
	var root *validate.Path
	for i, finalizer := range ns.Spec.Finalizers {
		errs = append(errs, validateNamespaceFinalizer(finalizer, root.Child("spec").Child("finalizers").Index(i))...)
	}
	return errs
}

func validateNamespaceFinalizer(finalizer corev1.FinalizerName, p *validate.Path) field.ErrorList {
	name := string(finalizer)
	errs := validate.Messages(name, validation.IsQualifiedName(name), p)
	return append(errs, validate.StandardFinalizer(name, p)...)
}

// validateNamespaceStatusUpdate validates that the phase of a namespace agrees with its deletion.
func validateNamespaceStatusUpdate(ns, _ *corev1.Namespace) field.ErrorList {
	want, detail := corev1.NamespaceActive, "may only be 'Active' if `deletionTimestamp` is empty"
	if !ns.DeletionTimestamp.IsZero() {
		want, detail = corev1.NamespaceTerminating, "may only be 'Terminating' if `deletionTimestamp` is not empty"
	}
	if ns.Status.Phase == want {
		return nil
	}
	var root *validate.Path
	return field.ErrorList{root.Child("status").Child("Phase").Invalid(ns.Status.Phase, detail)}
}
