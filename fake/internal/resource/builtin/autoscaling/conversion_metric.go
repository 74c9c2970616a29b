package autoscaling

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
)

// metricSpecToV1 converts a target for the annotation of v1, which has a field for each kind of
// target where v2 has a target with a type.
func metricSpecToV1(m autoscalingv2.MetricSpec) autoscalingv1.MetricSpec {
	out := autoscalingv1.MetricSpec{Type: autoscalingv1.MetricSourceType(m.Type)}
	if in := m.Object; in != nil {
		out.Object = &autoscalingv1.ObjectMetricSource{
			Target:       autoscalingv1.CrossVersionObjectReference(in.DescribedObject),
			MetricName:   in.Metric.Name,
			Selector:     in.Metric.Selector,
			TargetValue:  quantityOrZero(in.Target.Value),
			AverageValue: in.Target.AverageValue,
		}
	}
	if in := m.Pods; in != nil {
		out.Pods = &autoscalingv1.PodsMetricSource{
			MetricName:         in.Metric.Name,
			Selector:           in.Metric.Selector,
			TargetAverageValue: quantityOrZero(in.Target.AverageValue),
		}
	}
	if in := m.Resource; in != nil {
		out.Resource = &autoscalingv1.ResourceMetricSource{
			Name:                     in.Name,
			TargetAverageUtilization: in.Target.AverageUtilization,
			TargetAverageValue:       in.Target.AverageValue,
		}
	}
	if in := m.ContainerResource; in != nil {
		out.ContainerResource = &autoscalingv1.ContainerResourceMetricSource{
			Name:                     in.Name,
			Container:                in.Container,
			TargetAverageUtilization: in.Target.AverageUtilization,
			TargetAverageValue:       in.Target.AverageValue,
		}
	}
	if in := m.External; in != nil {
		out.External = &autoscalingv1.ExternalMetricSource{
			MetricName:         in.Metric.Name,
			MetricSelector:     in.Metric.Selector,
			TargetValue:        in.Target.Value,
			TargetAverageValue: in.Target.AverageValue,
		}
	}
	return out
}

// metricSpecFromV1 is the inverse of metricSpecToV1. The field that is set determines the type of
// the target.
func metricSpecFromV1(m autoscalingv1.MetricSpec) autoscalingv2.MetricSpec {
	out := autoscalingv2.MetricSpec{Type: autoscalingv2.MetricSourceType(m.Type)}
	if in := m.Object; in != nil {
		out.Object = &autoscalingv2.ObjectMetricSource{
			DescribedObject: autoscalingv2.CrossVersionObjectReference(in.Target),
			Metric:          autoscalingv2.MetricIdentifier{Name: in.MetricName, Selector: in.Selector},
			Target:          objectTarget(in),
		}
	}
	if in := m.Pods; in != nil {
		out.Pods = &autoscalingv2.PodsMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: in.MetricName, Selector: in.Selector},
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &in.TargetAverageValue},
		}
	}
	if in := m.Resource; in != nil {
		out.Resource = &autoscalingv2.ResourceMetricSource{
			Name:   in.Name,
			Target: resourceTarget(in.TargetAverageUtilization, in.TargetAverageValue),
		}
	}
	if in := m.ContainerResource; in != nil {
		out.ContainerResource = &autoscalingv2.ContainerResourceMetricSource{
			Name:      in.Name,
			Container: in.Container,
			Target:    resourceTarget(in.TargetAverageUtilization, in.TargetAverageValue),
		}
	}
	if in := m.External; in != nil {
		target := autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: in.TargetValue, AverageValue: in.TargetAverageValue}
		if in.TargetValue == nil {
			target.Type = autoscalingv2.AverageValueMetricType
		}
		out.External = &autoscalingv2.ExternalMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: in.MetricName, Selector: in.MetricSelector},
			Target: target,
		}
	}
	return out
}

// objectTarget omits the value, which is required ("0") in v1, for a target that is an average.
func objectTarget(in *autoscalingv1.ObjectMetricSource) autoscalingv2.MetricTarget {
	if in.AverageValue == nil {
		return autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: &in.TargetValue}
	}
	target := autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: in.AverageValue}
	if !in.TargetValue.IsZero() {
		target.Value = &in.TargetValue
	}
	return target
}

func resourceTarget(utilization *int32, value *resource.Quantity) autoscalingv2.MetricTarget {
	target := autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: utilization, AverageValue: value}
	if utilization == nil {
		target.Type = autoscalingv2.AverageValueMetricType
	}
	return target
}

