package table

import (
	"fmt"
	"strconv"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// autoscalingPrinters returns the printers of autoscalers and of Scale.
func autoscalingPrinters() []entry {
	spec := autoscalingv2.HorizontalPodAutoscalerSpec{}
	scaled := named()
	scaled.Format = ""
	return []entry{
		newEntry(autoscalingv2.SchemeGroupVersion, autoscalerCells,
			named(),
			text("Reference", describes(spec, "scaleTargetRef")),
			text("Targets", describes(spec, "metrics")),
			text("MinPods", describes(spec, "minReplicas")),
			text("MaxPods", describes(spec, "maxReplicas")),
			text("Replicas", describes(autoscalingv2.HorizontalPodAutoscalerStatus{}, "currentReplicas")),
			age(),
		),
		newEntry(autoscalingv1.SchemeGroupVersion, func(s *autoscalingv1.Scale) []any {
			return []any{s.Name, s.Spec.Replicas, s.Status.Replicas, since(s.CreationTimestamp)}
		},
			scaled,
			number("Desired", describes(autoscalingv1.ScaleSpec{}, "replicas")),
			number("Available", describes(autoscalingv1.ScaleStatus{}, "replicas")),
			age(),
		),
	}
}

func autoscalerCells(h *autoscalingv2.HorizontalPodAutoscaler) []any {
	metrics := h.Spec.Metrics
	if len(metrics) == 0 {
		metrics = defaultMetrics()
	}
	var targets []string
	for i := range metrics {
		var is autoscalingv2.MetricStatus
		if i < len(h.Status.CurrentMetrics) {
			is = h.Status.CurrentMetrics[i]
		}
		targets = append(targets, target(&metrics[i], &is))
	}
	return []any{
		h.Name, h.Spec.ScaleTargetRef.Kind + "/" + h.Spec.ScaleTargetRef.Name, firstN(targets, 2, ", "),
		strconv.Itoa(int(ptr.Deref(h.Spec.MinReplicas, 1))), h.Spec.MaxReplicas, h.Status.CurrentReplicas, since(h.CreationTimestamp),
	}
}

// defaultMetrics returns the metrics of an autoscaler that has none.
func defaultMetrics() []autoscalingv2.MetricSpec {
	share := int32(80)
	return []autoscalingv2.MetricSpec{{
		Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{
			Name:   corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &share},
		},
	}}
}

// target returns the current and the target value of a metric.
func target(m *autoscalingv2.MetricSpec, is *autoscalingv2.MetricStatus) string {
	switch {
	case m.Type == autoscalingv2.ExternalMetricSourceType && m.External != nil:
		var now *autoscalingv2.MetricValueStatus
		if is.External != nil {
			now = &is.External.Current
		}
		return valueOrAverage(&m.External.Target, now)
	case m.Type == autoscalingv2.ObjectMetricSourceType && m.Object != nil:
		var now *autoscalingv2.MetricValueStatus
		if is.Object != nil {
			now = &is.Object.Current
		}
		return valueOrAverage(&m.Object.Target, now)
	case m.Type == autoscalingv2.PodsMetricSourceType && m.Pods != nil:
		now := unknown
		if is.Pods != nil {
			now = is.Pods.Current.AverageValue.String()
		}
		return now + "/" + m.Pods.Target.AverageValue.String()
	case m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil:
		var now *autoscalingv2.MetricValueStatus
		if is.Resource != nil {
			now = &is.Resource.Current
		}
		return string(m.Resource.Name) + ": " + utilization(&m.Resource.Target, now)
	case m.Type == autoscalingv2.ContainerResourceMetricSourceType && m.ContainerResource != nil:
		var now *autoscalingv2.MetricValueStatus
		if is.ContainerResource != nil {
			now = &is.ContainerResource.Current
		}
		return string(m.ContainerResource.Name) + ": " + utilization(&m.ContainerResource.Target, now)
	}
	return "<unknown type>"
}

// valueOrAverage is target for a metric with a value or an average value.
func valueOrAverage(want *autoscalingv2.MetricTarget, is *autoscalingv2.MetricValueStatus) string {
	now := unknown
	if want.AverageValue != nil {
		if is != nil && is.AverageValue != nil {
			now = is.AverageValue.String()
		}
		return now + "/" + want.AverageValue.String() + " (avg)"
	}
	if is != nil {
		now = is.Value.String()
	}
	return now + "/" + want.Value.String()
}

// utilization is target for a metric with an average value or a utilization.
func utilization(want *autoscalingv2.MetricTarget, is *autoscalingv2.MetricValueStatus) string {
	now := unknown
	if want.AverageValue != nil {
		if is != nil {
			now = is.AverageValue.String()
		}
		return now + "/" + want.AverageValue.String()
	}
	if is != nil && is.AverageUtilization != nil {
		now = fmt.Sprintf("%d%%", *is.AverageUtilization)
	}
	goal := "<auto>"
	if want.AverageUtilization != nil {
		goal = fmt.Sprintf("%d%%", *want.AverageUtilization)
	}
	return now + "/" + goal
}
