package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// setServiceDefaults sets the defaults that do not depend on other objects. Addresses, node ports
// and families of addresses are allocated.
func setServiceDefaults(svc *corev1.Service) {
	spec := &svc.Spec
	if spec.Type == "" {
		spec.Type = corev1.ServiceTypeClusterIP
	}
	setSessionAffinityDefaults(spec)
	for i := range spec.Ports {
		setServicePortDefaults(&spec.Ports[i])
	}
	if spec.ExternalTrafficPolicy == "" && isExternallyAccessible(spec) {
		spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyCluster
	}
	if spec.InternalTrafficPolicy == nil && hasClusterIP(spec.Type) {
		spec.InternalTrafficPolicy = new(corev1.ServiceInternalTrafficPolicyCluster)
	}
	if spec.Type == corev1.ServiceTypeLoadBalancer {
		setLoadBalancerDefaults(svc)
	}
}

// setSessionAffinityDefaults also removes the configuration of an affinity that is off.
func setSessionAffinityDefaults(spec *corev1.ServiceSpec) {
	switch spec.SessionAffinity {
	case "", corev1.ServiceAffinityNone:
		spec.SessionAffinity, spec.SessionAffinityConfig = corev1.ServiceAffinityNone, nil
	case corev1.ServiceAffinityClientIP:
		if c := spec.SessionAffinityConfig; c == nil || c.ClientIP == nil || c.ClientIP.TimeoutSeconds == nil {
			spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{
				ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: new(corev1.DefaultClientIPServiceAffinitySeconds)},
			}
		}
	}
}

func setServicePortDefaults(p *corev1.ServicePort) {
	if p.Protocol == "" {
		p.Protocol = corev1.ProtocolTCP
	}
	if p.TargetPort == intstr.FromInt32(0) || p.TargetPort == intstr.FromString("") {
		p.TargetPort = intstr.FromInt32(p.Port)
	}
}

func setLoadBalancerDefaults(svc *corev1.Service) {
	if svc.Spec.AllocateLoadBalancerNodePorts == nil {
		svc.Spec.AllocateLoadBalancerNodePorts = new(true)
	}
	for i := range svc.Status.LoadBalancer.Ingress {
		if in := &svc.Status.LoadBalancer.Ingress[i]; in.IP != "" && in.IPMode == nil {
			in.IPMode = new(corev1.LoadBalancerIPModeVIP)
		}
	}
}

// isExternallyAccessible reports whether clients outside of the cluster can reach a Service.
func isExternallyAccessible(spec *corev1.ServiceSpec) bool {
	switch spec.Type {
	case corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
		return true
	case corev1.ServiceTypeClusterIP:
		return len(spec.ExternalIPs) > 0
	}
	return false
}

// hasClusterIP reports whether a type of Services has addresses in the cluster.
func hasClusterIP(t corev1.ServiceType) bool {
	return t == corev1.ServiceTypeClusterIP || t == corev1.ServiceTypeNodePort || t == corev1.ServiceTypeLoadBalancer
}
