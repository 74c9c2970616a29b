package autoscaling

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

// setHorizontalPodAutoscalerDefaults sets the defaults of v2, and removes the annotations for v1.
// An autoscaler of v1 without any metric has the default target as well.
func setHorizontalPodAutoscalerDefaults(hpa *autoscalingv2.HorizontalPodAutoscaler) {
	dropHPAAnnotations(hpa.Annotations)
	if hpa.Spec.MinReplicas == nil {
		hpa.Spec.MinReplicas = new(int32(1))
	}
	if len(hpa.Spec.Metrics) == 0 {
		hpa.Spec.Metrics = []autoscalingv2.MetricSpec{cpuUtilization(new(int32(hpaDefaultUtilization)))}
	}
	behavior := hpa.Spec.Behavior
	if behavior == nil {
		return
	}
	if behavior.ScaleUp == nil {
		behavior.ScaleUp = &autoscalingv2.HPAScalingRules{}
	}
	if behavior.ScaleDown == nil {
		behavior.ScaleDown = &autoscalingv2.HPAScalingRules{}
	}
	setScaleUpDefaults(behavior.ScaleUp)
	setScaleDownDefaults(behavior.ScaleDown)
}

// setHorizontalPodAutoscalerV1Defaults sets the defaults of an object that a client of v1 has sent.
// Rules in the annotation for the behavior have no default policies, so that they are invalid
// without any.
func setHorizontalPodAutoscalerV1Defaults(hpa *autoscalingv2.HorizontalPodAutoscaler) {
	if behavior := hpa.Spec.Behavior; behavior != nil {
		for _, rules := range []*autoscalingv2.HPAScalingRules{behavior.ScaleUp, behavior.ScaleDown} {
			if rules != nil && rules.Policies == nil {
				rules.Policies = []autoscalingv2.HPAScalingPolicy{}
			}
		}
	}
	setHorizontalPodAutoscalerDefaults(hpa)
}

// scalingPeriodSeconds is the period of the default policies.
const scalingPeriodSeconds = 15

// setScaleUpDefaults lets the number of pods grow by 4 or by 100 percent, whichever is more.
func setScaleUpDefaults(r *autoscalingv2.HPAScalingRules) {
	if r.StabilizationWindowSeconds == nil {
		r.StabilizationWindowSeconds = new(int32(0))
	}
	if r.SelectPolicy == nil {
		r.SelectPolicy = new(autoscalingv2.MaxChangePolicySelect)
	}
	if r.Policies == nil {
		r.Policies = []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: scalingPeriodSeconds},
			{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: scalingPeriodSeconds},
		}
	}
}

// setScaleDownDefaults lets all pods be removed. The default of the stabilization window is a flag
// of the controller manager, so that it is not stored.
func setScaleDownDefaults(r *autoscalingv2.HPAScalingRules) {
	if r.SelectPolicy == nil {
		r.SelectPolicy = new(autoscalingv2.MaxChangePolicySelect)
	}
	if r.Policies == nil {
		r.Policies = []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: scalingPeriodSeconds},
		}
	}
}
