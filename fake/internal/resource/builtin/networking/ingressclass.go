package networking

import networkingv1 "k8s.io/api/networking/v1"

func setIngressClassDefaults(c *networkingv1.IngressClass) {
	if p := c.Spec.Parameters; p != nil && p.Scope == nil {
		p.Scope = new(networkingv1.IngressClassParametersReferenceScopeCluster)
	}
}
