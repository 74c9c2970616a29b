package autoscaling

import (
	"testing"

	"github.com/stretchr/testify/require"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestHorizontalPodAutoscalerDefaults(t *testing.T) {
	hpa := &autoscalingv2.HorizontalPodAutoscaler{}
	setHorizontalPodAutoscalerDefaults(hpa)
	require.Equal(t, autoscalingv2.HorizontalPodAutoscalerSpec{
		MinReplicas: new(int32(1)), Metrics: []autoscalingv2.MetricSpec{cpuUtilization(new(int32(80)))},
	}, hpa.Spec)

	memory := []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: "memory"}}}
	hpa = &autoscalingv2.HorizontalPodAutoscaler{Spec: autoscalingv2.HorizontalPodAutoscalerSpec{MinReplicas: new(int32(0)), Metrics: memory}}
	setHorizontalPodAutoscalerDefaults(hpa)
	require.Equal(t, autoscalingv2.HorizontalPodAutoscalerSpec{MinReplicas: new(int32(0)), Metrics: memory}, hpa.Spec)
}

func TestHorizontalPodAutoscalerOfV2HasNoAnnotationsForV1(t *testing.T) {
	hpa := &autoscalingv2.HorizontalPodAutoscaler{}
	hpa.Annotations = map[string]string{
		"team": "a", hpaMetricsAnnotation: "[]", hpaCurrentMetricsAnnotation: "", hpaConditionsAnnotation: "abc", hpaBehaviorAnnotation: "{}",
	}
	setHorizontalPodAutoscalerDefaults(hpa)
	require.Equal(t, map[string]string{"team": "a"}, hpa.Annotations)
}

func TestHorizontalPodAutoscalerBehaviorDefaults(t *testing.T) {
	up := autoscalingv2.HPAScalingRules{
		StabilizationWindowSeconds: new(int32(0)), SelectPolicy: new(autoscalingv2.MaxChangePolicySelect),
		Policies: []autoscalingv2.HPAScalingPolicy{{Type: "Pods", Value: 4, PeriodSeconds: 15}, {Type: "Percent", Value: 100, PeriodSeconds: 15}},
	}
	down := autoscalingv2.HPAScalingRules{
		SelectPolicy: new(autoscalingv2.MaxChangePolicySelect),
		Policies:     []autoscalingv2.HPAScalingPolicy{{Type: "Percent", Value: 100, PeriodSeconds: 15}},
	}
	upWithTolerance, tolerance := up, resource.MustParse("0.05")
	upWithTolerance.Tolerance = &tolerance
	downOff := down
	downOff.SelectPolicy = new(autoscalingv2.DisabledPolicySelect)
	downOff.StabilizationWindowSeconds = new(int32(60))

	for name, c := range map[string]struct {
		behavior, want autoscalingv2.HorizontalPodAutoscalerBehavior
	}{
		"empty": {want: autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: &up, ScaleDown: &down}},
		"with a tolerance": {
			autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: &autoscalingv2.HPAScalingRules{Tolerance: &tolerance}},
			autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: &upWithTolerance, ScaleDown: &down},
		},
		"partly": {
			autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{
				SelectPolicy: new(autoscalingv2.DisabledPolicySelect), StabilizationWindowSeconds: new(int32(60)),
			}},
			autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: &up, ScaleDown: &downOff},
		},
	} {
		t.Run(name, func(t *testing.T) {
			hpa := &autoscalingv2.HorizontalPodAutoscaler{Spec: autoscalingv2.HorizontalPodAutoscalerSpec{Behavior: &c.behavior}}
			setHorizontalPodAutoscalerDefaults(hpa)
			require.Equal(t, c.want, *hpa.Spec.Behavior)
		})
	}
}
