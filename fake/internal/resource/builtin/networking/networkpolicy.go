package networking

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// setNetworkPolicyDefaults derives the types of a policy from its rules. An empty list of egress
// rules, unlike a rule that is empty, does not make it a policy for egress.
func setNetworkPolicyDefaults(p *networkingv1.NetworkPolicy) {
	if len(p.Spec.PolicyTypes) == 0 {
		p.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(p.Spec.Egress) > 0 {
			p.Spec.PolicyTypes = append(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
	for i := range p.Spec.Ingress {
		setNetworkPolicyPortDefaults(p.Spec.Ingress[i].Ports)
	}
	for i := range p.Spec.Egress {
		setNetworkPolicyPortDefaults(p.Spec.Egress[i].Ports)
	}
}

func setNetworkPolicyPortDefaults(ports []networkingv1.NetworkPolicyPort) {
	for i := range ports {
		if ports[i].Protocol == nil {
			ports[i].Protocol = new(corev1.ProtocolTCP)
		}
	}
}
