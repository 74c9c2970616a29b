package policy

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

func validatePodDisruptionBudget(b *policyv1.PodDisruptionBudget) field.ErrorList {
	return validatePodDisruptionBudgetSpec(&b.Spec, metav1validation.LabelSelectorValidationOptions{})
}

func validatePodDisruptionBudgetUpdate(b, old *policyv1.PodDisruptionBudget) field.ErrorList {
	return validatePodDisruptionBudgetSpec(&b.Spec, metav1validation.LabelSelectorValidationOptions{
		AllowInvalidLabelValueInSelector: metav1validation.LabelSelectorHasInvalidLabelValue(old.Spec.Selector),
	})
}

func validatePodDisruptionBudgetSpec(spec *policyv1.PodDisruptionBudgetSpec, opts metav1validation.LabelSelectorValidationOptions) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("spec")
	if spec.MinAvailable != nil && spec.MaxUnavailable != nil {
		errs = append(errs, p.Invalid(*spec, "minAvailable and maxUnavailable cannot be both set"))
	}
	errs = append(errs, validate.IntOrPercent(spec.MinAvailable, p.Child("minAvailable"))...)
	errs = append(errs, validate.AtMost100Percent(spec.MinAvailable, p.Child("minAvailable"))...)
	errs = append(errs, validate.IntOrPercent(spec.MaxUnavailable, p.Child("maxUnavailable"))...)
	errs = append(errs, validate.AtMost100Percent(spec.MaxUnavailable, p.Child("maxUnavailable"))...)
	errs = append(errs, validate.LabelSelector(spec.Selector, opts, p.Child("selector"))...)
	if policy := spec.UnhealthyPodEvictionPolicy; policy != nil && *policy != policyv1.AlwaysAllow && *policy != policyv1.IfHealthyBudget {
		errs = append(errs, validate.NotSupported(p.Child("unhealthyPodEvictionPolicy"), *policy, policyv1.AlwaysAllow, policyv1.IfHealthyBudget))
	}
	return errs
}

func validatePodDisruptionBudgetStatusUpdate(b, _ *policyv1.PodDisruptionBudget) field.ErrorList {
	var root *validate.Path
	p, s := root.Child("status"), &b.Status
	errs := metav1validation.ValidateConditions(s.Conditions, p.Child("conditions").Field())
	errs = append(errs, validate.NonNegative(int64(s.DisruptionsAllowed), p.Child("disruptionsAllowed"))...)
	errs = append(errs, validate.NonNegative(int64(s.CurrentHealthy), p.Child("currentHealthy"))...)
	errs = append(errs, validate.NonNegative(int64(s.DesiredHealthy), p.Child("desiredHealthy"))...)
	return append(errs, validate.NonNegative(int64(s.ExpectedPods), p.Child("expectedPods"))...)
}
