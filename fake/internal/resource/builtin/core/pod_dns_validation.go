package core

import (
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// Limits of the name resolution of the C library on Linux.
const (
	maxDNSNameservers     = 3
	maxDNSSearchPaths     = 32
	maxDNSSearchListChars = 2048
)

// validateDNSPolicy validates where the DNS configuration of a pod comes from.
func validateDNSPolicy(policy corev1.DNSPolicy, p *validate.Path) field.ErrorList {
	switch policy {
	case corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone:
		return nil
	case "":
		return field.ErrorList{p.Required("")}
	}
	return field.ErrorList{validate.NotSupported(p, policy,
		corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)}
}

// validateDNSConfig validates the DNS configuration of a pod, which may be nil.
func validateDNSConfig(config *corev1.PodDNSConfig, policy corev1.DNSPolicy, p *validate.Path) (errs field.ErrorList) {
	if policy == corev1.DNSNone {
		switch {
		case config == nil:
			return field.ErrorList{p.Required("must provide `dnsConfig` when `dnsPolicy` is None")}
		case len(config.Nameservers) == 0:
			return field.ErrorList{p.Child("nameservers").Required("must provide at least one DNS nameserver when `dnsPolicy` is None")}
		}
	}
	if config == nil {
		return nil
	}
	if len(config.Nameservers) > maxDNSNameservers {
		errs = append(errs, p.Child("nameservers").Invalid(config.Nameservers, fmt.Sprintf("must not have more than %v nameservers", maxDNSNameservers)))
	}
	for i, server := range config.Nameservers {
		errs = append(errs, validateAddress(server, p.Child("nameservers").Index(i))...)
	}
	errs = append(errs, validateDNSSearches(config.Searches, p.Child("searches"))...)
	for i := range config.Options {
		if config.Options[i].Name == "" {
			errs = append(errs, p.Child("options").Index(i).Required("must not be empty"))
		}
	}
	return errs
}

// validateDNSSearches validates the domains that are searched, which are separated by spaces in the
// configuration of a container.
func validateDNSSearches(searches []string, p *validate.Path) (errs field.ErrorList) {
	if len(searches) > maxDNSSearchPaths {
		errs = append(errs, p.Invalid(searches, fmt.Sprintf("must not have more than %v search paths", maxDNSSearchPaths)))
	}
	length := len(searches) - 1
	for _, search := range searches {
		length += len(search)
	}
	if length > maxDNSSearchListChars {
		errs = append(errs, p.Invalid(searches, fmt.Sprintf("must not have more than %v characters (including spaces) in the search list", maxDNSSearchListChars)))
	}
	for i, search := range searches {
		if search != "." {
			search = strings.TrimSuffix(search, ".")
			errs = append(errs, validate.Messages(search, validation.IsDNS1123SubdomainWithUnderscore(search), p.Index(i))...)
		}
	}
	return errs
}

// validateHostAliases validates the lines of the hosts file of a pod.
func validateHostAliases(aliases []corev1.HostAlias, p *validate.Path) (errs field.ErrorList) {
	for i := range aliases {
		errs = append(errs, validateAddress(aliases[i].IP, p.Index(i).Child("ip"))...)
		for j, name := range aliases[i].Hostnames {
			errs = append(errs, validate.DNSSubdomain(name, p.Index(i).Child("hostnames").Index(j))...)
		}
	}
	return errs
}

// validateHostnameOverride validates the name of the host that a pod sees instead of the one that
// follows from its other fields. p is the path of the field.
func validateHostnameOverride(spec *corev1.PodSpec, p *validate.Path) (errs field.ErrorList) {
	if spec.HostnameOverride == nil {
		return nil
	}
	if spec.SetHostnameAsFQDN != nil && *spec.SetHostnameAsFQDN {
		errs = append(errs, p.Forbidden("may not be specified when setHostnameAsFQDN is true"))
	}
	if spec.HostNetwork {
		errs = append(errs, p.Forbidden("may not be specified when hostNetwork is true"))
	}
	const maxLength = 64
	if len(*spec.HostnameOverride) > maxLength {
		errs = append(errs, p.TooLong(maxLength))
	}
	return append(errs, validate.DNSSubdomain(*spec.HostnameOverride, p)...)
}

// validateAddress validates an IP address, in any notation that is not ambiguous.
func validateAddress(value string, p *validate.Path) field.ErrorList {
	if addr, err := netip.ParseAddr(value); err == nil && !addr.Is4In6() && addr.Zone() == "" {
		return nil
	}
	return validation.IsValidIPForLegacyField(p.Field(), value, true, nil)
}
