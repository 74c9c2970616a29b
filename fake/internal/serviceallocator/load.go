package serviceallocator

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"example.com/fakeapi/fake/internal/codec"
)

// Batch allocates for Services that are loaded together. Values that they have are kept, also
// outside of the configured ranges, but must not be in use.
type Batch struct {
	op    *operation
	given map[string]*networkingv1.ParentReference // of the IPAddresses that are loaded
	taken map[string]*networkingv1.IPAddress       // the new ones
}

// NewBatch returns an empty Batch. Close must be called after the objects are stored.
func (a *Allocator) NewBatch() *Batch {
	b := &Batch{given: map[string]*networkingv1.ParentReference{}, taken: map[string]*networkingv1.IPAddress{}}
	b.op = &operation{Allocator: a, batch: b}
	return b
}

// Close ends the allocation.
func (b *Batch) Close() { b.op.finish(true) }

// AddIPAddress adds an IPAddress that is loaded with its Service. All of them must be added before
// the Services.
func (b *Batch) AddIPAddress(address *networkingv1.IPAddress) {
	b.given[address.Name] = address.Spec.ParentRef
}

// Reserve allocates the addresses and ports that a Service has. It must be called for all Services
// before Complete is called for one.
func (b *Batch) Reserve(service *corev1.Service) error {
	normalizeClusterIPs(service, nil)
	if needsClusterIP(service) && !isHeadless(service) {
		for _, ip := range service.Spec.ClusterIPs {
			addr := parseIP(ip)
			if !addr.IsValid() {
				continue // Complete returns the error
			}
			if err := b.op.takeIP(service, addr); err != nil {
				return invalidClusterIPs(service, "failed to allocate IP "+ip+": "+err.Error())
			}
		}
	}
	var reserved []int32
	for i, p := range service.Spec.Ports {
		if !needsNodePort(service) || p.NodePort == 0 || slices.Contains(reserved, p.NodePort) {
			continue
		}
		if err := b.op.allocatePort(p.NodePort); err != nil {
			return invalidNodePort(service, i, p.NodePort, err)
		}
		reserved = append(reserved, p.NodePort)
	}
	if needsHealthCheck(service) && service.Spec.HealthCheckNodePort != 0 {
		return b.op.allocateHealthCheckNodePort(service)
	}
	return nil
}

// Complete sets and allocates what a Service lacks.
func (b *Batch) Complete(service *corev1.Service) error {
	spec := &service.Spec
	if isComplete := len(spec.ClusterIPs) > 0 && len(spec.ClusterIPs) == len(spec.IPFamilies) && spec.IPFamilyPolicy != nil; !isComplete {
		if err := b.op.initIPFamilyFields(service, nil); err != nil {
			return err
		}
		if err := b.completeClusterIPs(service); err != nil {
			return err
		}
	}
	if allocatesNodePorts(service) {
		if err := b.completeNodePorts(service); err != nil {
			return err
		}
	}
	if needsHealthCheck(service) && spec.HealthCheckNodePort == 0 {
		return b.op.allocateHealthCheckNodePort(service)
	}
	return nil
}

// completeClusterIPs allocates the addresses that a Service lacks.
func (b *Batch) completeClusterIPs(service *corev1.Service) error {
	spec := &service.Spec
	if !needsClusterIP(service) || isHeadless(service) {
		return nil
	}
	for i := len(spec.ClusterIPs); i < len(spec.IPFamilies); i++ {
		spec.ClusterIPs = append(spec.ClusterIPs, "")
		if err := b.op.allocateClusterIP(service, i); err != nil {
			return err
		}
	}
	spec.ClusterIP = spec.ClusterIPs[0]
	return nil
}

// completeNodePorts allocates the node ports that a Service lacks.
func (b *Batch) completeNodePorts(service *corev1.Service) error {
	for i := range service.Spec.Ports {
		p := &service.Spec.Ports[i]
		if p.NodePort != 0 {
			continue
		}
		for _, other := range service.Spec.Ports {
			if other.Port == p.Port && other.NodePort != 0 {
				p.NodePort = other.NodePort
				break
			}
		}
		if p.NodePort == 0 {
			if err := b.op.setNextNodePort(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// take allocates an address, or returns ErrAllocated. An IPAddress of the same Service that is
// loaded, too, is used.
func (b *Batch) take(address *networkingv1.IPAddress) error {
	if parent, ok := b.given[address.Name]; ok {
		if parent != nil && *parent == *address.Spec.ParentRef {
			return nil
		}
		return ErrAllocated
	}
	res := b.op.resource(networkingv1.GroupName, "ipaddresses")
	if b.taken[address.Name] != nil || b.op.Store.View().Get(codec.Key(res, "", address.Name)) != nil {
		return ErrAllocated
	}
	b.taken[address.Name] = address
	return nil
}

// IPAddresses returns the IPAddresses that are to be stored with the Services, sorted by name.
func (b *Batch) IPAddresses() []*networkingv1.IPAddress {
	var addresses []*networkingv1.IPAddress
	for _, name := range slices.Sorted(maps.Keys(b.taken)) {
		addresses = append(addresses, b.taken[name])
	}
	return addresses
}
