package autoscaling

import (
	"encoding/json"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Annotations with JSON for the fields of v2 that autoscaling/v1 does not have. Only v1 objects
// have them.
const (
	hpaMetricsAnnotation        = "autoscaling.alpha.kubernetes.io/metrics"
	hpaCurrentMetricsAnnotation = "autoscaling.alpha.kubernetes.io/current-metrics"
	hpaConditionsAnnotation     = "autoscaling.alpha.kubernetes.io/conditions"
	hpaBehaviorAnnotation       = "autoscaling.alpha.kubernetes.io/behavior"
)

// hpaDefaultUtilization is the CPU target, in percent, of an object without any metric.
const hpaDefaultUtilization = 80

// convertHPAToV1 converts an autoscaler from v2 to v1. v1 has fields for the utilization of CPU;
// everything else is stored in annotations.
func convertHPAToV1(obj runtime.Object) (runtime.Object, error) {
	in := obj.(*autoscalingv2.HorizontalPodAutoscaler)
	out := &autoscalingv1.HorizontalPodAutoscaler{
		ObjectMeta: in.ObjectMeta,
		Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
			ScaleTargetRef:                 autoscalingv1.CrossVersionObjectReference(in.Spec.ScaleTargetRef),
			MinReplicas:                    in.Spec.MinReplicas,
			MaxReplicas:                    in.Spec.MaxReplicas,
			TargetCPUUtilizationPercentage: targetCPUUtilization(in.Spec.Metrics),
		},
		Status: autoscalingv1.HorizontalPodAutoscalerStatus{
			ObservedGeneration:              in.Status.ObservedGeneration,
			LastScaleTime:                   in.Status.LastScaleTime,
			CurrentReplicas:                 in.Status.CurrentReplicas,
			DesiredReplicas:                 in.Status.DesiredReplicas,
			CurrentCPUUtilizationPercentage: currentCPUUtilization(in.Status.CurrentMetrics),
		},
	}
	dropHPAAnnotations(out.Annotations)
	for key, value := range hpaAnnotations(in) {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		metav1.SetMetaDataAnnotation(&out.ObjectMeta, key, string(text))
	}
	return out, nil
}

// targetCPUUtilization returns the first target utilization of CPU.
func targetCPUUtilization(metrics []autoscalingv2.MetricSpec) *int32 {
	for _, m := range metrics {
		if isCPU(m) && m.Resource.Target.AverageUtilization != nil {
			return m.Resource.Target.AverageUtilization
		}
	}
	return nil
}

func isCPU(m autoscalingv2.MetricSpec) bool {
	return m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil && m.Resource.Name == corev1.ResourceCPU
}

// currentCPUUtilization returns the last utilization of CPU in metrics.
func currentCPUUtilization(metrics []autoscalingv2.MetricStatus) *int32 {
	var current *int32
	for _, m := range metrics {
		if m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil && m.Resource.Name == corev1.ResourceCPU &&
			m.Resource.Current.AverageUtilization != nil {
			current = m.Resource.Current.AverageUtilization
		}
	}
	return current
}

// hpaAnnotations returns the values that v1 stores in annotations, by annotation. They include the
// current CPU metric, because v1 has no field for its raw value.
func hpaAnnotations(in *autoscalingv2.HorizontalPodAutoscaler) map[string]any {
	annotations := make(map[string]any)
	var metrics []autoscalingv1.MetricSpec
	for _, m := range in.Spec.Metrics {
		if !isCPU(m) || m.Resource.Target.AverageUtilization == nil {
			metrics = append(metrics, metricSpecToV1(m))
		}
	}
	if len(metrics) > 0 {
		annotations[hpaMetricsAnnotation] = metrics
	}
	var current []autoscalingv1.MetricStatus
	for _, m := range in.Status.CurrentMetrics {
		current = append(current, metricStatusToV1(m))
	}
	if len(current) > 0 {
		annotations[hpaCurrentMetricsAnnotation] = current
	}
	var conditions []autoscalingv1.HorizontalPodAutoscalerCondition
	for _, c := range in.Status.Conditions {
		conditions = append(conditions, conditionToV1(c))
	}
	if len(conditions) > 0 {
		annotations[hpaConditionsAnnotation] = conditions
	}
	if in.Spec.Behavior != nil {
		annotations[hpaBehaviorAnnotation] = behaviorToJSON(in.Spec.Behavior)
	}
	return annotations
}

