package serviceallocator

import (
	"encoding/binary"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/memstore"
)

// addressRange is a range of addresses without its network address and, for IPv4, its broadcast
// address. Addresses are counted from first.
type addressRange struct {
	prefix netip.Prefix
	first  netip.Addr
	size   uint64
	// offset is the number of the first addresses that are allocated last, so that they are left
	// for Services that ask for one (KEP-3070).
	offset uint64
}

// newAddressRange returns the range of prefix, whose bits below the prefix are 0.
func newAddressRange(prefix netip.Prefix) addressRange {
	r := addressRange{prefix: prefix, first: prefix.Addr().Next()}
	hostBits := prefix.Addr().BitLen() - prefix.Bits()
	total := uint64(1) << min(hostBits, 63)
	if total > 16 {
		r.offset = min(max(16, total/16), 256)
	}
	reserved := uint64(1)
	if prefix.Addr().Is4() {
		reserved = 2
	}
	if hostBits > 63 {
		r.size = ^uint64(0)
	} else if total > reserved {
		r.size = total - reserved
	}
	return r
}

// address returns the address with a number below size.
func (r addressRange) address(n uint64) netip.Addr {
	if r.first.Is4() {
		b := r.first.As4()
		binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])+uint32(n))
		return netip.AddrFrom4(b)
	}
	b := r.first.As16()
	binary.BigEndian.PutUint64(b[8:], binary.BigEndian.Uint64(b[8:])+n)
	return netip.AddrFrom16(b)
}

// contains reports whether addr is in the range.
func (r addressRange) contains(addr netip.Addr) bool {
	return r.size > 0 && r.prefix.Contains(addr) && !addr.Less(r.first) && !r.address(r.size-1).Less(addr)
}

// ranges returns the ranges of a family in view, in the order of the names of their ServiceCIDRs:
// those of the ServiceCIDRs that are ready, and the configured one unless there is a ServiceCIDR
// for it.
func (a *Allocator) ranges(view memstore.View, family corev1.IPFamily) []addressRange {
	var found []addressRange
	seen := map[netip.Prefix]bool{}
	add := func(prefix netip.Prefix) {
		if familyOf(prefix.Addr()) == family && !seen[prefix] {
			seen[prefix] = true
			found = append(found, newAddressRange(prefix))
		}
	}
	hasDefault := false
	res := a.resource(networkingv1.GroupName, "servicecidrs")
	for rec := range view.Range(codec.Key(res, "", ""), "") {
		obj, err := a.Store.Decode(res, rec)
		if err != nil {
			continue
		}
		cidr := obj.(*networkingv1.ServiceCIDR)
		hasDefault = hasDefault || cidr.Name == DefaultServiceCIDRName
		if !isReady(cidr) {
			continue
		}
		for _, text := range cidr.Spec.CIDRs {
			if prefix, err := netip.ParsePrefix(text); err == nil && (prefix.Addr().Is4() || prefix.Bits() >= shortestIPv6Prefix) {
				add(prefix.Masked())
			}
		}
	}
	if !hasDefault {
		for _, prefix := range a.Config.ServiceClusterIPRange {
			add(prefix)
		}
	}
	return found
}

// isReady reports whether addresses of cidr may be allocated. Without a condition, which the
// kube-controller-manager sets, they may.
func isReady(cidr *networkingv1.ServiceCIDR) bool {
	if cidr.DeletionTimestamp != nil {
		return false
	}
	for _, c := range cidr.Status.Conditions {
		if c.Type == networkingv1.ServiceCIDRConditionReady {
			return c.Status == metav1.ConditionTrue
		}
	}
	return true
}
