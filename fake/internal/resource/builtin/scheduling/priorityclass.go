package scheduling

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// checkPriorityClassDelete returns an error for the classes that a server creates. They can be
// deleted with deletecollection only.
func checkPriorityClassDelete(name string) error {
	switch name {
	case nodeCritical, clusterCritical:
		return apierrors.NewForbidden(schedulingv1.Resource("priorityclasses"), name,
			errors.New("this is a system priority class and cannot be deleted"))
	}
	return nil
}
