package serviceallocator

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/status"
)

// Errors of the IP allocators of kube-apiserver.
var (
	errFull = errors.New("range is full")
	// ErrAllocated is returned by CreateIPAddress if there is one of that name.
	ErrAllocated         = errors.New("provided IP is already allocated")
	errMismatchedNetwork = errors.New("the provided network does not match the current range")
)

// managedBy is the label of the IPAddresses of Services.
const managedBy = "ipallocator.k8s.io"

// allocateClusterIPs allocates an address for each family of a Service, whose families are set.
func (op *operation) allocateClusterIPs(service *corev1.Service) error {
	if !needsClusterIP(service) || isHeadless(service) {
		return nil
	}
	spec := &service.Spec
	for i := range spec.IPFamilies {
		if i == len(spec.ClusterIPs) {
			spec.ClusterIPs = append(spec.ClusterIPs, "")
		}
	}
	for i := range spec.IPFamilies {
		if err := op.allocateClusterIP(service, i); err != nil {
			return err
		}
	}
	if len(spec.ClusterIPs) > 0 {
		spec.ClusterIP = spec.ClusterIPs[0]
	}
	return nil
}

// updateClusterIPs allocates the addresses that a Service needs besides those of old.
func (op *operation) updateClusterIPs(service, old *corev1.Service) error {
	spec := &service.Spec
	switch {
	case keepsPreferDualStack(service, old):
		return nil
	case !needsClusterIP(old) && needsClusterIP(service):
		return op.allocateClusterIPs(service)
	case isHeadless(old) || !needsClusterIP(service):
		return nil
	case len(old.Spec.IPFamilies) == 1 && len(spec.IPFamilies) == 2:
		if family := spec.IPFamilies[1]; !op.Config.has(family) { // it becomes headless, without a selector
			return apierrors.NewInternalError(fmt.Errorf("a kube-apiserver without a range for %s panics at this update", family))
		}
		spec.ClusterIPs = slices.Clone(spec.ClusterIPs)
		if len(spec.ClusterIPs) < 2 {
			spec.ClusterIPs = append(spec.ClusterIPs, "")
		}
		return op.allocateClusterIP(service, len(spec.ClusterIPs)-1)
	}
	return nil
}

// allocateClusterIP allocates the address with an index in clusterIPs, where it may be "" for any.
func (op *operation) allocateClusterIP(service *corev1.Service, i int) error {
	spec := &service.Spec
	family, ip := spec.IPFamilies[i], spec.ClusterIPs[i]
	if ip != "" {
		if err := op.allocateIP(service, family, parseIP(ip)); err != nil {
			return invalidClusterIPs(service, fmt.Sprintf("failed to allocate IP %v: %v", ip, err))
		}
		return nil
	}
	addr, err := op.allocateNextIP(service, family)
	switch {
	case errors.Is(err, errFull):
		return apierrors.NewInternalError(fmt.Errorf("failed to allocate a serviceIP for Service %q: %w", service.Name, err))
	case err != nil:
		return invalidClusterIPs(service, fmt.Sprintf("failed to allocate IP: %v", err))
	}
	spec.ClusterIPs[i] = addr.String()
	return nil
}

func invalidClusterIPs(service *corev1.Service, message string) error {
	return invalid(service, field.Invalid(clusterIPsPath, slices.Clone(service.Spec.ClusterIPs), message))
}

// allocateIP allocates an address that a Service asks for. A dry run of a real server does not look
// whether it is in use.
func (op *operation) allocateIP(service *corev1.Service, family corev1.IPFamily, addr netip.Addr) error {
	ranges := op.ranges(op.Store.View(), family)
	isValid := slices.ContainsFunc(ranges, func(r addressRange) bool { return r.contains(addr) })
	isDryRun := op.dryRun && !op.isTrial
	switch {
	case !isValid && isDryRun && len(ranges) > 0:
		return fmt.Errorf("the provided IP (%v) is not in the valid range. The range of valid IPs is %v", addr, ranges[0].prefix)
	case !isValid:
		return errMismatchedNetwork
	case isDryRun:
		return nil
	}
	return op.takeIP(service, addr)
}

// allocateNextIP allocates any address. A dry run of a real server returns the address of the
// network, which is never allocated.
func (op *operation) allocateNextIP(service *corev1.Service, family corev1.IPFamily) (netip.Addr, error) {
	ranges := op.ranges(op.Store.View(), family)
	if len(ranges) == 0 {
		return netip.Addr{}, errFull
	}
	if op.dryRun {
		return ranges[0].prefix.Addr(), nil
	}
	first := 0
	if len(ranges) > 1 {
		first = int(op.IDs.Uint64N(uint64(len(ranges))))
	}
	for i := range ranges {
		r := ranges[(first+i)%len(ranges)]
		addr, err := op.allocateFrom(service, r, r.offset, r.size)
		if errors.Is(err, errFull) {
			addr, err = op.allocateFrom(service, r, 0, r.offset)
		}
		if !errors.Is(err, errFull) {
			return addr, err
		}
	}
	return netip.Addr{}, errFull
}

// allocateFrom allocates one of the addresses with the numbers from begin to end-1 in r. It tries
// them in order from a random one.
func (op *operation) allocateFrom(service *corev1.Service, r addressRange, begin, end uint64) (netip.Addr, error) {
	if begin >= end {
		return netip.Addr{}, errFull
	}
	n := end - begin
	start := op.IDs.Uint64N(n)
	view := op.Store.View()
	res := op.resource(networkingv1.GroupName, "ipaddresses")
	for i := range n {
		number := start + i
		if i >= n-start {
			number = i - (n - start)
		}
		addr := r.address(begin + number)
		if view.Get(codec.Key(res, "", addr.String())) != nil {
			continue
		}
		if err := op.takeIP(service, addr); !errors.Is(err, ErrAllocated) {
			return addr, err
		}
	}
	return netip.Addr{}, errFull
}

// takeIP allocates addr, or returns ErrAllocated.
func (op *operation) takeIP(service *corev1.Service, addr netip.Addr) error {
	address := NewIPAddress(service, addr)
	if op.batch != nil {
		return op.batch.take(address)
	}
	if service.Name == "" { // the only error that the validation of an IPAddress can have here
		return status.Invalid(schema.GroupKind{Group: networkingv1.GroupName, Kind: "IPAddress"}, address.Name, field.ErrorList{
			field.Required(field.NewPath("spec", "parentRef", "name"), "")})
	}
	if op.checksOnly {
		if op.Store.View().Get(codec.Key(op.resource(networkingv1.GroupName, "ipaddresses"), "", address.Name)) != nil {
			return ErrAllocated
		}
		return nil
	}
	if err := op.CreateIPAddress(address); err != nil {
		return err
	}
	op.addresses = append(op.addresses, address.Name)
	return nil
}

// NewIPAddress returns the IPAddress of an address of a Service.
func NewIPAddress(service *corev1.Service, addr netip.Addr) *networkingv1.IPAddress {
	address := &networkingv1.IPAddress{}
	address.Name = addr.String()
	address.Labels = map[string]string{
		networkingv1.LabelIPAddressFamily: string(familyOf(addr)),
		networkingv1.LabelManagedBy:       managedBy,
	}
	address.Spec.ParentRef = &networkingv1.ParentReference{
		Resource: "services", Namespace: service.Namespace, Name: service.Name,
	}
	return address
}
