package autoscaling

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateMetric validates a metric, which has the source of its type and no other one. Only the
// first source is validated. objects is the rule for the objects that metrics describe.
func validateMetric(m *autoscalingv2.MetricSpec, objects apiVersionRule, p *validate.Path) (errs field.ErrorList) {
	var wanted string // the field of the type
	switch m.Type {
	case autoscalingv2.ObjectMetricSourceType:
		wanted = "object"
	case autoscalingv2.PodsMetricSourceType:
		wanted = "pods"
	case autoscalingv2.ResourceMetricSourceType:
		wanted = "resource"
	case autoscalingv2.ExternalMetricSourceType:
		wanted = "external"
	case autoscalingv2.ContainerResourceMetricSourceType:
		wanted = "containerResource"
	}
	if m.Type == "" {
		errs = append(errs, p.Child("type").Required("must specify a metric source type"))
	}
	if wanted == "" {
		errs = append(errs, unknownMetricType(m, p))
	}
	var sources []string
	if m.Object != nil {
		sources = append(sources, "object")
		errs = append(errs, validateObjectMetric(m.Object, objects, p.Child("object"))...)
	}
	if m.External != nil {
		if sources = append(sources, "external"); len(sources) == 1 {
			errs = append(errs, validateExternalMetric(m.External, p.Child("external"))...)
		}
	}
	if m.Pods != nil {
		if sources = append(sources, "pods"); len(sources) == 1 {
			errs = append(errs, validatePodsMetric(m.Pods, p.Child("pods"))...)
		}
	}
	if m.Resource != nil {
		if sources = append(sources, "resource"); len(sources) == 1 {
			errs = append(errs, validateResourceMetric(m.Resource, p.Child("resource"))...)
		}
	}
	if m.ContainerResource != nil {
		if sources = append(sources, "containerResource"); len(sources) == 1 {
			errs = append(errs, validateContainerResourceMetric(m.ContainerResource, p.Child("containerResource"))...)
		}
	}
	switch {
	case wanted == "": // a real server has this error twice
		errs = append(errs, unknownMetricType(m, p))
	case !slices.Contains(sources, wanted):
		errs = append(errs, p.Child(wanted).Required("must populate information for the given metric source"))
	}
	if len(sources) == 1 {
		return errs
	}
	for _, source := range sources {
		if source != wanted {
			errs = append(errs, p.Child(source).Forbidden("must populate the given metric source only"))
		}
	}
	return errs
}

func unknownMetricType(m *autoscalingv2.MetricSpec, p *validate.Path) *field.Error {
	return validate.NotSupported(p.Child("type"), m.Type,
		autoscalingv2.ContainerResourceMetricSourceType, autoscalingv2.ExternalMetricSourceType, autoscalingv2.ObjectMetricSourceType,
		autoscalingv2.PodsMetricSourceType, autoscalingv2.ResourceMetricSourceType)
}

func validateObjectMetric(m *autoscalingv2.ObjectMetricSource, objects apiVersionRule, p *validate.Path) field.ErrorList {
	errs := validateReference(&m.DescribedObject, objects, p.Child("describedObject"))
	errs = append(errs, validateMetricName(m.Metric.Name, p)...)
	errs = append(errs, validateMetricTarget(&m.Target, p.Child("target"))...)
	if m.Target.Value == nil && m.Target.AverageValue == nil {
		errs = append(errs, p.Child("target").Child("averageValue").Required("must set either a target value or averageValue"))
	}
	return errs
}

func validateExternalMetric(m *autoscalingv2.ExternalMetricSource, p *validate.Path) field.ErrorList {
	errs := validateMetricName(m.Metric.Name, p)
	p = p.Child("target")
	errs = append(errs, validateMetricTarget(&m.Target, p)...)
	switch {
	case m.Target.Value == nil && m.Target.AverageValue == nil:
		errs = append(errs, p.Child("averageValue").Required("must set either a target value for metric or a per-pod target"))
	case m.Target.Value != nil && m.Target.AverageValue != nil:
		errs = append(errs, p.Child("value").Forbidden("may not set both a target value for metric and a per-pod target"))
	}
	return errs
}

func validatePodsMetric(m *autoscalingv2.PodsMetricSource, p *validate.Path) field.ErrorList {
	errs := validateMetricName(m.Metric.Name, p)
	errs = append(errs, validateMetricTarget(&m.Target, p.Child("target"))...)
	if m.Target.AverageValue == nil {
		errs = append(errs, p.Child("target").Child("averageValue").Required("must specify a positive target averageValue"))
	}
	return errs
}

func validateResourceMetric(m *autoscalingv2.ResourceMetricSource, p *validate.Path) (errs field.ErrorList) {
	if m.Name == "" {
		errs = append(errs, p.Child("name").Required("must specify a resource name"))
	}
	return append(errs, validateResourceTarget(&m.Target, p.Child("target"))...)
}

func validateContainerResourceMetric(m *autoscalingv2.ContainerResourceMetricSource, p *validate.Path) (errs field.ErrorList) {
	if m.Name == "" {
		errs = append(errs, p.Child("name").Required("must specify a resource name"))
	} else {
		errs = append(errs, core.ValidateContainerResourceName(m.Name, p.Child("name"))...)
	}
	if m.Container == "" {
		errs = append(errs, p.Child("container").Required("must specify a container"))
	} else {
		errs = append(errs, validate.DNSLabel(m.Container, p.Child("container"))...)
	}
	return append(errs, validateResourceTarget(&m.Target, p.Child("target"))...)
}

// validateResourceTarget validates a target that is a value or a utilization.
func validateResourceTarget(t *autoscalingv2.MetricTarget, p *validate.Path) field.ErrorList {
	errs := validateMetricTarget(t, p)
	switch {
	case t.AverageUtilization == nil && t.AverageValue == nil:
		errs = append(errs, p.Child("averageUtilization").Required("must set either a target raw value or a target utilization"))
	case t.AverageUtilization != nil && t.AverageValue != nil:
		errs = append(errs, p.Child("averageValue").Forbidden("may not set both a target raw value and a target utilization"))
	}
	return errs
}

func validateMetricTarget(t *autoscalingv2.MetricTarget, p *validate.Path) (errs field.ErrorList) {
	if t.Type == "" {
		errs = append(errs, p.Child("type").Required("must specify a metric target type"))
	}
	switch t.Type {
	case autoscalingv2.UtilizationMetricType, autoscalingv2.ValueMetricType, autoscalingv2.AverageValueMetricType:
	default:
		errs = append(errs, p.Child("type").Invalid(t.Type, "must be either Utilization, Value, or AverageValue"))
	}
	errs = append(errs, validatePositive(t.Value, p.Child("value"))...)
	errs = append(errs, validatePositive(t.AverageValue, p.Child("averageValue"))...)
	if n := t.AverageUtilization; n != nil && *n < 1 {
		errs = append(errs, p.Child("averageUtilization").Invalid(*n, "must be greater than 0"))
	}
	return errs
}

// validatePositive validates that a quantity is positive, if there is one.
func validatePositive(q *resource.Quantity, p *validate.Path) field.ErrorList {
	if q == nil || q.Sign() > 0 {
		return nil
	}
	return field.ErrorList{p.Invalid(q, "must be positive")}
}

// validateMetricName validates the name of a metric. p is the path of its source.
func validateMetricName(name string, p *validate.Path) field.ErrorList {
	return validateSegment(name, "must specify a metric name", p.Child("metric").Child("name"))
}
