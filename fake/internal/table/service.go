package table

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	discoveryv1beta1 "k8s.io/api/discovery/v1beta1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
)

// endpointsObject is deprecated, and served.
//
//lint:ignore SA1019 see above
type endpointsObject = corev1.Endpoints

// servicePrinters returns the printers of Services and their endpoints. The descriptions of
// EndpointSlices are those of v1beta1, as on a real server.
func servicePrinters() []entry {
	return []entry{
		newEntry(corev1.SchemeGroupVersion, serviceCells,
			named(),
			text("Type", describes(corev1.ServiceSpec{}, "type")),
			text("Cluster-IP", describes(corev1.ServiceSpec{}, "clusterIP")),
			text("External-IP", describes(corev1.ServiceSpec{}, "externalIPs")),
			text("Port(s)", describes(corev1.ServiceSpec{}, "ports")),
			age(),
			wide(text("Selector", describes(corev1.ServiceSpec{}, "selector"))),
		),
		newEntry(corev1.SchemeGroupVersion, func(e *endpointsObject) []any {
			return []any{e.Name, endpoints(e), since(e.CreationTimestamp)}
		}, named(), text("Endpoints", describes(endpointsObject{}, "subsets")), age()),
		newEntry(discoveryv1.SchemeGroupVersion, sliceCells,
			named(),
			text("AddressType", describes(discoveryv1beta1.EndpointSlice{}, "addressType")),
			text("Ports", describes(discoveryv1beta1.EndpointSlice{}, "ports")),
			text("Endpoints", describes(discoveryv1beta1.EndpointSlice{}, "endpoints")),
			age(),
		),
	}
}

func serviceCells(s *corev1.Service) []any {
	ip := s.Spec.ClusterIP
	if ips := s.Spec.ClusterIPs; len(ips) > 0 {
		ip = ips[0]
	}
	ports := make([]string, 0, len(s.Spec.Ports))
	for _, p := range s.Spec.Ports {
		number := strconv.Itoa(int(p.Port))
		if p.NodePort > 0 {
			number += ":" + strconv.Itoa(int(p.NodePort))
		}
		ports = append(ports, number+"/"+orDefault(p.Protocol, string(corev1.ProtocolTCP)))
	}
	return []any{
		s.Name, orDefault(s.Spec.Type, string(corev1.ServiceTypeClusterIP)), orDefault(ip, none), externalIP(s),
		orDefault(strings.Join(ports, ","), none), since(s.CreationTimestamp), labels.FormatLabels(s.Spec.Selector),
	}
}

// externalIP returns the addresses by which a service is reachable from outside of the cluster.
func externalIP(s *corev1.Service) string {
	fixed := strings.Join(s.Spec.ExternalIPs, ",")
	switch s.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, "":
		return orDefault(fixed, none)
	case corev1.ServiceTypeExternalName:
		return s.Spec.ExternalName
	case corev1.ServiceTypeLoadBalancer:
		var points []string
		for _, p := range s.Status.LoadBalancer.Ingress {
			points = append(points, orDefault(p.IP, p.Hostname))
		}
		balanced := distinct(points)
		if balanced != "" && fixed != "" {
			return balanced + "," + fixed
		}
		return orDefault(balanced, orDefault(fixed, "<pending>"))
	}
	return unknown
}

// distinct joins the texts without duplicates and empty ones, sorted.
func distinct(all []string) string {
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ",")
}

// endpoints returns the first addresses, each with its ports.
func endpoints(e *endpointsObject) string {
	if len(e.Subsets) == 0 {
		return none
	}
	var all []string
	for _, set := range e.Subsets {
		if len(set.Ports) == 0 { // a headless service
			for _, a := range set.Addresses {
				all = append(all, a.IP)
			}
		}
		for _, p := range set.Ports {
			for _, a := range set.Addresses {
				all = append(all, net.JoinHostPort(a.IP, strconv.Itoa(int(p.Port))))
			}
		}
	}
	return firstN(all, 3, ",")
}

func sliceCells(s *discoveryv1.EndpointSlice) []any {
	var ports, addresses []string
	for _, p := range s.Ports {
		switch {
		case p.Port != nil:
			ports = append(ports, fmt.Sprint(*p.Port))
		default:
			ports = append(ports, ptr.Deref(p.Name, "*"))
		}
	}
	for _, e := range s.Endpoints {
		addresses = append(addresses, e.Addresses...)
	}
	return []any{
		s.Name, string(s.AddressType), orDefault(firstN(ports, 3, ","), unset), orDefault(firstN(addresses, 3, ","), unset),
		since(s.CreationTimestamp),
	}
}
