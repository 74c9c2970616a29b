package fakeapi

import (
	"fmt"

	"example.com/fakeapi/fake/internal/serviceallocator"
)

// WithServiceClusterIPRange sets the range of the cluster IPs of Services, such as 10.96.0.0/12,
// which is the default. Two ranges of different families make the server dual-stack; the first one
// is for Services that do not ask for a family. More ranges can be added with ServiceCIDR objects.
// A replica has the ranges of its server.
func WithServiceClusterIPRange(cidrs ...string) Option {
	return func(o *options) error {
		ranges, err := serviceallocator.ParseServiceClusterIPRange(cidrs)
		if err != nil {
			return fmt.Errorf("fakeapi: service cluster IP range: %w", err)
		}
		o.services.ServiceClusterIPRange = ranges
		return nil
	}
}

// WithServiceNodePortRange sets the range of the node ports of Services. The default is
// 30000-32767. A replica has the range of its server.
func WithServiceNodePortRange(ports string) Option {
	return func(o *options) error {
		r, err := serviceallocator.ParseServiceNodePortRange(ports)
		if err != nil {
			return fmt.Errorf("fakeapi: service node port range: %w", err)
		}
		o.services.ServiceNodePortRange = r
		return nil
	}
}
