package fakeapi

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/ids"
	"example.com/fakeapi/fake/internal/serviceallocator"
	"example.com/fakeapi/fake/internal/systemobjects"
	"example.com/fakeapi/memstore"
)

// WithoutSystemObjects starts a server without the objects that it otherwise creates at the start,
// as a kube-apiserver does. It is for tests that count objects. The objects are:
//   - in the namespace default: the Service, the Endpoints and the EndpointSlice kubernetes
//   - the ServiceCIDR kubernetes, and the IPAddress that the Service has
//   - in kube-system: the ConfigMaps extension-apiserver-authentication and
//     kube-apiserver-legacy-service-account-token-tracking, and the Lease of the server
//   - the PriorityClasses system-cluster-critical and system-node-critical
//   - the APIServices of all groups and versions that the server has, such as v1.apps and, from the
//     creation of their definition on, those of custom resources
//   - the FlowSchemas catch-all, exempt, global-default, kube-controller-manager, kube-scheduler,
//     kube-system-service-accounts, probes, service-accounts, system-leader-election,
//     system-node-high and system-nodes
//   - the PriorityLevelConfigurations catch-all, exempt, global-default, leader-election,
//     node-high, system, workload-high and workload-low
//
// The namespaces default, kube-system, kube-public and kube-node-lease exist on every server. So
// do, with WithRBAC, the roles and bindings of the bootstrap policy, without which RBAC allows
// nothing.
func WithoutSystemObjects() Option {
	return func(o *options) error {
		o.systemObjects = false
		return nil
	}
}

// storeOptions returns the options of the store. The system objects have the resourceVersions
// before the first one of a server without them, so that all others are the same with and without.
func (o *options) storeOptions() (memstore.Options, error) {
	s := o.limits.storeOptions()
	count, err := systemobjects.Count(o.systemObjectsConfig())
	s.StartRevision = memstore.DefaultStartRevision - memstore.Revision(count)
	return s, err
}

// systemObjectsConfig returns the configuration without what is known after the server listens.
func (o *options) systemObjectsConfig() systemobjects.Config {
	ranges := o.services.ServiceClusterIPRange
	if len(ranges) == 0 {
		ranges = serviceallocator.DefaultConfig().ServiceClusterIPRange
	}
	return systemobjects.Config{
		System: o.systemObjects, BootstrapPolicy: o.authorization.HasMode(authz.ModeRBAC), ServiceCIDRs: ranges,
	}
}

// loadSystemObjects stores the objects that a kube-apiserver creates when it starts, or those that
// the storage of another server lacks.
func (s *Server) loadSystemObjects() error {
	config, store := s.opts.systemObjectsConfig(), systemobjects.Load
	if s.opts.storageOf != nil {
		store = systemobjects.Reconcile
	}
	if !config.System && !config.BootstrapPolicy {
		return nil
	}
	_, text, err := net.SplitHostPort(s.listener.Addr().String())
	if err != nil {
		return fmt.Errorf("fakeapi: %w", err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return fmt.Errorf("fakeapi: %w", err)
	}
	config.Port = int32(port)
	if s.opts.clientCertificates {
		config.Authentication = map[string]string{
			"client-ca-file": string(slices.Concat(append([][]byte{s.authority.PEM()}, s.opts.clientCAs...)...)),
		}
		if err := s.opts.requestHeaders.addTo(config.Authentication); err != nil {
			return fmt.Errorf("fakeapi: %w", err)
		}
	}
	seed := ids.New(seed(s.opts.seed)).Derive("system objects")
	return store(s.store, config, seed, time.Now())
}
