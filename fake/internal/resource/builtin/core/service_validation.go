package core

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
	"k8s.io/utils/ptr"

	"example.com/fakeapi/fake/internal/resource/validate"
)

const onlyForLoadBalancers = "may only be used when `type` is 'LoadBalancer'"

// validateService validates a new Service, to which addresses and ports have been allocated.
func validateService(service *corev1.Service) field.ErrorList {
	return validateServiceFields(service, nil)
}

// validateServiceUpdate validates a Service that replaces old.
func validateServiceUpdate(service, old *corev1.Service) field.ErrorList {
	var root *validate.Path
	spec, was, p := &service.Spec, &old.Spec, root.Child("spec")
	errs := validateClusterIPsUpdate(spec, was, p)
	errs = append(errs, validateIPFamiliesUpdate(spec, was, p)...)
	isLoadBalancer := spec.Type == corev1.ServiceTypeLoadBalancer && was.Type == corev1.ServiceTypeLoadBalancer
	if isLoadBalancer && !ptr.Equal(spec.LoadBalancerClass, was.LoadBalancerClass) {
		errs = append(errs, p.Child("loadBalancerClass").Invalid(spec.LoadBalancerClass, "may not change once set"))
	}
	errs = append(errs, validateLoadBalancerClass(spec, p)...) // again in validateServiceFields
	if hasHealthCheckNodePort(spec) && hasHealthCheckNodePort(was) && spec.HealthCheckNodePort != was.HealthCheckNodePort {
		errs = append(errs, p.Child("healthCheckNodePort").Forbidden("field is immutable"))
	}
	return append(errs, validateServiceFields(service, old)...)
}

// validateServiceFields validates a Service. old is nil for a new one.
func validateServiceFields(service, old *corev1.Service) field.ErrorList {
	if old == nil {
		old = &corev1.Service{}
	}
	var root *validate.Path
	spec, was, p := &service.Spec, &old.Spec, root.Child("spec")
	errs := validateTopologyMode(service.Annotations, root)
	errs = append(errs, validateFieldsOfServiceType(spec, p)...)
	errs = append(errs, validateEachServicePort(spec.Ports, p.Child("ports"))...)
	errs = append(errs, validate.Labels(spec.Selector, p.Child("selector"))...)
	errs = append(errs, validateSessionAffinity(spec, p)...)
	errs = append(errs, ValidateServiceClusterIPs(spec, was.ClusterIPs)...)
	errs = append(errs, validateExternalIPs(spec.ExternalIPs, was.ExternalIPs, p.Child("externalIPs"))...)
	switch spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeExternalName:
	default:
		errs = append(errs, validate.NotSupported(p.Child("type"), spec.Type,
			corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort))
	}
	errs = append(errs, validateServicePortNumbers(spec, p.Child("ports"))...)
	errs = append(errs, validateSourceRanges(service, old, root)...)
	if spec.AllocateLoadBalancerNodePorts != nil && spec.Type != corev1.ServiceTypeLoadBalancer {
		errs = append(errs, p.Child("allocateLoadBalancerNodePorts").Forbidden(onlyForLoadBalancers))
	}
	errs = append(errs, validateLoadBalancerClass(spec, p)...)
	return append(errs, validateTrafficPolicies(spec, p)...)
}

// validateTopologyMode validates the annotation that has replaced another, if both are there.
func validateTopologyMode(annotations map[string]string, root *validate.Path) field.ErrorList {
	mode, ok := annotations[corev1.AnnotationTopologyMode]
	hints, alsoHints := annotations[corev1.DeprecatedAnnotationTopologyAwareHints]
	if !ok || !alsoHints || mode == hints {
		return nil
	}
	p := root.Child("metadata").Child("annotations").Key(corev1.AnnotationTopologyMode)
	return field.ErrorList{p.Invalid(mode, fmt.Sprintf("must match annotations[%s] when both are specified", corev1.DeprecatedAnnotationTopologyAwareHints))}
}

