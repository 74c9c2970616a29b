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

// Snapshot is the state of all objects of a server at one moment, as in a backup of etcd.
// Server.Snapshot takes one. It is a reference to the state: taking it copies nothing, and the
// state stays in memory as long as the Snapshot does.
type Snapshot struct{ state memstore.Snapshot }

// ResourceVersion returns the revision of the server at the moment of the snapshot.
func (s Snapshot) ResourceVersion() string { return s.state.Revision().String() }

// Snapshot takes a snapshot of the current state.
func (s *Server) Snapshot() Snapshot {
	s.note("Snapshot")
	return s.snapshot()
}

// snapshot is Snapshot without a note.
func (s *Server) snapshot() Snapshot { return Snapshot{s.store.Snapshot()} }

// Restore resets all objects to a snapshot of this server or of another one, as a restore of etcd
// from a backup does. All watches end cleanly, the history is forgotten, and the controllers start
// over.
//
// With a bump the revision becomes the highest one so far plus bump, as with --bump-revision of
// etcdutl, and a watch from before gets 410 Expired, so that its client lists again. Use a bump,
// such as 1000, to reset a server while clients run, or a Fork for each test.
//
// With bump 0 the revision goes back, too: later resourceVersions are assigned a second time to
// other content, and a watch from one of them gets no events until the server has passed it
// (WA-21). Informers that run keep the objects that the restore has removed, and miss changes, as
// after a restore of etcd without a bump. It is for tests of that.
//
// With RBAC, the bootstrap roles and bindings that the snapshot lacks are created after it, see
// ModeRBAC.
//
// An empty Snapshot, and a bump beyond the highest possible resourceVersion, are errors that change
// nothing.
func (s *Server) Restore(snap Snapshot, bump uint64) error {
	if err := s.checkRestore(snap, bump); err != nil {
		return err
	}
	s.note("Restore of resourceVersion %v with bump %d", snap.state.Revision(), bump)
	return s.restore(snap, bump)
}

// checkRestore returns the error of Restore for what cannot be restored.
func (s *Server) checkRestore(snap Snapshot, bump uint64) error {
	if err := s.checkOpen("restore"); err != nil {
		return err
	}
	if snap.state.Revision() == 0 {
		return errors.New("fakeapi: restore: the snapshot is empty; use Server.Snapshot")
	}
	highest := uint64(max(s.store.Revision(), snap.state.Revision()))
	if bump > math.MaxInt64-highest {
		return fmt.Errorf("fakeapi: restore: revision %d with a bump of %d exceeds the highest resourceVersion", highest, bump)
	}
	return nil
}

// restore is Restore without checks and without a note.
func (s *Server) restore(snap Snapshot, bump uint64) error {
	s.store.Restore(snap.state, memstore.Revision(bump))
	return errors.Join(s.api.SyncCRDs(), s.api.ReconcileBootstrapPolicy(false))
}

// Fork starts a second server with the objects, the revision and the history of s. Later changes of
// one do not affect the other. Its cost does not depend on the number of objects: a server that was
// filled once can be forked for each test. opts are all options of the new server; its fixtures are
// added to the objects. Fault rules, replicas and clocks are not inherited. Close must be called as
// for New.
//
// Channels belong to the synctest bubble in which they were created. A server from outside can be
// forked inside of a bubble with WithInMemoryNetwork.
func (s *Server) Fork(opts ...Option) (*Server, error) {
	if err := s.checkOpen("fork"); err != nil {
		return nil, err
	}
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	if o.storageOf != nil {
		return nil, errors.New("fakeapi: a fork has a storage of its own; use New with WithStorageOf")
	}
	if o.limits.hasStoreLimits() {
		return nil, errors.New("fakeapi: a fork has the history and the limits of its original; set WithLimits for the original")
	}
	s.note("Fork")
	return s.fork(o, nil)
}

// fork starts a server on a fork of the store. Its certificate is issued by authority unless that
// is nil.
func (s *Server) fork(o *options, authority *certs.Authority) (*Server, error) {
	types, err := o.builtinTypes()
	if err != nil {
		return nil, err
	}
	f := &Server{opts: o, store: s.store.Fork(), sharers: &storageSharers{}, authority: authority, serveDone: make(chan struct{})}
	f.types = s.types.Fork(types, f.webhookNetwork())
	f.tokens = newTokens(o.tokens)
	generator := ids.New(forkSeed(seed(o.seed), f.store.Revision()))
	if f.serviceAccountKeys, err = f.keysFor(s, generator); err != nil {
		return nil, err
	}
	f.api = handlers.New(f.store, f.types, generator, f.handlerSettings())
	if err := errors.Join(f.api.SyncCRDs(), f.listen()); err != nil {
		return nil, f.abandon(err)
	}
	f.joinSharers()
	if err := f.initialize(false); err != nil {
		return nil, f.abandon(err)
	}
	return f, nil
}

// forkSeed derives another seed, so that a fork with the seed of its original generates other uids.
func forkSeed(b [32]byte, rev memstore.Revision) [32]byte {
	binary.LittleEndian.PutUint64(b[8:], binary.LittleEndian.Uint64(b[8:])^uint64(rev))
	return b
}
