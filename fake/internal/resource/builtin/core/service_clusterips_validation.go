package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// ValidateServiceClusterIPs returns the errors of clusterIP, clusterIPs, ipFamilies and
// ipFamilyPolicy, which must be valid before anything is allocated. oldIPs are those of the Service
// that is replaced, which stay valid.
func ValidateServiceClusterIPs(spec *corev1.ServiceSpec, oldIPs []string) field.ErrorList {
	if spec.Type == corev1.ServiceTypeExternalName {
		return nil // it has none of these fields
	}
	var root *validate.Path
	p := root.Child("spec")
	clusterIPs := p.Child("clusterIPs")
	errs := validateFirstClusterIP(spec, clusterIPs)
	errs = append(errs, validateIPFamilies(spec, p)...)
	more, areIPs := validateEachClusterIP(spec.ClusterIPs, oldIPs, clusterIPs)
	errs = append(errs, more...)
	if !areIPs {
		return errs
	}
	if len(spec.ClusterIPs) > 1 {
		if isDualStack, err := netutils.IsDualStackIPStrings(spec.ClusterIPs); err != nil || !isDualStack {
			errs = append(errs, clusterIPs.Invalid(spec.ClusterIPs, "may specify no more than one IP for each IP family"))
		}
	}
	if isHeadless(spec) {
		return errs
	}
	for i, ip := range spec.ClusterIPs[:min(len(spec.ClusterIPs), len(spec.IPFamilies))] {
		family := spec.IPFamilies[i]
		if family == corev1.IPv4Protocol && netutils.IsIPv6String(ip) || family == corev1.IPv6Protocol && !netutils.IsIPv6String(ip) {
			errs = append(errs, clusterIPs.Index(i).Invalid(ip, fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%d]`", family, i)))
		}
	}
	return errs
}

// validateFirstClusterIP validates that clusterIP is the first of clusterIPs, whose path is p.
func validateFirstClusterIP(spec *corev1.ServiceSpec, p *validate.Path) field.ErrorList {
	switch {
	case spec.ClusterIP == "" && len(spec.ClusterIPs) > 0:
		return field.ErrorList{p.Invalid(spec.ClusterIPs, "must be empty when `clusterIP` is not specified")}
	case spec.ClusterIP != "" && len(spec.ClusterIPs) == 0:
		return field.ErrorList{p.Required("")}
	case spec.ClusterIP != "" && spec.ClusterIPs[0] != spec.ClusterIP:
		return field.ErrorList{p.Invalid(spec.ClusterIPs, "first value must match `clusterIP`")}
	}
	return nil
}

func validateIPFamilies(spec *corev1.ServiceSpec, p *validate.Path) (errs field.ErrorList) {
	seen := map[corev1.IPFamily]bool{}
	for i, family := range spec.IPFamilies {
		path := p.Child("ipFamilies").Index(i)
		if family != corev1.IPv4Protocol && family != corev1.IPv6Protocol {
			errs = append(errs, validate.NotSupported(path, family, corev1.IPv4Protocol, corev1.IPv6Protocol))
		}
		if seen[family] {
			errs = append(errs, path.Duplicate(family))
		}
		seen[family] = true
	}
	if spec.IPFamilyPolicy == nil {
		return errs
	}
	switch *spec.IPFamilyPolicy {
	case corev1.IPFamilyPolicySingleStack, corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack:
		return errs
	}
	return append(errs, validate.NotSupported(p.Child("ipFamilyPolicy"), *spec.IPFamilyPolicy,
		corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack, corev1.IPFamilyPolicySingleStack))
}

// validateEachClusterIP returns the errors of the addresses, and whether all are addresses or None.
func validateEachClusterIP(ips, oldIPs []string, p *validate.Path) (errs field.ErrorList, areIPs bool) {
	old := sets.New(oldIPs...)
	areIPs = true
	for i, ip := range ips {
		if i > 0 || ip != corev1.ClusterIPNone {
			problems := validateIP(ip, old, p.Index(i))
			errs = append(errs, problems...)
			areIPs = areIPs && len(problems) == 0
		} else if len(ips) > 1 {
			errs = append(errs, p.Invalid(ips, "'None' must be the first and only value"))
			areIPs = false
		}
	}
	if len(ips) > 2 {
		errs = append(errs, p.Invalid(ips, "may only hold up to 2 values"))
	}
	return errs, areIPs
}

// validateClusterIPsUpdate validates that addresses do not change. The second one can be added, and
// be removed with the policy SingleStack. A Service that is or becomes one of type ExternalName has
// other addresses.
func validateClusterIPsUpdate(spec, old *corev1.ServiceSpec, p *validate.Path) (errs field.ErrorList) {
	if spec.Type == corev1.ServiceTypeExternalName || old.Type == corev1.ServiceTypeExternalName || isHeadless(spec) && isHeadless(old) {
		return nil
	}
	ips, was, path := spec.ClusterIPs, old.ClusterIPs, p.Child("clusterIPs")
	if len(ips) == len(was) {
		for i := range was {
			if ips[i] != was[i] {
				errs = append(errs, path.Index(i).Invalid(ips, "may not change once set"))
			}
		}
		return errs
	}
	switch {
	case len(ips) == 0:
		errs = append(errs, path.Index(0).Invalid(ips, "primary clusterIP can not be unset"))
	case len(was) > 0 && ips[0] != was[0]:
		errs = append(errs, path.Index(0).Invalid(ips, "may not change once set"))
	}
	if len(ips) == 1 && len(was) > 1 && !isSingleStack(spec) {
		errs = append(errs, p.Child("ipFamilyPolicy").Invalid(spec.IPFamilyPolicy, "must be set to 'SingleStack' when releasing the secondary clusterIP"))
	}
	return errs
}

// validateIPFamiliesUpdate is validateClusterIPsUpdate for the families. Those of headless Services
// can change.
func validateIPFamiliesUpdate(spec, old *corev1.ServiceSpec, p *validate.Path) (errs field.ErrorList) {
	if spec.Type == corev1.ServiceTypeExternalName || old.Type == corev1.ServiceTypeExternalName || isHeadless(spec) || isHeadless(old) {
		return nil
	}
	families, was, path := spec.IPFamilies, old.IPFamilies, p.Child("ipFamilies").Index(0)
	if len(families) == len(was) {
		for i := range was {
			if families[i] != was[i] {
				errs = append(errs, path.Invalid(families, "may not change once set"))
			}
		}
		return errs
	}
	if len(families) < len(was) && len(spec.ClusterIPs) == 0 {
		errs = append(errs, path.Invalid(families, "primary ipFamily can not be unset"))
	}
	if len(families) > 0 && len(was) > 0 && families[0] != was[0] {
		errs = append(errs, path.Invalid(spec.ClusterIPs, "may not change once set"))
	}
	if len(families) == 1 && len(was) > 1 && !isSingleStack(spec) {
		errs = append(errs, p.Child("ipFamilyPolicy").Invalid(spec.IPFamilyPolicy, "must be set to 'SingleStack' when releasing the secondary ipFamily"))
	}
	return errs
}

func isSingleStack(spec *corev1.ServiceSpec) bool {
	return spec.IPFamilyPolicy != nil && *spec.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack
}