// validateFieldsOfServiceType validates the fields that a type of Services requires or excludes.
func validateFieldsOfServiceType(spec *corev1.ServiceSpec, p *validate.Path) (errs field.ErrorList) {
	isExternalName := spec.Type == corev1.ServiceTypeExternalName
	if len(spec.Ports) == 0 && !isHeadless(spec) && !isExternalName {
		errs = append(errs, p.Child("ports").Required(""))
	}
	if hasNodePorts(spec) && isHeadless(spec) {
		detail := fmt.Sprintf("may not be set to 'None' for %s services", spec.Type)
		errs = append(errs, p.Child("clusterIPs").Index(0).Invalid(spec.ClusterIPs[0], detail))
	}
	if isExternalName {
		errs = append(errs, validateExternalName(spec, p)...)
	}
	return errs
}

// isHeadless reports whether a Service has no address on purpose.
func isHeadless(spec *corev1.ServiceSpec) bool {
	return len(spec.ClusterIPs) == 1 && spec.ClusterIPs[0] == corev1.ClusterIPNone
}

// validateExternalName validates the fields of a Service of type ExternalName.
func validateExternalName(spec *corev1.ServiceSpec, p *validate.Path) (errs field.ErrorList) {
	const detail = "may not be set for ExternalName services"
	if len(spec.ClusterIPs) > 0 {
		errs = append(errs, p.Child("clusterIPs").Forbidden(detail))
	}
	if len(spec.IPFamilies) > 0 {
		errs = append(errs, p.Child("ipFamilies").Forbidden(detail))
	}
	if spec.IPFamilyPolicy != nil {
		errs = append(errs, p.Child("ipFamilyPolicy").Forbidden(detail))
	}
	name := strings.TrimSuffix(spec.ExternalName, ".") // a final dot marks a complete name
	if name == "" {
		return append(errs, p.Child("externalName").Required(""))
	}
	return append(errs, validate.DNSSubdomain(name, p.Child("externalName"))...)
}

func validateEachServicePort(ports []corev1.ServicePort, p *validate.Path) (errs field.ErrorList) {
	names := make(map[string]bool, len(ports))
	for i := range ports {
		port, path := &ports[i], p.Index(i)
		switch {
		case port.Name != "":
			errs = append(errs, validate.DNSLabel(port.Name, path.Child("name"))...)
			if names[port.Name] {
				errs = append(errs, path.Child("name").Duplicate(port.Name))
			}
			names[port.Name] = true
		case len(ports) > 1:
			errs = append(errs, path.Child("name").Required(""))
		}
		errs = append(errs, validate.PortNumber(port.Port, path.Child("port"))...)
		errs = append(errs, validateServiceProtocol(port.Protocol, path.Child("protocol"))...)
		errs = append(errs, validateTargetPort(port.TargetPort, path.Child("targetPort"))...)
		if port.AppProtocol != nil {
			errs = append(errs, validate.Messages(*port.AppProtocol, validation.IsQualifiedName(*port.AppProtocol), path.Child("appProtocol"))...)
		}
	}
	return errs
}

// validateServiceProtocol validates the protocol of a port of a Service or of Endpoints.
func validateServiceProtocol(protocol corev1.Protocol, p *validate.Path) field.ErrorList {
	switch protocol {
	case corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP:
		return nil
	}
	return field.ErrorList{validate.NotSupported(p, protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)}
}

func validateTargetPort(port intstr.IntOrString, p *validate.Path) field.ErrorList {
	if port.Type == intstr.String {
		return validate.Messages(port.StrVal, validation.IsValidPortName(port.StrVal), p)
	}
	return validate.PortNumber(port.IntVal, p)
}

