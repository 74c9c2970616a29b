package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

func validateDeployment(d *appsv1.Deployment) field.ErrorList {
	return validateDeploymentSpec(d, core.PodTemplateValidationOptions(&d.Spec.Template, nil))
}

func validateDeploymentUpdate(d, old *appsv1.Deployment) field.ErrorList {
	errs := validateDeploymentSpec(d, core.PodTemplateValidationOptions(&d.Spec.Template, &old.Spec.Template))
	var root *validate.Path
	return append(errs, validate.ImmutableSelector(d.Spec.Selector, old.Spec.Selector, root.Child("spec").Child("selector"))...)
}

func validateDeploymentSpec(d *appsv1.Deployment, opts core.PodValidationOptions) field.ErrorList {
	var root *validate.Path
	p, spec := root.Child("spec"), &d.Spec
	errs := validate.NonNegativeOrNil(spec.Replicas, p.Child("replicas"))
	selectorErrs, valid := validateSelector(spec.Selector, "deployment", p.Child("selector"))
	errs = append(errs, selectorErrs...)
	if valid {
		errs = append(errs, validateReplicaSetTemplate(&spec.Template, spec.Selector, opts, p.Child("template"))...)
	} else {
		errs = append(errs, p.Child("selector").Invalid(spec.Selector, "invalid label selector"))
	}
	errs = append(errs, validateDeploymentStrategy(&spec.Strategy, p.Child("strategy"))...)
	errs = append(errs, validate.NonNegative(int64(spec.MinReadySeconds), p.Child("minReadySeconds"))...)
	errs = append(errs, validate.NonNegativeOrNil(spec.RevisionHistoryLimit, p.Child("revisionHistoryLimit"))...)
	if revision, _ := rollbackTo(d); revision != nil {
		errs = append(errs, validate.NonNegative(*revision, p.Child("rollback").Child("version"))...)
	}
	if deadline := spec.ProgressDeadlineSeconds; deadline != nil {
		errs = append(errs, validate.NonNegative(int64(*deadline), p.Child("progressDeadlineSeconds"))...)
		if *deadline <= spec.MinReadySeconds {
			errs = append(errs, p.Child("progressDeadlineSeconds").Invalid(*deadline, "must be greater than minReadySeconds"))
		}
	}
	return errs
}

func validateDeploymentStrategy(strategy *appsv1.DeploymentStrategy, p *validate.Path) (errs field.ErrorList) {
	update, updatePath := strategy.RollingUpdate, p.Child("rollingUpdate")
	switch strategy.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if update != nil {
			errs = append(errs, updatePath.Forbidden("may not be specified when strategy `type` is 'Recreate'"))
		}
		return errs
	case appsv1.RollingUpdateDeploymentStrategyType:
	default:
		return field.ErrorList{validate.NotSupported(p, *strategy, appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType)}
	}
	if update == nil {
		return field.ErrorList{updatePath.Required("this should be defaulted and never be nil")}
	}
	unavailable := updatePath.Child("maxUnavailable")
	errs = validate.IntOrPercent(update.MaxUnavailable, unavailable)
	errs = append(errs, validate.IntOrPercent(update.MaxSurge, updatePath.Child("maxSurge"))...)
	if validate.IntOrPercentValue(update.MaxUnavailable) == 0 && validate.IntOrPercentValue(update.MaxSurge) == 0 {
		errs = append(errs, unavailable.Invalid(update.MaxUnavailable, "may not be 0 when `maxSurge` is 0"))
	}
	return append(errs, validate.AtMost100Percent(update.MaxUnavailable, unavailable)...)
}

func validateDeploymentStatusUpdate(d, old *appsv1.Deployment) field.ErrorList {
	var root *validate.Path
	p, s := root.Child("status"), &d.Status
	errs := validate.NonNegative(s.ObservedGeneration, p.Child("observedGeneration"))
	errs = append(errs, validate.NonNegative(int64(s.Replicas), p.Child("replicas"))...)
	errs = append(errs, validate.NonNegative(int64(s.UpdatedReplicas), p.Child("updatedReplicas"))...)
	errs = append(errs, validate.NonNegative(int64(s.ReadyReplicas), p.Child("readyReplicas"))...)
	errs = append(errs, validate.NonNegative(int64(s.AvailableReplicas), p.Child("availableReplicas"))...)
	errs = append(errs, validate.NonNegative(int64(s.UnavailableReplicas), p.Child("unavailableReplicas"))...)
	errs = append(errs, validate.NonNegativeOrNil(s.TerminatingReplicas, p.Child("terminatingReplicas"))...)
	errs = append(errs, validate.NonNegativeOrNil(s.CollisionCount, p.Child("collisionCount"))...)
	const aboveReplicas = "cannot be greater than status.replicas"
	errs = append(errs, validateNotAbove(s.UpdatedReplicas, s.Replicas, aboveReplicas, p.Child("updatedReplicas"))...)
	errs = append(errs, validateNotAbove(s.ReadyReplicas, s.Replicas, aboveReplicas, p.Child("readyReplicas"))...)
	errs = append(errs, validateNotAbove(s.AvailableReplicas, s.Replicas, aboveReplicas, p.Child("availableReplicas"))...)
	errs = append(errs, validateNotAbove(s.AvailableReplicas, s.ReadyReplicas, "cannot be greater than readyReplicas", p.Child("availableReplicas"))...)
	return append(errs, validateCollisionCountUpdate(s.CollisionCount, old.Status.CollisionCount, p.Child("collisionCount"))...)
}
