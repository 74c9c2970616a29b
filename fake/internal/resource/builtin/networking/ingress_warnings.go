package networking

import (
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/fakeapi/fake/internal/resource"
)

// ingressWarnings returns the warning for a new ingress with the deprecated annotation.
func ingressWarnings(ing *networkingv1.Ingress) []string {
	if _, ok := ing.Annotations[ingressClassAnnotation]; !ok || ing.Spec.IngressClassName != nil {
		return nil
	}
	return []string{fmt.Sprintf("annotation %q is deprecated, please use 'spec.ingressClassName' instead", ingressClassAnnotation)}
}

// ingressStatusSubresource is the status subresource with warnings.
func ingressStatusSubresource() resource.Subresource {
	s := resource.StatusSubresource()
	s.WarningsOnUpdate = resource.UpdateWarnings(ingressStatusWarnings)
	return s
}

// ingressStatusWarnings returns the warnings for addresses of a load balancer in an unusual form.
// Validation lets text that is no address pass if it was there before.
func ingressStatusWarnings(ing, _ *networkingv1.Ingress) (warnings []string) {
	p := field.NewPath("status", "loadBalancer", "ingress")
	for i := range ing.Status.LoadBalancer.Ingress {
		if ip := ing.Status.LoadBalancer.Ingress[i].IP; netutils.ParseIPSloppy(ip) != nil {
			warnings = append(warnings, validation.GetWarningsForIP(p.Index(i), ip)...)
		}
	}
	return warnings
}
