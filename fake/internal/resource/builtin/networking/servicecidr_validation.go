package networking

import (
	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateServiceCIDR validates that there is one CIDR, or one of each IP family.
func validateServiceCIDR(c *networkingv1.ServiceCIDR) (errs field.ErrorList) {
	p := serviceCIDRsPath()
	cidrs := c.Spec.CIDRs
	switch {
	case len(cidrs) == 0:
		return field.ErrorList{p.Required("at least one CIDR required")}
	case len(cidrs) > 2:
		return field.ErrorList{p.Invalid(c.Spec, "may only hold up to 2 values")}
	}
	for i, cidr := range cidrs {
		errs = append(errs, validation.IsValidCIDR(p.Index(i).Field(), cidr)...)
	}
	if len(cidrs) == 2 {
		family := netutils.IPFamilyOfCIDRString(cidrs[0])
		if family == netutils.IPFamilyOfCIDRString(cidrs[1]) && family != netutils.IPFamilyUnknown {
			errs = append(errs, p.Invalid(cidrs, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"))
		}
	}
	return errs
}

// validateServiceCIDRUpdate validates that an update changes nothing, or adds the second CIDR. What
// has not changed is not validated again.
func validateServiceCIDRUpdate(c, old *networkingv1.ServiceCIDR) (errs field.ErrorList) {
	p := serviceCIDRsPath()
	cidrs, was := c.Spec.CIDRs, old.Spec.CIDRs
	isAddition := len(was) == 1 && len(cidrs) == 2
	if len(cidrs) != len(was) && !isAddition {
		return field.ErrorList{p.Invalid(cidrs, apivalidation.FieldImmutableErrorMsg)}
	}
	for i := range was {
		errs = append(errs, validate.Immutable(cidrs[i], was[i], p.Index(i))...)
	}
	if isAddition {
		errs = append(errs, validateServiceCIDR(c)...)
	}
	return errs
}

func serviceCIDRsPath() *validate.Path {
	var root *validate.Path
	return root.Child("spec").Child("cidrs")
}
