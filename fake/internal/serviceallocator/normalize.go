package serviceallocator

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// patchAllocatedValues copies allocated values from old where service has none, so that a manifest
// can be sent again.
func patchAllocatedValues(service, old *corev1.Service) {
	if needsClusterIP(service) && needsClusterIP(old) {
		if service.Spec.ClusterIP == "" {
			service.Spec.ClusterIP = old.Spec.ClusterIP
		}
		if len(service.Spec.ClusterIPs) == 0 && len(old.Spec.ClusterIPs) > 0 {
			service.Spec.ClusterIPs = slices.Clone(old.Spec.ClusterIPs)
		}
	}
	if allocatesNodePorts(service) && allocatesNodePorts(old) {
		patchNodePorts(service, old)
	}
	if needsHealthCheck(service) && needsHealthCheck(old) && service.Spec.HealthCheckNodePort == 0 {
		service.Spec.HealthCheckNodePort = old.Spec.HealthCheckNodePort
	}
}

// patchNodePorts sets the node ports that service lacks to those of the ports of old with the same
// names, unless service has kept them for another port.
func patchNodePorts(service, old *corev1.Service) {
	known := map[string]int32{}
	for _, p := range old.Spec.Ports {
		known[p.Name] = p.NodePort
	}
	kept := nodePorts(service) // those of old and others, which are not in known
	for i := range service.Spec.Ports {
		p := &service.Spec.Ports[i]
		if number := known[p.Name]; p.NodePort == 0 && !slices.Contains(kept, number) {
			p.NodePort = number
		}
	}
}

// normalizeClusterIPs sets clusterIPs where a client that only knows clusterIP has set that. old is
// nil for a new Service.
func normalizeClusterIPs(service, old *corev1.Service) {
	spec := &service.Spec
	if old == nil {
		if spec.ClusterIP != "" && len(spec.ClusterIPs) == 0 {
			spec.ClusterIPs = []string{spec.ClusterIP}
		}
		return
	}
	if spec.ClusterIP == old.Spec.ClusterIP {
		if len(spec.ClusterIPs) == 0 && len(old.Spec.ClusterIPs) > 0 {
			spec.ClusterIPs = slices.Clone(old.Spec.ClusterIPs)
		}
		return
	}
	if !sameClusterIPs(service, old) {
		return // both were changed: validation compares them
	}
	if spec.ClusterIP == "" {
		spec.ClusterIPs = nil
	} else {
		spec.ClusterIPs = []string{spec.ClusterIP}
	}
}

// needsClusterIP reports whether a Service of this type has a clusterIP, which can be None.
func needsClusterIP(service *corev1.Service) bool {
	return service.Spec.Type != corev1.ServiceTypeExternalName
}

// needsNodePort reports whether a Service of this type has node ports.
func needsNodePort(service *corev1.Service) bool {
	return service.Spec.Type == corev1.ServiceTypeNodePort || service.Spec.Type == corev1.ServiceTypeLoadBalancer
}

// needsHealthCheck reports whether a Service has a healthCheckNodePort.
func needsHealthCheck(service *corev1.Service) bool {
	return service.Spec.Type == corev1.ServiceTypeLoadBalancer &&
		service.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// isHeadless reports whether a Service has no cluster IP on purpose.
func isHeadless(service *corev1.Service) bool {
	return len(service.Spec.ClusterIPs) > 0 && service.Spec.ClusterIPs[0] == corev1.ClusterIPNone
}

func sameClusterIPs(a, b *corev1.Service) bool {
	return slices.Equal(a.Spec.ClusterIPs, b.Spec.ClusterIPs)
}

func sameIPFamilies(a, b *corev1.Service) bool {
	return slices.Equal(a.Spec.IPFamilies, b.Spec.IPFamilies)
}

// nodePorts returns the node ports of the ports of a Service.
func nodePorts(service *corev1.Service) []int32 {
	var ports []int32
	for _, p := range service.Spec.Ports {
		if p.NodePort != 0 {
			ports = append(ports, p.NodePort)
		}
	}
	return ports
}
