package core

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"example.com/fakeapi/fake/internal/resource"
)

// serviceDecorator removes internalTrafficPolicy from Services of type ExternalName. It stays in
// the stored object, so that a Service of another type has it again.
func serviceDecorator() *resource.Decorator {
	return &resource.Decorator{
		Field: "spec.type", Value: string(corev1.ServiceTypeExternalName),
		Decorate: resource.Defaults(func(service *corev1.Service) {
			if service.Spec.Type == corev1.ServiceTypeExternalName {
				service.Spec.InternalTrafficPolicy = nil
			}
		}),
	}
}

// prepareServiceForUpdate drops fields that a Service of a new type cannot have, if the client has
// not changed them.
func prepareServiceForUpdate(_ context.Context, service, old *corev1.Service) {
	dropClusterIPs(service, old)
	dropNodePorts(service, old)
	spec, was := &service.Spec, &old.Spec
	if was.Type == corev1.ServiceTypeLoadBalancer && spec.Type != corev1.ServiceTypeLoadBalancer {
		if ptr.Equal(spec.AllocateLoadBalancerNodePorts, was.AllocateLoadBalancerNodePorts) {
			spec.AllocateLoadBalancerNodePorts = nil
		}
		if ptr.Equal(spec.LoadBalancerClass, was.LoadBalancerClass) {
			spec.LoadBalancerClass = nil
		}
	}
	if isExternallyAccessible(was) && !isExternallyAccessible(spec) && spec.ExternalTrafficPolicy == was.ExternalTrafficPolicy {
		spec.ExternalTrafficPolicy = ""
	}
	if spec.Type != corev1.ServiceTypeLoadBalancer {
		service.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	}
}

// dropClusterIPs drops the addresses and families of a Service that becomes one of type
// ExternalName.
func dropClusterIPs(service, old *corev1.Service) {
	spec, was := &service.Spec, &old.Spec
	if was.Type == corev1.ServiceTypeExternalName || spec.Type != corev1.ServiceTypeExternalName {
		return
	}
	if spec.ClusterIP == was.ClusterIP && slices.Equal(spec.ClusterIPs, was.ClusterIPs) {
		spec.ClusterIP, spec.ClusterIPs = "", nil
	}
	if slices.Equal(spec.IPFamilies, was.IPFamilies) {
		spec.IPFamilies = nil
	}
	if ptr.Equal(spec.IPFamilyPolicy, was.IPFamilyPolicy) {
		spec.IPFamilyPolicy = nil
	}
}

// dropNodePorts drops the node ports and the healthCheckNodePort of a Service that does not have
// them any more.
func dropNodePorts(service, old *corev1.Service) {
	spec, was := &service.Spec, &old.Spec
	if hasNodePorts(was) && !hasNodePorts(spec) && isSubsetOfNodePorts(spec.Ports, was.Ports) {
		for i := range spec.Ports {
			spec.Ports[i].NodePort = 0
		}
	}
	if hasHealthCheckNodePort(was) && !hasHealthCheckNodePort(spec) && spec.HealthCheckNodePort == was.HealthCheckNodePort {
		spec.HealthCheckNodePort = 0
	}
}

// isSubsetOfNodePorts reports whether ports have only node ports that some of old have.
func isSubsetOfNodePorts(ports, old []corev1.ServicePort) bool {
	for _, p := range ports {
		if p.NodePort != 0 && !slices.ContainsFunc(old, func(o corev1.ServicePort) bool { return o.NodePort == p.NodePort }) {
			return false
		}
	}
	return true
}

func hasNodePorts(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeNodePort || spec.Type == corev1.ServiceTypeLoadBalancer
}

func hasHealthCheckNodePort(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeLoadBalancer && spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}
