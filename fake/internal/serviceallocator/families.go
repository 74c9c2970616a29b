package serviceallocator

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
)

var (
	policyPath     = field.NewPath("spec", "ipFamilyPolicy")
	familiesPath   = field.NewPath("spec", "ipFamilies")
	clusterIPsPath = field.NewPath("spec", "clusterIPs")
)

// initIPFamilyFields sets ipFamilyPolicy and ipFamilies, and checks them with clusterIPs against
// the configured ranges. old is nil for a new Service.
func (a *Allocator) initIPFamilyFields(service, old *corev1.Service) error {
	if !needsClusterIP(service) || keepsPreferDualStack(service, old) {
		return nil
	}
	spec := &service.Spec
	if spec.IPFamilyPolicy == nil {
		policy := defaultPolicy(service, old)
		spec.IPFamilyPolicy = &policy
	}
	var oldIPs []string
	if old != nil {
		oldIPs = old.Spec.ClusterIPs
	}
	if errs := core.ValidateServiceClusterIPs(spec, oldIPs); len(errs) > 0 {
		return invalid(service, errs...)
	}
	errs := releaseSecondary(service, old)
	errs = append(errs, checkSingleStack(service)...)
	errs = append(errs, a.inferFamilies(service)...)
	if len(errs) > 0 {
		return invalid(service, errs...)
	}
	if spec.ClusterIP == corev1.ClusterIPNone && len(spec.Selector) == 0 {
		a.completeFamilies(service, true) // its endpoints can be of families that are not configured
		return nil
	}
	if errs := a.checkConfigured(service); len(errs) > 0 {
		return invalid(service, errs...)
	}
	a.completeFamilies(service, a.Config.isDualStack())
	return nil
}

// defaultPolicy returns the policy of a Service without one. It does not depend on the configured
// ranges.
func defaultPolicy(service, old *corev1.Service) corev1.IPFamilyPolicy {
	switch {
	case old != nil && old.Spec.IPFamilyPolicy != nil:
		return *old.Spec.IPFamilyPolicy
	case service.Spec.ClusterIP == corev1.ClusterIPNone && len(service.Spec.Selector) == 0:
		return corev1.IPFamilyPolicyRequireDualStack
	}
	return corev1.IPFamilyPolicySingleStack
}

// releaseSecondary removes the second address and family of a Service that has become SingleStack.
// Without that policy they cannot be removed.
func releaseSecondary(service, old *corev1.Service) field.ErrorList {
	if old == nil {
		return nil
	}
	spec := &service.Spec
	if isSingleStack(service) {
		if sameClusterIPs(service, old) && len(spec.ClusterIPs) > 1 {
			spec.ClusterIPs = spec.ClusterIPs[:1]
		}
		if sameIPFamilies(service, old) && len(spec.IPFamilies) > 1 {
			spec.IPFamilies = spec.IPFamilies[:1]
		}
		return nil
	}
	var errs field.ErrorList
	if n := len(spec.ClusterIPs); n > 0 && n < len(old.Spec.ClusterIPs) {
		errs = append(errs, field.Invalid(policyPath, spec.IPFamilyPolicy, "must be 'SingleStack' to release the secondary cluster IP"))
	}
	if n := len(spec.IPFamilies); n > 0 && n < len(old.Spec.IPFamilies) {
		errs = append(errs, field.Invalid(policyPath, spec.IPFamilyPolicy, "must be 'SingleStack' to release the secondary IP family"))
	}
	return errs
}

// checkSingleStack returns the errors of a SingleStack Service with two addresses or families.
func checkSingleStack(service *corev1.Service) (errs field.ErrorList) {
	const message = "must be 'RequireDualStack' or 'PreferDualStack' when multiple %s are specified"
	if !isSingleStack(service) {
		return nil
	}
	if len(service.Spec.ClusterIPs) == 2 {
		errs = append(errs, field.Invalid(policyPath, service.Spec.IPFamilyPolicy, fmt.Sprintf(message, "cluster IPs")))
	}
	if len(service.Spec.IPFamilies) == 2 {
		errs = append(errs, field.Invalid(policyPath, service.Spec.IPFamilyPolicy, fmt.Sprintf(message, "IP families")))
	}
	return errs
}

// inferFamilies adds the families of the addresses for which the Service has none.
func (a *Allocator) inferFamilies(service *corev1.Service) (errs field.ErrorList) {
	spec := &service.Spec
	for i, ip := range spec.ClusterIPs {
		if ip == corev1.ClusterIPNone {
			break
		}
		if i < len(spec.IPFamilies) {
			continue
		}
		if family := familyOf(parseIP(ip)); a.Config.has(family) {
			spec.IPFamilies = append(spec.IPFamilies, family)
		} else {
			errs = append(errs, field.Invalid(clusterIPsPath.Index(i), spec.ClusterIPs, fmt.Sprintf("%s is not configured on this cluster", family)))
		}
	}
	return errs
}

// checkConfigured returns the errors of a Service that needs families without a range.
func (a *Allocator) checkConfigured(service *corev1.Service) (errs field.ErrorList) {
	if *service.Spec.IPFamilyPolicy == corev1.IPFamilyPolicyRequireDualStack && !a.Config.isDualStack() {
		errs = append(errs, field.Invalid(policyPath, service.Spec.IPFamilyPolicy, "this cluster is not configured for dual-stack services"))
	}
	for i, family := range service.Spec.IPFamilies {
		if !a.Config.has(family) {
			errs = append(errs, field.Invalid(familiesPath.Index(i), family, "not configured on this cluster"))
		}
	}
	return errs
}

// completeFamilies sets the first family and, unless the Service is SingleStack, the second one if
// both can be used.
func (a *Allocator) completeFamilies(service *corev1.Service, both bool) {
	spec := &service.Spec
	if len(spec.IPFamilies) == 0 {
		spec.IPFamilies = []corev1.IPFamily{a.Config.defaultFamily()}
	}
	if both && len(spec.IPFamilies) == 1 && !isSingleStack(service) {
		spec.IPFamilies = append(slices.Clone(spec.IPFamilies), otherFamily(spec.IPFamilies[0]))
	}
}

func isSingleStack(service *corev1.Service) bool {
	return *service.Spec.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack
}

// keepsPreferDualStack reports whether an update leaves the addresses of a PreferDualStack Service
// alone. It then has as many as before, also if the configured ranges have changed.
func keepsPreferDualStack(service, old *corev1.Service) bool {
	const prefer = corev1.IPFamilyPolicyPreferDualStack
	return old != nil && service.Spec.Type == old.Spec.Type && needsClusterIP(service) &&
		service.Spec.IPFamilyPolicy != nil && *service.Spec.IPFamilyPolicy == prefer &&
		(old.Spec.IPFamilyPolicy == nil || *old.Spec.IPFamilyPolicy == prefer) &&
		sameClusterIPs(service, old) && sameIPFamilies(service, old)
}
