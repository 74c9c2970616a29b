package discovery

import (
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// endpointSliceWarnings returns the warnings for a new EndpointSlice with a deprecated type or with
// addresses in an unusual form.
func endpointSliceWarnings(s *discoveryv1.EndpointSlice) (warnings []string) {
	if s.AddressType == discoveryv1.AddressTypeFQDN {
		warnings = append(warnings, "spec.addressType: FQDN endpoints are deprecated")
	}
	return append(warnings, addressWarnings(s)...)
}

func endpointSliceWarningsOnUpdate(s, _ *discoveryv1.EndpointSlice) []string {
	return addressWarnings(s)
}

// addressWarnings returns none for the EndpointSlices of controllers, whose addresses are not those
// that were sent.
func addressWarnings(s *discoveryv1.EndpointSlice) (warnings []string) {
	switch s.Labels[discoveryv1.LabelManagedBy] {
	case "endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io":
		return nil
	}
	for i := range s.Endpoints {
		for j, address := range s.Endpoints[i].Addresses {
			if netutils.ParseIPSloppy(address) != nil {
				path := field.NewPath("endpoints").Index(i).Child("addresses").Index(j)
				warnings = append(warnings, validation.GetWarningsForIP(path, address)...)
			}
		}
	}
	return warnings
}
