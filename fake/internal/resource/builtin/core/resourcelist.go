package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// setResourceListDefaults rounds up quantities to thousandths, the finest that is stored.
func setResourceListDefaults(list corev1.ResourceList) {
	for name, quantity := range list {
		if exact := quantity.RoundUp(resource.Milli); !exact {
			list[name] = quantity
		}
	}
}

// copyMissing adds the resources of from that to does not have. It returns to, which it makes if it
// is nil and there is something to add.
func copyMissing(to, from corev1.ResourceList) corev1.ResourceList {
	for name, quantity := range from {
		if _, ok := to[name]; ok {
			continue
		}
		if to == nil {
			to = make(corev1.ResourceList, len(from))
		}
		to[name] = quantity.DeepCopy()
	}
	return to
}
