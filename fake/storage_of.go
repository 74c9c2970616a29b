package fakeapi

import (
	"errors"
	"slices"
	"sync"

	"example.com/fakeapi/fake/internal/ids"
	"example.com/fakeapi/fake/internal/serviceaccount"
	"example.com/fakeapi/fake/internal/serviceallocator"
	"example.com/fakeapi/memstore"
)

// WithStorageOf starts a server on the storage of another one, as a kube-apiserver that is started
// again, or a second one, on the same etcd. s may be closed, and may serve at the same time. The
// objects, the history and the revisions are shared, and the new server has all other options of
// its own. Watches from earlier resourceVersions continue, as after Restart.
//
// As a kube-apiserver does when it starts, the new server creates the system objects, system
// namespaces and roles of the bootstrap policy that the storage lacks, and sets its address in
// those that have one. Fixtures whose objects exist are left out; CustomResourceDefinitions are
// updated. The definitions and Services in the storage are served and count. A definition that is
// created by one server is served by the others. The controllers run in each server, on the same
// objects. Close of one server leaves the others.
//
// The certificate authority of s, and without WithServiceAccountKeys its keys, are also those of
// the new server, so that credentials stay valid. The history and the size of the storage have the
// limits of s: those of WithLimits have no effect.
func WithStorageOf(s *Server) Option {
	return func(o *options) error {
		if s == nil {
			return errors.New("fakeapi: WithStorageOf needs a server")
		}
		o.storageOf = s
		return nil
	}
}

// storageSharers are the open servers on one storage, without replicas, which share the types of
// their server.
type storageSharers struct {
	mu      sync.Mutex // guards servers
	servers []*Server
}

func (p *storageSharers) add(s *Server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.servers = append(p.servers, s)
}

func (p *storageSharers) remove(s *Server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.servers = slices.DeleteFunc(p.servers, func(other *Server) bool { return other == s })
}

// others returns the servers besides s.
func (p *storageSharers) others(s *Server) []*Server {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.servers), func(other *Server) bool { return other == s })
}

// syncOthers serves the types of the storage in the other servers on it.
func (s *Server) syncOthers() {
	for _, other := range s.sharers.others(s) {
		// A definition that cannot be decoded is an error of this server, too.
		_ = other.api.SyncTypes()
	}
}

// openStorage creates the store, or takes that of WithStorageOf, and returns the source of uids and
// generated names.
func (s *Server) openStorage() (*ids.Generator, error) {
	of := s.opts.storageOf
	if of == nil {
		storeOptions, err := s.opts.storeOptions()
		if err != nil {
			return nil, err
		}
		s.store, s.sharers = memstore.New(storeOptions), &storageSharers{}
		return ids.New(seed(s.opts.seed)), nil
	}
	s.store, s.sharers, s.authority = of.store, of.sharers, of.authority
	return ids.New(forkSeed(seed(s.opts.seed), s.store.Revision())), nil
}

// joinSharers makes the server one of those on its storage.
func (s *Server) joinSharers() {
	s.types.AfterSync = s.syncOthers
	s.sharers.add(s)
}

// loadStoredTypes serves the types in the storage of another server.
func (s *Server) loadStoredTypes() error {
	if s.opts.storageOf == nil {
		return nil
	}
	return s.api.SyncCRDs()
}

// keysFor returns the keys of service account tokens: those of the options, or of the server that
// the new one is derived from, which may be nil.
func (s *Server) keysFor(origin *Server, generator *ids.Generator) (*serviceaccount.Keys, error) {
	if origin != nil && s.opts.serviceAccountKeys == nil {
		return origin.serviceAccountKeys, nil
	}
	return s.opts.newServiceAccountKeys(generator)
}

// reservedPorts returns the node ports that are reserved by requests of another server on the
// storage, or nil.
func (s *Server) reservedPorts() *serviceallocator.ReservedPorts {
	if s.opts.storageOf == nil {
		return nil
	}
	return s.opts.storageOf.api.ReservedPorts()
}