// validateServicePortNumbers validates that no two ports have the same protocol and number, or node
// port.
func validateServicePortNumbers(spec *corev1.ServiceSpec, p *validate.Path) (errs field.ErrorList) {
	if spec.Type == corev1.ServiceTypeClusterIP {
		for i := range spec.Ports {
			if spec.Ports[i].NodePort != 0 {
				errs = append(errs, p.Index(i).Child("nodePort").Forbidden("may not be used when `type` is 'ClusterIP'"))
			}
		}
	}
	type portKey struct {
		protocol corev1.Protocol
		number   int32
	}
	nodePorts := map[portKey]bool{}
	for i := range spec.Ports {
		port := &spec.Ports[i]
		key := portKey{port.Protocol, port.NodePort}
		if port.NodePort != 0 && nodePorts[key] {
			errs = append(errs, p.Index(i).Child("nodePort").Duplicate(port.NodePort))
		}
		nodePorts[key] = true
	}
	numbers := make(map[portKey]bool, len(spec.Ports))
	for i := range spec.Ports {
		port := &spec.Ports[i]
		key := portKey{port.Protocol, port.Port}
		if numbers[key] {
			errs = append(errs, p.Index(i).Duplicate(corev1.ServicePort{Protocol: port.Protocol, Port: port.Port}))
		}
		numbers[key] = true
	}
	return errs
}

func validateSessionAffinity(spec *corev1.ServiceSpec, p *validate.Path) field.ErrorList {
	switch spec.SessionAffinity {
	case corev1.ServiceAffinityNone:
		return nil // the defaults have removed the configuration
	case corev1.ServiceAffinityClientIP:
	default:
		return field.ErrorList{validate.NotSupported(p.Child("sessionAffinity"), spec.SessionAffinity, corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone)}
	}
	config := spec.SessionAffinityConfig
	if config == nil || config.ClientIP == nil || config.ClientIP.TimeoutSeconds == nil {
		return nil // has a default
	}
	const maxSeconds = 86400 // a day
	if seconds := *config.ClientIP.TimeoutSeconds; seconds <= 0 || seconds > maxSeconds {
		timeout := p.Child("sessionAffinityConfig").Child("clientIP").Child("timeoutSeconds")
		return field.ErrorList{timeout.Invalid(seconds, fmt.Sprintf("must be greater than 0 and less than %d", maxSeconds))}
	}
	return nil
}

func validateExternalIPs(ips, oldIPs []string, p *validate.Path) (errs field.ErrorList) {
	old := sets.New(oldIPs...)
	for i, ip := range ips {
		if problems := validateIP(ip, old, p.Index(i)); len(problems) > 0 {
			errs = append(errs, problems...)
			continue
		}
		errs = append(errs, ValidateEndpointIP(ip, p.Index(i))...)
	}
	return errs
}

// validateSourceRanges validates the networks of the clients of a load balancer, which are in a
// field or in an annotation. Those of old stay valid.
func validateSourceRanges(service, old *corev1.Service, root *validate.Path) (errs field.ErrorList) {
	const annotation = corev1.AnnotationLoadBalancerSourceRangesKey
	isLoadBalancer := service.Spec.Type == corev1.ServiceTypeLoadBalancer
	if ranges := service.Spec.LoadBalancerSourceRanges; len(ranges) > 0 {
		p := root.Child("spec").Child("LoadBalancerSourceRanges")
		if !isLoadBalancer {
			errs = append(errs, p.Forbidden(onlyForLoadBalancers))
		}
		known := make(sets.Set[string], len(old.Spec.LoadBalancerSourceRanges))
		for _, cidr := range old.Spec.LoadBalancerSourceRanges {
			known.Insert(strings.TrimSpace(cidr))
		}
		for i, cidr := range ranges {
			errs = append(errs, validateCIDR(strings.TrimSpace(cidr), known, p.Index(i))...)
		}
		return errs
	}
	ranges, ok := service.Annotations[annotation]
	if !ok {
		return nil
	}
	p := root.Child("metadata").Child("annotations").Key(annotation)
	if !isLoadBalancer {
		errs = append(errs, p.Forbidden(onlyForLoadBalancers))
	}
	if known, ok := old.Annotations[annotation]; ok && known == ranges || strings.TrimSpace(ranges) == "" {
		return errs
	}
	for cidr := range strings.SplitSeq(strings.TrimSpace(ranges), ",") {
		errs = append(errs, validateCIDR(strings.TrimSpace(cidr), nil, p)...)
	}
	return errs
}