// convertHPAToV2 is the inverse of convertHPAToV1. It ignores annotations that do not parse, and
// removes all four.
func convertHPAToV2(obj runtime.Object) (runtime.Object, error) {
	in := obj.(*autoscalingv1.HorizontalPodAutoscaler)
	out := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: in.ObjectMeta,
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference(in.Spec.ScaleTargetRef),
			MinReplicas:    in.Spec.MinReplicas,
			MaxReplicas:    in.Spec.MaxReplicas,
			Metrics:        metricsFromV1(in),
		},
		Status: autoscalingv2.HorizontalPodAutoscalerStatus{
			ObservedGeneration: in.Status.ObservedGeneration,
			LastScaleTime:      in.Status.LastScaleTime,
			CurrentReplicas:    in.Status.CurrentReplicas,
			DesiredReplicas:    in.Status.DesiredReplicas,
			CurrentMetrics:     currentMetricsFromV1(in),
		},
	}
	if behavior, ok := decodeAnnotation[behaviorJSON](in.Annotations, hpaBehaviorAnnotation); ok {
		out.Spec.Behavior = behavior.toV2()
	}
	if conditions, ok := decodeAnnotation[[]autoscalingv1.HorizontalPodAutoscalerCondition](in.Annotations, hpaConditionsAnnotation); ok {
		for _, c := range conditions {
			out.Status.Conditions = append(out.Status.Conditions, conditionFromV1(c))
		}
	}
	dropHPAAnnotations(out.Annotations)
	return out, nil
}

// metricsFromV1 returns the metrics of the annotation, followed by the CPU target.
func metricsFromV1(in *autoscalingv1.HorizontalPodAutoscaler) []autoscalingv2.MetricSpec {
	var metrics []autoscalingv2.MetricSpec
	others, _ := decodeAnnotation[[]autoscalingv1.MetricSpec](in.Annotations, hpaMetricsAnnotation)
	for _, m := range others {
		metrics = append(metrics, metricSpecFromV1(m))
	}
	target := in.Spec.TargetCPUUtilizationPercentage
	if target == nil {
		return metrics
	}
	return append(metrics, cpuUtilization(target))
}

// cpuUtilization returns a metric with a target utilization of CPU in percent.
func cpuUtilization(target *int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{
		Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{
			Name:   corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: target},
		},
	}
}

// currentMetricsFromV1 prefers the annotation, which has more than the field.
func currentMetricsFromV1(in *autoscalingv1.HorizontalPodAutoscaler) []autoscalingv2.MetricStatus {
	if current, ok := decodeAnnotation[[]autoscalingv1.MetricStatus](in.Annotations, hpaCurrentMetricsAnnotation); ok {
		metrics := make([]autoscalingv2.MetricStatus, 0, len(current))
		for _, m := range current {
			metrics = append(metrics, metricStatusFromV1(m))
		}
		return metrics
	}
	if in.Status.CurrentCPUUtilizationPercentage == nil {
		return nil
	}
	return []autoscalingv2.MetricStatus{{
		Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricStatus{
			Name:    corev1.ResourceCPU,
			Current: autoscalingv2.MetricValueStatus{AverageUtilization: in.Status.CurrentCPUUtilizationPercentage},
		},
	}}
}

// decodeAnnotation decodes an annotation with JSON. It reports false if there is no such annotation
// or if it does not parse.
func decodeAnnotation[T any](annotations map[string]string, key string) (value T, ok bool) {
	text, found := annotations[key]
	if !found {
		return value, false
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		var zero T
		return zero, false
	}
	return value, true
}

func dropHPAAnnotations(annotations map[string]string) {
	for _, key := range []string{hpaMetricsAnnotation, hpaCurrentMetricsAnnotation, hpaConditionsAnnotation, hpaBehaviorAnnotation} {
		delete(annotations, key)
	}
}
