package discovery

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// The greatest lengths of lists.
const (
	maxEndpoints = 1000
	maxPorts     = 20000
	maxHints     = 8
)

// validateEndpointSlice validates what the tags of the Go type do not have.
func validateEndpointSlice(s *discoveryv1.EndpointSlice) field.ErrorList {
	var root *validate.Path
	errs := validatePorts(s.Ports, root.Child("ports"))
	return append(errs, validateEndpoints(s, root.Child("endpoints"))...)
}

// validateEndpointSliceUpdate validates an EndpointSlice that replaces old. Endpoints that do not
// change stay valid.
func validateEndpointSliceUpdate(s, old *discoveryv1.EndpointSlice) field.ErrorList {
	var root *validate.Path
	errs := validatePorts(s.Ports, root.Child("ports"))
	problems := validateEndpoints(s, root.Child("endpoints"))
	if len(problems) > 0 && equality.Semantic.DeepEqual(s.Endpoints, old.Endpoints) {
		return errs
	}
	return append(errs, problems...)
}

func validateEndpoints(s *discoveryv1.EndpointSlice, p *validate.Path) (errs field.ErrorList) {
	if len(s.Endpoints) > maxEndpoints {
		return field.ErrorList{p.TooMany(len(s.Endpoints), maxEndpoints)}
	}
	for i := range s.Endpoints {
		endpoint, path := &s.Endpoints[i], p.Index(i)
		for j, address := range endpoint.Addresses {
			errs = append(errs, validateAddress(s.AddressType, address, path.Child("addresses").Index(j))...)
		}
		if endpoint.NodeName != nil {
			errs = append(errs, validate.DNSSubdomain(*endpoint.NodeName, path.Child("nodeName"))...)
		}
		if endpoint.Hostname != nil {
			errs = append(errs, validate.DNSLabel(*endpoint.Hostname, path.Child("hostname"))...)
		}
		if endpoint.Hints != nil {
			errs = append(errs, validateHints(endpoint.Hints, path.Child("hints"))...)
		}
	}
	return errs
}

// validateAddress validates an address. Those of an unknown type are not validated.
func validateAddress(addressType discoveryv1.AddressType, address string, p *validate.Path) (errs field.ErrorList) {
	if addressType == discoveryv1.AddressTypeFQDN {
		return validation.IsFullyQualifiedDomainName(p.Field(), address)
	}
	if addressType != discoveryv1.AddressTypeIPv4 && addressType != discoveryv1.AddressTypeIPv6 {
		return nil
	}
	errs = validation.IsValidIPForLegacyField(p.Field(), address, true, nil)
	switch {
	case len(errs) > 0:
	case addressType == discoveryv1.AddressTypeIPv4 && !netutils.IsIPv4String(address):
		errs = append(errs, p.Invalid(address, "must be an IPv4 address"))
	case addressType == discoveryv1.AddressTypeIPv6 && !netutils.IsIPv6String(address):
		errs = append(errs, p.Invalid(address, "must be an IPv6 address"))
	}
	return append(errs, core.ValidateEndpointIP(address, p)...)
}

func validateHints(hints *discoveryv1.EndpointHints, p *validate.Path) (errs field.ErrorList) {
	zones, nodes := p.Child("forZones"), p.Child("forNodes")
	if len(hints.ForZones) > maxHints {
		return field.ErrorList{zones.TooMany(len(hints.ForZones), maxHints)}
	}
	seen := map[string]bool{}
	for i, zone := range hints.ForZones {
		path := zones.Index(i).Child("name")
		if seen[zone.Name] {
			errs = append(errs, path.Duplicate(zone.Name))
		}
		seen[zone.Name] = true
		errs = append(errs, validate.Messages(zone.Name, validation.IsValidLabelValue(zone.Name), path)...)
	}
	if len(hints.ForNodes) > maxHints {
		return append(errs, nodes.TooMany(len(hints.ForNodes), maxHints))
	}
	clear(seen)
	for i, node := range hints.ForNodes {
		path := nodes.Index(i).Child("name")
		if seen[node.Name] {
			errs = append(errs, path.Duplicate(node.Name))
		}
		seen[node.Name] = true
		errs = append(errs, validate.DNSSubdomain(node.Name, path)...)
	}
	return errs
}

func validatePorts(ports []discoveryv1.EndpointPort, p *validate.Path) (errs field.ErrorList) {
	if len(ports) > maxPorts {
		return field.ErrorList{p.TooMany(len(ports), maxPorts)}
	}
	names := make(map[string]bool, len(ports))
	for i := range ports {
		port, path := &ports[i], p.Index(i)
		errs = append(errs, validatePortName(port.Name, names, path.Child("name"))...)
		if port.Protocol != nil {
			switch *port.Protocol {
			case corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP:
			default:
				errs = append(errs, validate.NotSupported(path.Child("protocol"), *port.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP))
			}
		}
		if port.AppProtocol != nil {
			errs = append(errs, validate.Messages(*port.AppProtocol, validation.IsQualifiedName(*port.AppProtocol), path.Child("appProtocol"))...)
		}
	}
	return errs
}

// validatePortName validates the name of a port, which may be empty, and adds it to names.
func validatePortName(name *string, names map[string]bool, p *validate.Path) (errs field.ErrorList) {
	if name == nil {
		return nil // has a default
	}
	if *name != "" {
		errs = validate.DNSLabel(*name, p)
	}
	if names[*name] {
		errs = append(errs, p.Duplicate(*name))
	}
	names[*name] = true
	return errs
}
