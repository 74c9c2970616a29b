//lint:file-ignore SA1019 Endpoints are served

package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateEndpointsUpdate validates Endpoints that replace old. Subsets that do not change stay
// valid.
func validateEndpointsUpdate(e, old *corev1.Endpoints) field.ErrorList {
	errs := validateEndpoints(e)
	if len(errs) > 0 && equality.Semantic.DeepEqual(e.Subsets, old.Subsets) {
		return nil
	}
	return errs
}

// validateEndpoints validates new Endpoints.
func validateEndpoints(e *corev1.Endpoints) (errs field.ErrorList) {
	var root *validate.Path
	for i := range e.Subsets {
		subset, p := &e.Subsets[i], root.Child("subsets").Index(i)
		if len(subset.Addresses) == 0 && len(subset.NotReadyAddresses) == 0 {
			errs = append(errs, p.Required("must specify `addresses` or `notReadyAddresses`"))
		}
		for j := range subset.Addresses {
			errs = append(errs, validateEndpointAddress(&subset.Addresses[j], p.Child("addresses").Index(j))...)
		}
		for j := range subset.NotReadyAddresses {
			errs = append(errs, validateEndpointAddress(&subset.NotReadyAddresses[j], p.Child("notReadyAddresses").Index(j))...)
		}
		for j := range subset.Ports {
			errs = append(errs, validateEndpointPort(&subset.Ports[j], len(subset.Ports) > 1, p.Child("ports").Index(j))...)
		}
	}
	return errs
}

func validateEndpointAddress(address *corev1.EndpointAddress, p *validate.Path) field.ErrorList {
	errs := validateIP(address.IP, nil, p.Child("ip"))
	if address.Hostname != "" {
		errs = append(errs, validate.DNSLabel(address.Hostname, p.Child("hostname"))...)
	}
	if address.NodeName != nil {
		errs = append(errs, validate.DNSSubdomain(*address.NodeName, p.Child("nodeName"))...)
	}
	return append(errs, ValidateEndpointIP(address.IP, p.Child("ip"))...)
}

func validateEndpointPort(port *corev1.EndpointPort, needsName bool, p *validate.Path) (errs field.ErrorList) {
	switch {
	case port.Name != "":
		errs = append(errs, validate.DNSLabel(port.Name, p.Child("name"))...)
	case needsName:
		errs = append(errs, p.Child("name").Required(""))
	}
	errs = append(errs, validate.PortNumber(port.Port, p.Child("port"))...)
	errs = append(errs, validateServiceProtocol(port.Protocol, p.Child("protocol"))...)
	if port.AppProtocol != nil {
		errs = append(errs, validate.Messages(*port.AppProtocol, validation.IsQualifiedName(*port.AppProtocol), p.Child("appProtocol"))...)
	}
	return errs
}
