package networking

import (
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
)

// ingressWarnings returns the warning for a new ingress with the deprecated annotation.
func ingressWarnings(ing *networkingv1.Ingress) []string {
	if _, ok := ing.Annotations[ingressClassAnnotation]; !ok || ing.Spec.IngressClassName != nil {
		return nil
	}
	return []string{fmt.Sprintf("annotation %q is deprecated, please use 'spec.ingressClassName' instead", ingressClassAnnotation)}
}
