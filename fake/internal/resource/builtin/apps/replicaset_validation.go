package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

func validateReplicaSet(rs *appsv1.ReplicaSet) field.ErrorList {
	return validateReplicaSetSpec(&rs.Spec, core.PodTemplateValidationOptions(&rs.Spec.Template, nil))
}

func validateReplicaSetUpdate(rs, old *appsv1.ReplicaSet) field.ErrorList {
	errs := validateReplicaSetSpec(&rs.Spec, core.PodTemplateValidationOptions(&rs.Spec.Template, &old.Spec.Template))
	var root *validate.Path
	return append(errs, validate.ImmutableSelector(rs.Spec.Selector, old.Spec.Selector, root.Child("spec").Child("selector"))...)
}

func validateReplicaSetSpec(spec *appsv1.ReplicaSetSpec, opts core.PodValidationOptions) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	errs := validate.NonNegativeOrNil(spec.Replicas, p.Child("replicas"))
	errs = append(errs, validate.NonNegative(int64(spec.MinReadySeconds), p.Child("minReadySeconds"))...)
	// The error for an empty selector names the wrong type on a real server, too.
	selectorErrs, valid := validateSelector(spec.Selector, "deployment", p.Child("selector"))
	errs = append(errs, selectorErrs...)
	if !valid {
		return append(errs, p.Child("selector").Invalid(spec.Selector, "invalid label selector"))
	}
	return append(errs, validateReplicaSetTemplate(&spec.Template, spec.Selector, opts, p.Child("template"))...)
}

func validateReplicaSetStatusUpdate(rs, _ *appsv1.ReplicaSet) field.ErrorList {
	var root *validate.Path
	p, s := root.Child("status"), &rs.Status
	errs := validate.NonNegative(int64(s.Replicas), p.Child("replicas"))
	errs = append(errs, validate.NonNegative(int64(s.FullyLabeledReplicas), p.Child("fullyLabeledReplicas"))...)
	errs = append(errs, validate.NonNegative(int64(s.ReadyReplicas), p.Child("readyReplicas"))...)
	errs = append(errs, validate.NonNegative(int64(s.AvailableReplicas), p.Child("availableReplicas"))...)
	errs = append(errs, validate.NonNegative(s.ObservedGeneration, p.Child("observedGeneration"))...)
	errs = append(errs, validate.NonNegativeOrNil(s.TerminatingReplicas, p.Child("terminatingReplicas"))...)
	const aboveReplicas = "cannot be greater than status.replicas"
	errs = append(errs, validateNotAbove(s.FullyLabeledReplicas, s.Replicas, aboveReplicas, p.Child("fullyLabeledReplicas"))...)
	errs = append(errs, validateNotAbove(s.ReadyReplicas, s.Replicas, aboveReplicas, p.Child("readyReplicas"))...)
	errs = append(errs, validateNotAbove(s.AvailableReplicas, s.Replicas, aboveReplicas, p.Child("availableReplicas"))...)
	return append(errs, validateNotAbove(s.AvailableReplicas, s.ReadyReplicas, "cannot be greater than readyReplicas", p.Child("availableReplicas"))...)
}
