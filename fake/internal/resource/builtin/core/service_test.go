package core

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestServiceDefaults(t *testing.T) {
	type spec = corev1.ServiceSpec
	cluster := new(corev1.ServiceInternalTrafficPolicyCluster)
	timeout := func(seconds int32) *corev1.SessionAffinityConfig {
		return &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &seconds}}
	}
	for name, c := range map[string]struct{ spec, want spec }{
		"empty": {spec{}, spec{Type: "ClusterIP", SessionAffinity: "None", InternalTrafficPolicy: cluster}},
		"external IPs": {
			spec{ExternalIPs: []string{"198.51.100.1"}},
			spec{Type: "ClusterIP", SessionAffinity: "None", InternalTrafficPolicy: cluster, ExternalTrafficPolicy: "Cluster", ExternalIPs: []string{"198.51.100.1"}},
		},
		"NodePort": {
			spec{Type: "NodePort", ExternalTrafficPolicy: "Local"},
			spec{Type: "NodePort", SessionAffinity: "None", InternalTrafficPolicy: cluster, ExternalTrafficPolicy: "Local"},
		},
		"LoadBalancer": {
			spec{Type: "LoadBalancer"},
			spec{Type: "LoadBalancer", SessionAffinity: "None", InternalTrafficPolicy: cluster, ExternalTrafficPolicy: "Cluster", AllocateLoadBalancerNodePorts: new(true)},
		},
		"LoadBalancer without node ports": {
			spec{Type: "LoadBalancer", AllocateLoadBalancerNodePorts: new(false)},
			spec{Type: "LoadBalancer", SessionAffinity: "None", InternalTrafficPolicy: cluster, ExternalTrafficPolicy: "Cluster", AllocateLoadBalancerNodePorts: new(false)},
		},
		"ExternalName": {
			spec{Type: "ExternalName", ExternalIPs: []string{"198.51.100.1"}},
			spec{Type: "ExternalName", SessionAffinity: "None", ExternalIPs: []string{"198.51.100.1"}},
		},
		"affinity": {
			spec{Type: "ExternalName", SessionAffinity: "ClientIP", SessionAffinityConfig: &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{}}},
			spec{Type: "ExternalName", SessionAffinity: "ClientIP", SessionAffinityConfig: timeout(10800)},
		},
		"affinity with a timeout": {
			spec{Type: "ExternalName", SessionAffinity: "ClientIP", SessionAffinityConfig: timeout(9)},
			spec{Type: "ExternalName", SessionAffinity: "ClientIP", SessionAffinityConfig: timeout(9)},
		},
		"no affinity with a timeout": {
			spec{Type: "ExternalName", SessionAffinity: "None", SessionAffinityConfig: timeout(9)},
			spec{Type: "ExternalName", SessionAffinity: "None"},
		},
		"ports": {
			spec{Type: "ExternalName", Ports: []corev1.ServicePort{
				{Port: 80}, {Port: 81, TargetPort: intstr.FromString("")}, {Port: 53, Protocol: "UDP", TargetPort: intstr.FromString("dns")},
			}},
			spec{Type: "ExternalName", SessionAffinity: "None", Ports: []corev1.ServicePort{
				{Port: 80, Protocol: "TCP", TargetPort: intstr.FromInt32(80)}, {Port: 81, Protocol: "TCP", TargetPort: intstr.FromInt32(81)},
				{Port: 53, Protocol: "UDP", TargetPort: intstr.FromString("dns")},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			svc := &corev1.Service{Spec: c.spec}
			setServiceDefaults(svc)
			require.Equal(t, c.want, svc.Spec)
		})
	}
}

func TestLoadBalancerStatusDefaults(t *testing.T) {
	for kind, want := range map[corev1.ServiceType]*corev1.LoadBalancerIPMode{
		corev1.ServiceTypeLoadBalancer: new(corev1.LoadBalancerIPModeVIP), corev1.ServiceTypeClusterIP: nil,
	} {
		svc := &corev1.Service{Spec: corev1.ServiceSpec{Type: kind}}
		svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{
			{IP: "203.0.113.1"}, {Hostname: "h"}, {IP: "203.0.113.2", IPMode: new(corev1.LoadBalancerIPModeProxy)},
		}
		setServiceDefaults(svc)
		require.Equal(t, []corev1.LoadBalancerIngress{
			{IP: "203.0.113.1", IPMode: want}, {Hostname: "h"}, {IP: "203.0.113.2", IPMode: new(corev1.LoadBalancerIPModeProxy)},
		}, svc.Status.LoadBalancer.Ingress)
	}
}
