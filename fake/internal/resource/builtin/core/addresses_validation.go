package core

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateIP validates an IP address. Those in old were there before an update and stay valid, also
// if they have a form that is not allowed any more, such as zeros before a number.
func validateIP(ip string, old sets.Set[string], p *validate.Path) field.ErrorList {
	if old.Has(ip) {
		return nil
	}
	return validation.IsValidIPForLegacyField(p.Field(), ip, true, nil)
}

// validateCIDR is validateIP for a network.
func validateCIDR(cidr string, old sets.Set[string], p *validate.Path) field.ErrorList {
	if old.Has(cidr) {
		return nil
	}
	return validation.IsValidCIDRForLegacyField(p.Field(), cidr, true, nil)
}

// ValidateEndpointIP validates that an IP address can be the one of an endpoint, or of clients
// outside of the cluster.
func ValidateEndpointIP(address string, p *validate.Path) (errs field.ErrorList) {
	ip := netutils.ParseIPSloppy(address)
	if ip == nil {
		return field.ErrorList{p.Invalid(address, "must be a valid IP address")}
	}
	if ip.IsUnspecified() {
		errs = append(errs, p.Invalid(address, fmt.Sprintf("may not be unspecified (%v)", address)))
	}
	if ip.IsLoopback() {
		errs = append(errs, p.Invalid(address, "may not be in the loopback range (127.0.0.0/8, ::1/128)"))
	}
	if ip.IsLinkLocalUnicast() {
		errs = append(errs, p.Invalid(address, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"))
	}
	if ip.IsLinkLocalMulticast() {
		errs = append(errs, p.Invalid(address, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"))
	}
	return errs
}
