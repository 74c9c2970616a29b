//lint:file-ignore SA1019 the warnings are for deprecated fields

package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	netutils "k8s.io/utils/net"

	"example.com/fakeapi/fake/internal/resource/validate"
)

func serviceWarningsOnUpdate(service, _ *corev1.Service) []string { return serviceWarnings(service) }

// serviceWarnings returns the warnings for fields that are deprecated, have no effect, or have
// addresses in an unusual form.
func serviceWarnings(service *corev1.Service) (warnings []string) {
	var root *validate.Path
	spec, p := &service.Spec, root.Child("spec")
	if _, ok := service.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]; ok {
		warnings = append(warnings, fmt.Sprintf("annotation %s is deprecated, please use %s instead",
			corev1.DeprecatedAnnotationTopologyAwareHints, corev1.AnnotationTopologyMode))
	}
	if spec.ClusterIP != "" && spec.ClusterIP != corev1.ClusterIPNone {
		for i, ip := range spec.ClusterIPs {
			warnings = append(warnings, warningsForIP(ip, p.Child("clusterIPs").Index(i))...)
		}
	}
	isHeadless := spec.Type == corev1.ServiceTypeClusterIP && spec.ClusterIP == corev1.ClusterIPNone
	if isHeadless {
		warnings = append(warnings, headlessServiceWarnings(spec)...)
	}
	for i, ip := range spec.ExternalIPs {
		warnings = append(warnings, warningsForIP(ip, p.Child("externalIPs").Index(i))...)
	}
	isExternalName := spec.Type == corev1.ServiceTypeExternalName
	if len(spec.ExternalIPs) > 0 && !isHeadless && !isExternalName {
		warnings = append(warnings, "spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	}
	warnings = append(warnings, warningsForIP(spec.LoadBalancerIP, p.Child("loadBalancerIP"))...)
	for i, cidr := range spec.LoadBalancerSourceRanges {
		if _, _, err := netutils.ParseCIDRSloppy(cidr); err == nil {
			path := p.Child("loadBalancerSourceRanges").Index(i)
			warnings = append(warnings, validation.GetWarningsForCIDR(path.Field(), cidr)...)
		}
	}
	if isExternalName && len(spec.ExternalIPs) > 0 {
		warnings = append(warnings, fmt.Sprintf("spec.externalIPs is ignored when spec.type is %q", corev1.ServiceTypeExternalName))
	}
	if !isExternalName && spec.ExternalName != "" {
		warnings = append(warnings, fmt.Sprintf("spec.externalName is ignored when spec.type is not %q", corev1.ServiceTypeExternalName))
	}
	const deprecated = corev1.ServiceTrafficDistributionPreferClose
	if spec.TrafficDistribution != nil && *spec.TrafficDistribution == deprecated {
		warnings = append(warnings, fmt.Sprintf("spec.trafficDistribution: %q is deprecated; use %q", deprecated, corev1.ServiceTrafficDistributionPreferSameZone))
	}
	return warnings
}

// headlessServiceWarnings returns the warnings for fields that have no effect for a Service without
// address.
func headlessServiceWarnings(spec *corev1.ServiceSpec) (warnings []string) {
	if spec.LoadBalancerIP != "" {
		warnings = append(warnings, "spec.loadBalancerIP is ignored for headless services")
	}
	if len(spec.ExternalIPs) > 0 {
		warnings = append(warnings, "spec.externalIPs is ignored for headless services")
	}
	if spec.SessionAffinity != corev1.ServiceAffinityNone {
		warnings = append(warnings, "spec.SessionAffinity is ignored for headless services")
	}
	return warnings
}

// serviceStatusWarnings returns the warnings for addresses of a load balancer in an unusual form.
func serviceStatusWarnings(service, _ *corev1.Service) (warnings []string) {
	var root *validate.Path
	p := root.Child("status").Child("loadBalancer").Child("ingress")
	for i := range service.Status.LoadBalancer.Ingress {
		warnings = append(warnings, warningsForIP(service.Status.LoadBalancer.Ingress[i].IP, p.Index(i))...)
	}
	return warnings
}

// warningsForIP returns the warnings for an IP address in an unusual form, none if it is not one.
func warningsForIP(ip string, p *validate.Path) []string {
	if netutils.ParseIPSloppy(ip) == nil {
		return nil
	}
	return validation.GetWarningsForIP(p.Field(), ip)
}
