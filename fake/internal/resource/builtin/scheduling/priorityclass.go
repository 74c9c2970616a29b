package scheduling

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

func setPriorityClassDefaults(p *schedulingv1.PriorityClass) {
	if p.PreemptionPolicy == nil {
		p.PreemptionPolicy = new(corev1.PreemptLowerPriority)
	}
}

// preparePriorityClassForCreate sets the generation, which no update increments.
func preparePriorityClassForCreate(_ context.Context, p *schedulingv1.PriorityClass) {
	p.Generation = 1
}
