package autoscaling

import (
	"errors"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate"
)

const (
	maxPeriodSeconds              = 1800
	maxStabilizationWindowSeconds = 3600
)

// apiVersionRule is what the apiVersion of a reference must have.
type apiVersionRule int

const (
	needsGroup apiVersionRule = iota
	needsNoGroup
	needsNothing // it has been accepted before
)

func validateHorizontalPodAutoscaler(hpa *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	return validateSpec(&hpa.Spec, targetRule(&hpa.Spec), needsNoGroup)
}

// validateHorizontalPodAutoscalerUpdate does not validate an apiVersion that has not changed.
func validateHorizontalPodAutoscalerUpdate(hpa, old *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	target, objects := targetRule(&hpa.Spec), needsNoGroup
	if ref, was := &hpa.Spec.ScaleTargetRef, &old.Spec.ScaleTargetRef; ref.APIVersion == was.APIVersion && ref.Kind == was.Kind {
		target = needsNothing
	}
	for _, metric := range old.Spec.Metrics {
		if metric.Type == autoscalingv2.ObjectMetricSourceType && metric.Object != nil &&
			checkAPIVersion(metric.Object.DescribedObject.APIVersion, needsNoGroup) != nil {
			objects = needsNothing
		}
	}
	return validateSpec(&hpa.Spec, target, objects)
}

// targetRule returns the rule for the target. Of the core group only ReplicationControllers can be
// scaled.
func targetRule(spec *autoscalingv2.HorizontalPodAutoscalerSpec) apiVersionRule {
	if spec.ScaleTargetRef.Kind == "ReplicationController" {
		return needsNoGroup
	}
	return needsGroup
}

// validateSpec validates a spec, except for the least values of the numbers of replicas, which
// validation tags state. target and objects are the rules for the target and for the objects that
// metrics describe.
func validateSpec(spec *autoscalingv2.HorizontalPodAutoscalerSpec, target, objects apiVersionRule) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("spec")
	if spec.MinReplicas != nil && spec.MaxReplicas < *spec.MinReplicas {
		errs = append(errs, p.Child("maxReplicas").Invalid(spec.MaxReplicas, "must be greater than or equal to `minReplicas`"))
	}
	errs = append(errs, validateReference(&spec.ScaleTargetRef, target, p.Child("scaleTargetRef"))...)
	metrics, canScale := p.Child("metrics"), spec.MinReplicas == nil || *spec.MinReplicas != 0
	for i := range spec.Metrics {
		m := &spec.Metrics[i]
		errs = append(errs, validateMetric(m, objects, metrics.Index(i))...)
		canScale = canScale || m.Type == autoscalingv2.ObjectMetricSourceType || m.Type == autoscalingv2.ExternalMetricSourceType
	}
	if !canScale {
		errs = append(errs, metrics.Forbidden("must specify at least one Object or External metric to support scaling to zero replicas"))
	}
	if behavior := spec.Behavior; behavior != nil {
		p := p.Child("behavior")
		errs = append(errs, validateScalingRules(behavior.ScaleUp, p.Child("scaleUp"))...)
		errs = append(errs, validateScalingRules(behavior.ScaleDown, p.Child("scaleDown"))...)
	}
	return errs
}

func validateReference(ref *autoscalingv2.CrossVersionObjectReference, rule apiVersionRule, p *validate.Path) field.ErrorList {
	errs := validateSegment(ref.Kind, "", p.Child("kind"))
	errs = append(errs, validateSegment(ref.Name, "", p.Child("name"))...)
	if err := checkAPIVersion(ref.APIVersion, rule); err != nil {
		errs = append(errs, p.Child("apiVersion").Invalid(ref.APIVersion, err.Error()))
	}
	return errs
}

// validateSegment validates a name that can be a segment of a path. required is the detail of the
// error if there is none.
func validateSegment(name, required string, p *validate.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{p.Required(required)}
	}
	return validate.Messages(name, resource.ValidatePathSegmentName(name, false), p)
}

func checkAPIVersion(apiVersion string, rule apiVersionRule) error {
	if rule == needsNothing {
		return nil
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err == nil && rule == needsGroup && gv.Group == "" {
		err = errors.New("apiVersion must specify API group")
	}
	return err
}

func validateScalingRules(rules *autoscalingv2.HPAScalingRules, p *validate.Path) (errs field.ErrorList) {
	if rules == nil {
		return nil
	}
	if seconds := rules.StabilizationWindowSeconds; seconds != nil {
		p := p.Child("stabilizationWindowSeconds")
		if *seconds < 0 {
			errs = append(errs, p.Invalid(*seconds, "must be greater than or equal to zero"))
		}
		if *seconds > maxStabilizationWindowSeconds {
			errs = append(errs, p.Invalid(*seconds, fmt.Sprintf("must be less than or equal to %d", maxStabilizationWindowSeconds)))
		}
	}
	if policy := rules.SelectPolicy; policy != nil {
		switch *policy {
		case autoscalingv2.DisabledPolicySelect, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect:
		default:
			errs = append(errs, validate.NotSupported(p.Child("selectPolicy"), *policy,
				autoscalingv2.DisabledPolicySelect, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect))
		}
	}
	policies := p.Child("policies")
	if len(rules.Policies) == 0 {
		errs = append(errs, policies.Required("must specify at least one Policy"))
	}
	for i := range rules.Policies {
		errs = append(errs, validateScalingPolicy(&rules.Policies[i], policies.Index(i))...)
	}
	if tolerance := rules.Tolerance; tolerance != nil && tolerance.Sign() < 0 {
		errs = append(errs, p.Child("tolerance").Invalid(tolerance.String(), "must be greater than or equal to 0"))
	}
	return errs
}

func validateScalingPolicy(policy *autoscalingv2.HPAScalingPolicy, p *validate.Path) (errs field.ErrorList) {
	if policy.Type != autoscalingv2.PodsScalingPolicy && policy.Type != autoscalingv2.PercentScalingPolicy {
		errs = append(errs, validate.NotSupported(p.Child("type"), policy.Type, autoscalingv2.PercentScalingPolicy, autoscalingv2.PodsScalingPolicy))
	}
	if policy.Value <= 0 {
		errs = append(errs, p.Child("value").Invalid(policy.Value, "must be greater than zero"))
	}
	if policy.PeriodSeconds <= 0 {
		errs = append(errs, p.Child("periodSeconds").Invalid(policy.PeriodSeconds, "must be greater than zero"))
	}
	if policy.PeriodSeconds > maxPeriodSeconds {
		errs = append(errs, p.Child("periodSeconds").Invalid(policy.PeriodSeconds, fmt.Sprintf("must be less than or equal to %d", maxPeriodSeconds)))
	}
	return errs
}

func validateHorizontalPodAutoscalerStatusUpdate(hpa, _ *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	var root *validate.Path
	p := root.Child("status")
	errs := validate.NonNegative(int64(hpa.Status.CurrentReplicas), p.Child("currentReplicas"))
	return append(errs, validate.NonNegative(int64(hpa.Status.DesiredReplicas), p.Child("desiredReplicas"))...)
}
