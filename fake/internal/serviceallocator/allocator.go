// Package serviceallocator allocates the cluster IPs and node ports of Services, as
// pkg/registry/core/service of kube-apiserver does.
//
// There is no state besides the store. A cluster IP is allocated if there is an IPAddress of that
// name, which is created before the Service and deleted after it, and a node port if a Service has
// it. Ports that requests have chosen and not stored yet are reserved until the end of the request.
package serviceallocator

import (
	"net/netip"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/fakeapi/fake/internal/ids"
	"example.com/fakeapi/fake/internal/recordcache"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/fake/internal/storage"
	"example.com/fakeapi/memstore"
)

// Allocator allocates for the Services of a store. Its exported fields must not be changed after
// the first call. It is safe for concurrent use.
type Allocator struct {
	Config Config // fields that are zero are those of DefaultConfig
	Store  *storage.Store
	// Table returns the served types.
	Table func() *resource.Table
	// IDs chooses the values of Services that do not ask for one.
	IDs *ids.Generator
	// CreateIPAddress stores a new IPAddress, DeleteIPAddress deletes one.
	CreateIPAddress func(*networkingv1.IPAddress) error
	DeleteIPAddress func(name string) error
	// Reserved is shared by all Allocators of a store.
	Reserved *ReservedPorts

	portsOf *recordcache.Cache[[]int32] // the node ports of stored Services
}

// ReservedPorts has the node ports that requests have chosen and that may not be stored yet.
type ReservedPorts struct {
	mu    sync.Mutex
	ports map[int32]bool // guarded by mu
}

// NewReservedPorts returns an empty ReservedPorts.
func NewReservedPorts() *ReservedPorts { return &ReservedPorts{ports: map[int32]bool{}} }

// New returns a, which has all its exported fields.
func New(a Allocator) *Allocator {
	defaults := DefaultConfig()
	if len(a.Config.ServiceClusterIPRange) == 0 {
		a.Config.ServiceClusterIPRange = defaults.ServiceClusterIPRange
	}
	if a.Config.ServiceNodePortRange.Size == 0 {
		a.Config.ServiceNodePortRange = defaults.ServiceNodePortRange
	}
	a.portsOf = recordcache.New[[]int32]()
	return &a
}

// Finish ends the allocation for one write. Without success everything that was allocated is
// released. It may be called once.
type Finish func(success bool)

// BeginCreate sets and allocates the addresses and ports of a new Service, which has its name. A
// dry run allocates nothing.
func (a *Allocator) BeginCreate(service *corev1.Service, dryRun bool) (Finish, error) {
	op := &operation{Allocator: a, dryRun: dryRun}
	return op.begin(service, func() error { return op.create(service) })
}

// BeginUpdate sets and allocates the addresses and ports of a Service that replaces old. What the
// Service does not have any more is released by AfterWrite.
func (a *Allocator) BeginUpdate(service, old *corev1.Service, dryRun bool) (Finish, error) {
	op := &operation{Allocator: a, dryRun: dryRun}
	return op.begin(service, func() error { return op.update(service, old) })
}

// Try is a dry run of BeginCreate, or of BeginUpdate if old is not nil. Unlike a dry run of a
// client, it returns the errors that the allocation would return for what the Service asks for.
func (a *Allocator) Try(service, old *corev1.Service) error {
	op := &operation{Allocator: a, dryRun: true, isTrial: true, checksOnly: true}
	if old == nil {
		return op.create(service)
	}
	return op.update(service, old)
}

// create allocates for a new Service.
func (op *operation) create(service *corev1.Service) error {
	normalizeClusterIPs(service, nil)
	if err := op.initIPFamilyFields(service, nil); err != nil {
		return err
	}
	return op.allocate(
		func() error { return op.allocateClusterIPs(service) },
		func() error { return op.allocateNodePorts(service) },
	)
}

// update allocates for a Service that replaces old.
func (op *operation) update(service, old *corev1.Service) error {
	patchAllocatedValues(service, old)
	normalizeClusterIPs(service, old)
	if err := op.initIPFamilyFields(service, old); err != nil {
		return err
	}
	return op.allocate(
		func() error { return op.updateClusterIPs(service, old) },
		func() error { return op.updateNodePorts(service, old) },
	)
}

// begin calls allocate. If that fails, or Finish is called without success, service is as before.
func (op *operation) begin(service *corev1.Service, allocate func() error) (Finish, error) {
	spec := service.Spec.DeepCopy()
	if err := allocate(); err != nil {
		op.finish(false)
		service.Spec = *spec
		return nil, err
	}
	return func(success bool) {
		op.finish(success)
		if !success {
			service.Spec = *spec
		}
	}, nil
}

// AfterWrite releases the cluster IPs that a Service had before a write, and does not have after
// it. As on a real server, an address that cannot be released is no error.
func (a *Allocator) AfterWrite(res *resource.Resource, e *memstore.Event) {
	before, after := a.clusterIPs(res, e.Prev), a.clusterIPs(res, e.Record)
	for _, ip := range before {
		if !slices.Contains(after, ip) {
			_ = a.DeleteIPAddress(ip.String())
		}
	}
}

// clusterIPs returns the cluster IPs of a stored Service. rec may be nil.
func (a *Allocator) clusterIPs(res *resource.Resource, rec *memstore.Record) []netip.Addr {
	if rec == nil {
		return nil
	}
	obj, err := a.Store.Decode(res, rec)
	if err != nil {
		return nil
	}
	service, ok := obj.(*corev1.Service)
	if !ok || service.Spec.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	var ips []netip.Addr
	for _, text := range service.Spec.ClusterIPs {
		if addr := parseIP(text); addr.IsValid() {
			ips = append(ips, addr)
		}
	}
	return ips
}

// parseIP returns the address of text, or the zero Addr if it is none. Zeros before a number are
// accepted, because old Services can have them.
func parseIP(text string) netip.Addr {
	addr, _ := netip.AddrFromSlice(netutils.ParseIPSloppy(text))
	return addr.Unmap()
}

// resource returns a built-in resource in v1.
func (a *Allocator) resource(group, plural string) *resource.Resource {
	return a.Table().Lookup(group, "v1", plural)
}

// operation is the allocation for one write.
type operation struct {
	*Allocator
	dryRun bool
	// isTrial reports whether a dry run is one of Try.
	isTrial bool
	// checksOnly reports whether addresses are only looked up.
	checksOnly bool
	batch      *Batch // not nil for a load
	// addresses and ports are what this operation has allocated.
	addresses []string
	ports     []int32
}

// allocate calls ports before addresses, which stores IPAddresses, so that a Service whose ports
// cannot be allocated leaves no trace. On a real server addresses come first, and so do their
// errors.
func (op *operation) allocate(addresses, ports func() error) error {
	err := ports()
	if err == nil {
		return addresses()
	}
	op.checksOnly = true
	if first := addresses(); first != nil {
		return first
	}
	return err
}

// finish ends the operation. Reserved ports are then those of the stored Service, or free.
func (op *operation) finish(success bool) {
	if op.dryRun {
		return
	}
	if !success && op.batch == nil {
		for _, name := range op.addresses {
			_ = op.DeleteIPAddress(name)
		}
	}
	op.Reserved.mu.Lock()
	defer op.Reserved.mu.Unlock()
	for _, port := range op.ports {
		delete(op.Reserved.ports, port)
	}
}

// invalid returns the 422 of a Service.
func invalid(service *corev1.Service, errs ...*field.Error) error {
	return status.Invalid(schema.GroupKind{Kind: "Service"}, service.Name, errs)
}
