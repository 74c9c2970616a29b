package serviceallocator

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateClusterIPs returns the errors of clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy,
// which must be valid before anything is allocated. Addresses of old, which may be nil, are valid.
func validateClusterIPs(service, old *corev1.Service) field.ErrorList {
	spec := &service.Spec
	errs := validateFirstClusterIP(spec)
	errs = append(errs, validateIPFamilies(spec)...)
	more, areIPs := validateEachClusterIP(spec, old)
	errs = append(errs, more...)
	if !areIPs {
		return errs
	}
	if n := len(spec.ClusterIPs); n > 1 && !hasBothFamilies(spec.ClusterIPs) {
		errs = append(errs, field.Invalid(clusterIPsPath, spec.ClusterIPs, "may specify no more than one IP for each IP family"))
	}
	if len(spec.ClusterIPs) == 1 && isHeadless(service) {
		return errs
	}
	for i, ip := range spec.ClusterIPs[:min(len(spec.ClusterIPs), len(spec.IPFamilies))] {
		family := spec.IPFamilies[i]
		if (family == corev1.IPv4Protocol || family == corev1.IPv6Protocol) && familyOf(parseIP(ip)) != family {
			errs = append(errs, field.Invalid(clusterIPsPath.Index(i), ip, fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%d]`", family, i)))
		}
	}
	return errs
}

// validateFirstClusterIP returns the errors if clusterIP is not the first of clusterIPs.
func validateFirstClusterIP(spec *corev1.ServiceSpec) field.ErrorList {
	switch {
	case spec.ClusterIP == "" && len(spec.ClusterIPs) > 0:
		return field.ErrorList{field.Invalid(clusterIPsPath, spec.ClusterIPs, "must be empty when `clusterIP` is not specified")}
	case spec.ClusterIP != "" && len(spec.ClusterIPs) == 0:
		return field.ErrorList{field.Required(clusterIPsPath, "")}
	case spec.ClusterIP != "" && spec.ClusterIPs[0] != spec.ClusterIP:
		return field.ErrorList{field.Invalid(clusterIPsPath, spec.ClusterIPs, "first value must match `clusterIP`")}
	}
	return nil
}

func validateIPFamilies(spec *corev1.ServiceSpec) (errs field.ErrorList) {
	seen := map[corev1.IPFamily]bool{}
	for i, family := range spec.IPFamilies {
		if family != corev1.IPv4Protocol && family != corev1.IPv6Protocol {
			errs = append(errs, field.NotSupported(familiesPath.Index(i), family, []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}))
		}
		if seen[family] {
			errs = append(errs, field.Duplicate(familiesPath.Index(i), family))
		}
		seen[family] = true
	}
	switch *spec.IPFamilyPolicy {
	case corev1.IPFamilyPolicySingleStack, corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack:
	default:
		errs = append(errs, field.NotSupported(policyPath, spec.IPFamilyPolicy, []corev1.IPFamilyPolicy{
			corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack, corev1.IPFamilyPolicySingleStack}))
	}
	return errs
}

// validateEachClusterIP returns the errors of the addresses, and whether all are addresses or None.
func validateEachClusterIP(spec *corev1.ServiceSpec, old *corev1.Service) (errs field.ErrorList, areIPs bool) {
	var known []string
	if old != nil {
		known = old.Spec.ClusterIPs
	}
	areIPs = true
	for i, ip := range spec.ClusterIPs {
		if i > 0 || ip != corev1.ClusterIPNone {
			problems := validation.IsValidIPForLegacyField(clusterIPsPath.Index(i), ip, true, known)
			errs = append(errs, problems...)
			areIPs = areIPs && len(problems) == 0
		} else if len(spec.ClusterIPs) > 1 {
			errs = append(errs, field.Invalid(clusterIPsPath, spec.ClusterIPs, "'None' must be the first and only value"))
			areIPs = false
		}
	}
	if len(spec.ClusterIPs) > 2 {
		errs = append(errs, field.Invalid(clusterIPsPath, spec.ClusterIPs, "may only hold up to 2 values"))
	}
	return errs, areIPs
}

func hasBothFamilies(ips []string) bool {
	has := map[corev1.IPFamily]bool{}
	for _, ip := range ips {
		has[familyOf(parseIP(ip))] = true
	}
	return len(has) == 2
}