func validateLoadBalancerClass(spec *corev1.ServiceSpec, p *validate.Path) field.ErrorList {
	class := spec.LoadBalancerClass
	switch {
	case class == nil:
		return nil
	case spec.Type != corev1.ServiceTypeLoadBalancer:
		return field.ErrorList{p.Child("loadBalancerClass").Forbidden(onlyForLoadBalancers)}
	}
	return validate.Messages(*class, validation.IsQualifiedName(*class), p.Child("loadBalancerClass"))
}

// validateTrafficPolicies validates the fields that choose among the endpoints.
func validateTrafficPolicies(spec *corev1.ServiceSpec, p *validate.Path) (errs field.ErrorList) {
	const cluster, local = corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal
	external, port := spec.ExternalTrafficPolicy, spec.HealthCheckNodePort
	switch {
	case !isExternallyAccessible(spec):
		if external != "" {
			errs = append(errs, p.Child("externalTrafficPolicy").Invalid(external, "may only be set for externally-accessible services"))
		}
	case external != cluster && external != local:
		errs = append(errs, validate.NotSupported(p.Child("externalTrafficPolicy"), external, cluster, local))
	}
	switch {
	case hasHealthCheckNodePort(spec):
		errs = append(errs, validate.PortNumber(port, p.Child("healthCheckNodePort"))...)
	case port != 0:
		errs = append(errs, p.Child("healthCheckNodePort").Invalid(port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"))
	}
	internalPolicies := []corev1.ServiceInternalTrafficPolicy{corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal}
	if internal := spec.InternalTrafficPolicy; internal != nil && !slices.Contains(internalPolicies, *internal) {
		errs = append(errs, validate.NotSupported(p.Child("internalTrafficPolicy"), *internal, internalPolicies...))
	}
	if spec.TrafficDistribution == nil {
		return errs
	}
	switch *spec.TrafficDistribution {
	case corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode:
		return errs
	}
	return append(errs, validate.NotSupported(p.Child("trafficDistribution"), *spec.TrafficDistribution,
		corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode))
}

// validateServiceStatusUpdate validates the addresses of a load balancer. IP addresses of old stay
// valid.
func validateServiceStatusUpdate(service, old *corev1.Service) (errs field.ErrorList) {
	var root *validate.Path
	ingress, p := service.Status.LoadBalancer.Ingress, root.Child("status").Child("loadBalancer").Child("ingress")
	if service.Spec.Type != corev1.ServiceTypeLoadBalancer && len(ingress) > 0 {
		return field.ErrorList{p.Forbidden("may only be used when `spec.type` is 'LoadBalancer'")}
	}
	known := make(sets.Set[string], len(old.Status.LoadBalancer.Ingress))
	for i := range old.Status.LoadBalancer.Ingress {
		known.Insert(old.Status.LoadBalancer.Ingress[i].IP)
	}
	for i := range ingress {
		errs = append(errs, validateLoadBalancerIngress(&ingress[i], known, p.Index(i))...)
	}
	return errs
}

func validateLoadBalancerIngress(ingress *corev1.LoadBalancerIngress, known sets.Set[string], p *validate.Path) (errs field.ErrorList) {
	if ingress.IP != "" {
		errs = append(errs, validateIP(ingress.IP, known, p.Child("ip"))...)
	}
	mode := ingress.IPMode
	switch {
	case mode == nil && ingress.IP != "":
		errs = append(errs, p.Child("ipMode").Required("must be specified when `ip` is set"))
	case mode == nil:
	case ingress.IP == "":
		errs = append(errs, p.Child("ipMode").Forbidden("may not be specified when `ip` is not set"))
	case *mode != corev1.LoadBalancerIPModeVIP && *mode != corev1.LoadBalancerIPModeProxy:
		errs = append(errs, validate.NotSupported(p.Child("ipMode"), mode, corev1.LoadBalancerIPModeProxy, corev1.LoadBalancerIPModeVIP))
	}
	if ingress.Hostname == "" {
		return errs
	}
	errs = append(errs, validate.DNSSubdomain(ingress.Hostname, p.Child("hostname"))...)
	if netutils.ParseIPSloppy(ingress.Hostname) != nil {
		errs = append(errs, p.Child("hostname").Invalid(ingress.Hostname, "must be a DNS name, not an IP address"))
	}
	return errs
}
