package serviceallocator

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// firstDryRunPort is the first node port of a dry run, which does not depend on the range.
const firstDryRunPort = 32769

// allocatePort reserves a port. A dry run of a real server does not compare it with the range.
func (op *operation) allocatePort(port int32) error {
	if (!op.dryRun || op.isTrial) && op.batch == nil && !op.Config.ServiceNodePortRange.Contains(int(port)) {
		return fmt.Errorf("provided port is not in the valid range. The range of valid ports is %v", op.Config.ServiceNodePortRange)
	}
	op.Reserved.mu.Lock()
	defer op.Reserved.mu.Unlock()
	if op.usedPorts()[port] {
		return errPortAllocated
	}
	op.reserve(port)
	return nil
}

// allocateNextPort reserves any port. The first ports of the range are used last, so that they are
// left for Services that ask for one (KEP-3668). A dry run counts up from a port that is in no
// range by default.
func (op *operation) allocateNextPort() (int32, error) {
	op.Reserved.mu.Lock()
	defer op.Reserved.mu.Unlock()
	if op.dryRun {
		port := int32(firstDryRunPort)
		if len(op.ports) > 0 {
			port = slices.Max(op.ports) + 1
		}
		op.reserve(port)
		return port, nil
	}
	ports, used := op.Config.ServiceNodePortRange, op.usedPorts()
	offset := 0
	if ports.Size > 16 {
		offset = min(max(16, ports.Size/32), 128)
	}
	for _, part := range [][2]int{{offset, ports.Size}, {0, offset}} {
		n := part[1] - part[0]
		if n == 0 {
			continue
		}
		start := int(op.IDs.Uint64N(uint64(n)))
		for i := range n {
			port := int32(ports.Base + part[0] + (start+i)%n)
			if !used[port] {
				op.reserve(port)
				return port, nil
			}
		}
	}
	return 0, errFull
}

// reserve keeps other requests from allocating port. The caller holds the lock of op.Reserved.
func (op *operation) reserve(port int32) {
	op.ports = append(op.ports, port)
	if !op.dryRun {
		op.Reserved.ports[port] = true
	}
}

// usedPorts returns the ports of the stored Services, the reserved ones and those of op. The caller
// holds the lock of op.Reserved, so that ports whose requests have ended are stored.
func (op *operation) usedPorts() map[int32]bool {
	used := map[int32]bool{}
	for port := range op.Reserved.ports {
		used[port] = true
	}
	for _, port := range op.ports {
		used[port] = true
	}
	res := op.resource("", "services")
	for rec := range op.Store.View().Range(codec.Key(res, "", ""), "") {
		for _, port := range op.portsOfRecord(res, rec) {
			used[port] = true
		}
	}
	return used
}

// portsOfRecord returns the node ports of a stored Service, with its healthCheckNodePort.
func (a *Allocator) portsOfRecord(res *resource.Resource, rec *memstore.Record) []int32 {
	if t, _ := rec.Fields.Get("spec.type"); t != string(corev1.ServiceTypeNodePort) && t != string(corev1.ServiceTypeLoadBalancer) {
		return nil
	}
	if ports, ok := a.portsOf.Get(rec); ok {
		return ports
	}
	obj, err := a.Store.Decode(res, rec)
	if err != nil {
		return nil
	}
	service := obj.(*corev1.Service)
	ports := nodePorts(service)
	if needsHealthCheck(service) && service.Spec.HealthCheckNodePort != 0 {
		ports = append(ports, service.Spec.HealthCheckNodePort)
	}
	a.portsOf.Put(rec, ports)
	return ports
}
