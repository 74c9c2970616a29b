package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

func validateDaemonSet(ds *appsv1.DaemonSet) field.ErrorList {
	return validateDaemonSetSpec(&ds.Spec, core.PodTemplateValidationOptions(&ds.Spec.Template, nil), metav1validation.LabelSelectorValidationOptions{})
}

func validateDaemonSetUpdate(ds, old *appsv1.DaemonSet) field.ErrorList {
	var root *validate.Path
	errs := validate.ImmutableSelector(ds.Spec.Selector, old.Spec.Selector, root.Child("spec").Child("selector"))
	selectorOpts := metav1validation.LabelSelectorValidationOptions{
		AllowInvalidLabelValueInSelector: metav1validation.LabelSelectorHasInvalidLabelValue(old.Spec.Selector),
	}
	opts := core.PodTemplateValidationOptions(&ds.Spec.Template, &old.Spec.Template)
	return append(errs, validateDaemonSetSpec(&ds.Spec, opts, selectorOpts)...)
}

func validateDaemonSetSpec(spec *appsv1.DaemonSetSpec, opts core.PodValidationOptions, selectorOpts metav1validation.LabelSelectorValidationOptions) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	selector, selectorPath := spec.Selector, p.Child("selector")
	errs := validate.LabelSelector(selector, selectorOpts, selectorPath)
	if len(errs) == 0 && !selectorOpts.AllowInvalidLabelValueInSelector {
		errs = validateTemplateLabels(&spec.Template, selector, p.Child("template"))
	}
	if selector != nil && len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		errs = append(errs, selectorPath.Invalid(selector, "empty selector is invalid for daemonset"))
	}
	errs = append(errs, core.ValidatePodTemplateSpec(&spec.Template, opts, p.Child("template"))...)
	errs = append(errs, validateRunsForever(&spec.Template, "DaemonSet", p.Child("template"))...)
	errs = append(errs, validate.NonNegative(int64(spec.MinReadySeconds), p.Child("minReadySeconds"))...)
	errs = append(errs, validateDaemonSetUpdateStrategy(&spec.UpdateStrategy, p.Child("updateStrategy"))...)
	return append(errs, validate.NonNegativeOrNil(spec.RevisionHistoryLimit, p.Child("revisionHistoryLimit"))...)
}

func validateDaemonSetUpdateStrategy(strategy *appsv1.DaemonSetUpdateStrategy, p *validate.Path) (errs field.ErrorList) {
	update := strategy.RollingUpdate
	switch {
	case strategy.Type == appsv1.OnDeleteDaemonSetStrategyType:
		return nil
	case strategy.Type != appsv1.RollingUpdateDaemonSetStrategyType:
		return field.ErrorList{validate.NotSupported(p, *strategy, appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType)}
	case update == nil:
		return field.ErrorList{p.Child("rollingUpdate").Required("")}
	}
	p = p.Child("rollingUpdate")
	unavailable, surge := p.Child("maxUnavailable"), p.Child("maxSurge")
	errs = validate.IntOrPercent(update.MaxUnavailable, unavailable)
	errs = append(errs, validate.IntOrPercent(update.MaxSurge, surge)...)
	errs = append(errs, validate.AtMost100Percent(update.MaxUnavailable, unavailable)...)
	errs = append(errs, validate.AtMost100Percent(update.MaxSurge, surge)...)
	hasUnavailable, hasSurge := validate.IntOrPercentValue(update.MaxUnavailable) != 0, validate.IntOrPercentValue(update.MaxSurge) != 0
	switch {
	case hasUnavailable && hasSurge:
		errs = append(errs, surge.Invalid(update.MaxSurge, "may not be set when maxUnavailable is non-zero"))
	case !hasUnavailable && !hasSurge:
		errs = append(errs, unavailable.Required("cannot be 0 when maxSurge is 0"))
	}
	return errs
}

func validateDaemonSetStatusUpdate(ds, old *appsv1.DaemonSet) field.ErrorList {
	var root *validate.Path
	p, s := root.Child("status"), &ds.Status
	errs := validate.NonNegative(int64(s.CurrentNumberScheduled), p.Child("currentNumberScheduled"))
	errs = append(errs, validate.NonNegative(int64(s.NumberMisscheduled), p.Child("numberMisscheduled"))...)
	errs = append(errs, validate.NonNegative(int64(s.DesiredNumberScheduled), p.Child("desiredNumberScheduled"))...)
	errs = append(errs, validate.NonNegative(int64(s.NumberReady), p.Child("numberReady"))...)
	errs = append(errs, validate.NonNegative(s.ObservedGeneration, p.Child("observedGeneration"))...)
	errs = append(errs, validate.NonNegative(int64(s.UpdatedNumberScheduled), p.Child("updatedNumberScheduled"))...)
	errs = append(errs, validate.NonNegative(int64(s.NumberAvailable), p.Child("numberAvailable"))...)
	errs = append(errs, validate.NonNegative(int64(s.NumberUnavailable), p.Child("numberUnavailable"))...)
	errs = append(errs, validate.NonNegativeOrNil(s.CollisionCount, p.Child("collisionCount"))...)
	return append(errs, validateCollisionCountUpdate(s.CollisionCount, old.Status.CollisionCount, p.Child("collisionCount"))...)
}
