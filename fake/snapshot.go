package fakeapi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"example.com/fakeapi/fake/internal/certs"
	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/fake/internal/ids"
	"example.com/fakeapi/memstore"
)

// Snapshot is all objects of a server at one moment, as a backup of etcd has them.
// It is a reference and costs nothing to take; the state stays in memory as long as
// it is held. Server.Snapshot makes one.
type Snapshot struct{ state memstore.Snapshot }

// ResourceVersion is the revision that the server had.
func (s Snapshot) ResourceVersion() string { return s.state.Revision().String() }

// Snapshot takes a backup of the server as it is now.
func (s *Server) Snapshot() Snapshot { return Snapshot{s.store.Snapshot()} }

// Restore puts all objects back to a snapshot, one of this server or of another, as
// restoring etcd from a backup does. All watches end, cleanly, history is forgotten,
// and the controllers begin again with what is there.
//
// With bump 0 the revision goes back as well, the accident as it happens: later
// resourceVersions are given out a second time, to other content, and who watches
// from one of them is told nothing until the server has passed it (WA-21). Otherwise the revision
// becomes that much more than the highest there was, as with etcdutl's
// --bump-revision, and who watches from before gets 410 Expired and lists again.
//
// The error is that of a Snapshot nobody took, or of a bump to more than a
// resourceVersion can be; nothing is changed then.
func (s *Server) Restore(snap Snapshot, bump uint64) error {
	if snap.state.Revision() == 0 {
		return errors.New("fakeapi: restore: the snapshot is empty: Server.Snapshot takes one")
	}
	highest := uint64(max(s.store.Revision(), snap.state.Revision()))
	if bump > math.MaxInt64-highest {
		return fmt.Errorf("fakeapi: restore: a bump of %d behind revision %d is more than a resourceVersion can be", bump, highest)
	}
	s.store.Restore(snap.state, memstore.Revision(bump))
	return s.api.SyncCRDs()
}

// Fork makes a second server that begins with the objects, the revision and the
// history of this one; from then on nothing that is done to one shows in the other.
// It costs the same for any number of objects: a server that was filled once can be
// forked for every test. The options are those of the new server, fixtures come on
// top of what is there, and rules, replicas and clocks are not taken over. Close it, as
// any server made with New.
//
// Channels belong to the synctest bubble that they were made in: a server made
// outside can be forked inside, with WithInMemoryNetwork.
func (s *Server) Fork(opts ...Option) (*Server, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	if o.limits.hasStoreLimits() {
		return nil, errors.New("fakeapi: a fork has the history and the limits of its original; give WithLimits there")
	}
	return s.fork(o, nil)
}

// fork makes a server on a fork of the store. An authority, if it is given, signs its
// certificate.
func (s *Server) fork(o *options, authority *certs.Authority) (*Server, error) {
	store := s.store.Fork()
	f := &Server{
		opts: o, types: s.types.Fork(o.conversionNetwork(store)), store: store, authority: authority, serveDone: make(chan struct{}),
	}
	f.tokens = newTokens(o.tokens)
	f.api = handlers.New(f.store, f.types, ids.New(forkSeed(seed(o.seed), f.store.Revision())), f.handlerSettings())
	if err := f.api.SyncCRDs(); err != nil {
		return nil, err
	}
	if err := f.initialize(); err != nil {
		return nil, err
	}
	return f, nil
}

// forkSeed makes another seed of one, so that a fork with the seed of its original
// does not invent the same uids once more.
func forkSeed(b [32]byte, rev memstore.Revision) [32]byte {
	binary.LittleEndian.PutUint64(b[8:], binary.LittleEndian.Uint64(b[8:])^uint64(rev))
	return b
}
