package networking

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

func TestNetworkPolicyDefaults(t *testing.T) {
	ingress := []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
	egress := []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}
	for name, c := range map[string]struct {
		spec networkingv1.NetworkPolicySpec
		want []networkingv1.PolicyType
	}{
		"no rule":         {networkingv1.NetworkPolicySpec{}, ingress},
		"no egress rule":  {networkingv1.NetworkPolicySpec{Egress: []networkingv1.NetworkPolicyEgressRule{}}, ingress},
		"an empty egress": {networkingv1.NetworkPolicySpec{Egress: make([]networkingv1.NetworkPolicyEgressRule, 1)}, append(ingress, egress...)},
		"types":           {networkingv1.NetworkPolicySpec{PolicyTypes: egress}, egress},
	} {
		t.Run(name, func(t *testing.T) {
			p := &networkingv1.NetworkPolicy{Spec: c.spec}
			setNetworkPolicyDefaults(p)
			require.Equal(t, c.want, p.Spec.PolicyTypes)
		})
	}

	p := &networkingv1.NetworkPolicy{Spec: networkingv1.NetworkPolicySpec{
		Ingress: []networkingv1.NetworkPolicyIngressRule{{Ports: make([]networkingv1.NetworkPolicyPort, 1)}},
		Egress:  []networkingv1.NetworkPolicyEgressRule{{Ports: []networkingv1.NetworkPolicyPort{{}, {Protocol: new(corev1.ProtocolSCTP)}}}},
	}}
	setNetworkPolicyDefaults(p)
	tcp := networkingv1.NetworkPolicyPort{Protocol: new(corev1.ProtocolTCP)}
	require.Equal(t, []networkingv1.NetworkPolicyPort{tcp}, p.Spec.Ingress[0].Ports)
	require.Equal(t, []networkingv1.NetworkPolicyPort{tcp, {Protocol: new(corev1.ProtocolSCTP)}}, p.Spec.Egress[0].Ports)
}

func TestIngressClassDefaults(t *testing.T) {
	c := &networkingv1.IngressClass{}
	setIngressClassDefaults(c)
	require.Nil(t, c.Spec.Parameters)
	c.Spec.Parameters = &networkingv1.IngressClassParametersReference{}
	setIngressClassDefaults(c)
	require.Equal(t, "Cluster", *c.Spec.Parameters.Scope)
	*c.Spec.Parameters.Scope = "Namespace"
	setIngressClassDefaults(c)
	require.Equal(t, "Namespace", *c.Spec.Parameters.Scope)
}
