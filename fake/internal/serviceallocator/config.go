package serviceallocator

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Config has the ranges of an Allocator. kube-apiserver has flags of the same names.
type Config struct {
	// ServiceClusterIPRange has one range, or one of each family. The first one has the family of
	// Services that do not ask for one.
	ServiceClusterIPRange []netip.Prefix
	ServiceNodePortRange  utilnet.PortRange
}

// DefaultConfig returns the ranges of a cluster of kubeadm. The default of kube-apiserver itself,
// 10.0.0.0/24, is deprecated.
func DefaultConfig() Config {
	return Config{
		ServiceClusterIPRange: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 96, 0, 0}), 12)},
		ServiceNodePortRange:  utilnet.PortRange{Base: 30000, Size: 2768},
	}
}

// minServiceIPs is the smallest size of the first range, in addresses, and shortestIPv6Prefix the
// length of the largest range of IPv6.
const (
	minServiceIPs      = 8
	shortestIPv6Prefix = 64
)

// ParseServiceClusterIPRange parses one range, or two of different families.
func ParseServiceClusterIPRange(cidrs []string) ([]netip.Prefix, error) {
	var ranges []netip.Prefix
	for _, cidr := range cidrs {
		prefix, err := netip.ParsePrefix(strings.TrimSpace(cidr))
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q is not a range of addresses such as 10.96.0.0/12", cidr)
		case prefix.Addr().Is4In6():
			return nil, fmt.Errorf("%q has an IPv4-mapped IPv6 address", cidr)
		case prefix.Addr().Is6() && prefix.Bits() < shortestIPv6Prefix:
			return nil, fmt.Errorf("shortest allowed prefix length for service CIDR is %d, got %d", shortestIPv6Prefix, prefix.Bits())
		}
		ranges = append(ranges, prefix.Masked())
	}
	switch {
	case len(ranges) == 0:
		return nil, errors.New("there is no range of addresses")
	case len(ranges) > 2:
		return nil, errors.New("there are more than two ranges of addresses")
	case len(ranges) == 2 && ranges[0].Addr().Is4() == ranges[1].Addr().Is4():
		return nil, errors.New("the two ranges of addresses must be of different IP family")
	case ranges[0].Addr().BitLen()-ranges[0].Bits() < 3:
		return nil, fmt.Errorf("the service cluster IP range must be at least %d IP addresses", minServiceIPs)
	}
	return ranges, nil
}

// ParseServiceNodePortRange parses a range such as 30000-32767 or 30000+100.
func ParseServiceNodePortRange(text string) (utilnet.PortRange, error) {
	ports, err := utilnet.ParsePortRange(text)
	switch {
	case err != nil:
		return utilnet.PortRange{}, err
	case ports.Size == 0 || ports.Base == 0:
		return utilnet.PortRange{}, fmt.Errorf("%q is not a range of ports such as 30000-32767", text)
	}
	return *ports, nil
}

// DefaultServiceCIDRName is the name of the ServiceCIDR with the configured ranges.
const DefaultServiceCIDRName = "kubernetes"

// DefaultServiceCIDR returns the ServiceCIDR that kube-apiserver creates when it starts.
func (c Config) DefaultServiceCIDR(now metav1.Time) *networkingv1.ServiceCIDR {
	cidr := &networkingv1.ServiceCIDR{}
	cidr.Name = DefaultServiceCIDRName
	cidr.Status.Conditions = []metav1.Condition{{
		Type: networkingv1.ServiceCIDRConditionReady, Status: metav1.ConditionTrue,
		Message: "Kubernetes default Service CIDR is ready", LastTransitionTime: now,
	}}
	for _, prefix := range c.ServiceClusterIPRange {
		cidr.Spec.CIDRs = append(cidr.Spec.CIDRs, prefix.String())
	}
	return cidr
}

// has reports whether there are addresses of a family.
func (c Config) has(family corev1.IPFamily) bool {
	for _, prefix := range c.ServiceClusterIPRange {
		if familyOf(prefix.Addr()) == family {
			return true
		}
	}
	return false
}

// isDualStack reports whether there are addresses of both families.
func (c Config) isDualStack() bool { return len(c.ServiceClusterIPRange) > 1 }

// defaultFamily returns the family of Services that do not ask for one.
func (c Config) defaultFamily() corev1.IPFamily {
	return familyOf(c.ServiceClusterIPRange[0].Addr())
}

// familyOf returns the family of an address.
func familyOf(addr netip.Addr) corev1.IPFamily {
	if addr.Is4() {
		return corev1.IPv4Protocol
	}
	return corev1.IPv6Protocol
}

// otherFamily returns the family that is not family.
func otherFamily(family corev1.IPFamily) corev1.IPFamily {
	if family == corev1.IPv4Protocol {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}