// metricStatusToV1 converts a current value for the annotation of v1.
func metricStatusToV1(m autoscalingv2.MetricStatus) autoscalingv1.MetricStatus {
	out := autoscalingv1.MetricStatus{Type: autoscalingv1.MetricSourceType(m.Type)}
	if in := m.Object; in != nil {
		out.Object = &autoscalingv1.ObjectMetricStatus{
			Target:       autoscalingv1.CrossVersionObjectReference(in.DescribedObject),
			MetricName:   in.Metric.Name,
			Selector:     in.Metric.Selector,
			CurrentValue: quantityOrZero(in.Current.Value),
			AverageValue: in.Current.AverageValue,
		}
	}
	if in := m.Pods; in != nil {
		out.Pods = &autoscalingv1.PodsMetricStatus{
			MetricName:          in.Metric.Name,
			Selector:            in.Metric.Selector,
			CurrentAverageValue: quantityOrZero(in.Current.AverageValue),
		}
	}
	if in := m.Resource; in != nil {
		out.Resource = &autoscalingv1.ResourceMetricStatus{
			Name:                      in.Name,
			CurrentAverageUtilization: in.Current.AverageUtilization,
			CurrentAverageValue:       quantityOrZero(in.Current.AverageValue),
		}
	}
	if in := m.ContainerResource; in != nil {
		out.ContainerResource = &autoscalingv1.ContainerResourceMetricStatus{
			Name:                      in.Name,
			Container:                 in.Container,
			CurrentAverageUtilization: in.Current.AverageUtilization,
			CurrentAverageValue:       quantityOrZero(in.Current.AverageValue),
		}
	}
	if in := m.External; in != nil {
		out.External = &autoscalingv1.ExternalMetricStatus{
			MetricName:          in.Metric.Name,
			MetricSelector:      in.Metric.Selector,
			CurrentValue:        quantityOrZero(in.Current.Value),
			CurrentAverageValue: in.Current.AverageValue,
		}
	}
	return out
}

// metricStatusFromV1 is the inverse of metricStatusToV1.
func metricStatusFromV1(m autoscalingv1.MetricStatus) autoscalingv2.MetricStatus {
	out := autoscalingv2.MetricStatus{Type: autoscalingv2.MetricSourceType(m.Type)}
	if in := m.Object; in != nil {
		out.Object = &autoscalingv2.ObjectMetricStatus{
			DescribedObject: autoscalingv2.CrossVersionObjectReference(in.Target),
			Metric:          autoscalingv2.MetricIdentifier{Name: in.MetricName, Selector: in.Selector},
			Current:         autoscalingv2.MetricValueStatus{Value: &in.CurrentValue, AverageValue: in.AverageValue},
		}
	}
	if in := m.Pods; in != nil {
		out.Pods = &autoscalingv2.PodsMetricStatus{
			Metric:  autoscalingv2.MetricIdentifier{Name: in.MetricName, Selector: in.Selector},
			Current: autoscalingv2.MetricValueStatus{AverageValue: &in.CurrentAverageValue},
		}
	}
	if in := m.Resource; in != nil {
		out.Resource = &autoscalingv2.ResourceMetricStatus{
			Name:    in.Name,
			Current: autoscalingv2.MetricValueStatus{AverageUtilization: in.CurrentAverageUtilization, AverageValue: &in.CurrentAverageValue},
		}
	}
	if in := m.ContainerResource; in != nil {
		out.ContainerResource = &autoscalingv2.ContainerResourceMetricStatus{
			Name:      in.Name,
			Container: in.Container,
			Current:   autoscalingv2.MetricValueStatus{AverageUtilization: in.CurrentAverageUtilization, AverageValue: &in.CurrentAverageValue},
		}
	}
	if in := m.External; in != nil {
		out.External = &autoscalingv2.ExternalMetricStatus{
			Metric:  autoscalingv2.MetricIdentifier{Name: in.MetricName, Selector: in.MetricSelector},
			Current: autoscalingv2.MetricValueStatus{Value: &in.CurrentValue, AverageValue: in.CurrentAverageValue},
		}
	}
	return out
}

// quantityOrZero returns zero for nil, which v1 cannot distinguish.
func quantityOrZero(q *resource.Quantity) resource.Quantity {
	if q == nil {
		return resource.Quantity{}
	}
	return *q
}
