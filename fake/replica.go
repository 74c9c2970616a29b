package fakeapi

import (
	"errors"
	"sort"
	"sync"
	"time"

	"example.com/fakeapi/fake/internal/watchcache"
	"example.com/fakeapi/memstore"
)

// Replica is a second API server on the store of a Server, as a cluster has several API servers on
// one etcd. It has its own address, fault rules and view of the store, and the view can lag behind.
// It has all methods of a Server. Those that write, or forget history, act on the shared store.
//
// What a real server reads from its watch cache is read from the view: get and list at
// resourceVersion "0" or "not older than", and watches. A read that the view cannot serve yet
// waits, and then gets 504 (RS-05). A watch sends no events until they are in the view (WA-21). The
// replica authorizes requests by the roles in its view, and calls the webhooks and policies in it.
// Reads of the most recent state, exact reads, continued lists and writes use the store. A client
// that moves between the servers can so see older state than before.
type Replica struct {
	*Server
	view *laggingView
}

// Replica starts another API server on the store of s. Its view is current until Freeze, Lag or
// Delay are called. It has the timeouts, features, admission, TLS, users, authorizer and audit log
// of s, so that clients can move between them. Of opts, those about serving are applied
// (WithInMemoryNetwork, WithAddress, WithFaults, timeouts). Functions of WithAdmission run after
// those of s. Fixtures, the seed and the controllers are those of s. Fault rules, middleware and
// WithControlAPI are not inherited. The replica is closed with s, or before by Close.
func (s *Server) Replica(opts ...Option) (*Replica, error) {
	if err := s.checkOpen("replica"); err != nil {
		return nil, err
	}
	o, err := s.opts.forReplica(opts)
	if err != nil {
		return nil, err
	}
	if len(o.fixtures)+len(o.crds)+len(o.schemes) > 0 {
		return nil, errors.New("fakeapi: a replica has the objects and types of its server; load them into the server")
	}
	if o.storageOf != nil || o.serviceAccountKeys != nil || o.runtimeConfig != nil {
		return nil, errors.New("fakeapi: a replica has the storage, the service account keys and the runtime configuration of its server")
	}
	if o.limits.hasStoreLimits() {
		return nil, errors.New("fakeapi: a replica has the store of its server; set WithLimits for the server")
	}
	if len(o.services.ServiceClusterIPRange) > 0 || o.services.ServiceNodePortRange.Size > 0 {
		return nil, errors.New("fakeapi: a replica has the ranges of its server; set WithServiceClusterIPRange and WithServiceNodePortRange for the server")
	}
	if o.authOptions.isSet() {
		return nil, errors.New("fakeapi: a replica has the users of its server; set tokens, client certificates and the authorizer for the server")
	}
	o.authOptions = s.opts.authOptions
	o.controllers = false // those of the server work on the store
	o.tls = o.tls || s.opts.tls
	view := newDelayedView(s.store, o.watchCacheDelay)
	r := &Server{
		opts: o, types: s.types, sharedStore: true, store: s.store, sharers: s.sharers, controllers: s.controllers, aggregator: s.aggregator,
		authority: s.authority, tokens: s.tokens, clientCAs: s.clientCAs, authenticator: s.authenticator, serviceAccountKeys: s.serviceAccountKeys, adminCertificate: s.adminCertificate,
		serveDone: make(chan struct{}),
	}
	r.api = s.api.Replica(view, r.handlerSettings())
	if err := r.listen(); err != nil {
		return nil, r.abandon(err)
	}
	if err := r.start(); err != nil {
		return nil, r.abandon(err)
	}
	if err := s.closeWith(r); err != nil {
		return nil, err
	}
	return &Replica{Server: r, view: view}, nil
}

// Freeze stops the view at its current state.
func (r *Replica) Freeze() {
	r.note("Freeze")
	r.view.set(lagPolicy{frozen: true, at: r.view.View()})
}

// Lag keeps the view a number of changes behind the store, at most as far as the history reaches
// back.
func (r *Replica) Lag(changes uint) {
	r.note("Lag by %d changes", changes)
	r.view.set(lagPolicy{changes: memstore.Revision(changes)})
}

// Delay keeps the view a duration behind the store: a change is in the view when it is that old.
// The view is at most as old as the history reaches back.
func (r *Replica) Delay(d time.Duration) {
	r.note("Delay by %v", d)
	r.view.set(lagPolicy{delay: max(d, 0)})
}

// CatchUp makes the view current again.
func (r *Replica) CatchUp() {
	r.note("CatchUp")
	r.view.set(lagPolicy{})
}

// lagPolicy is how far a view is behind the store: frozen, or by changes or a duration. The zero
// value is current.
type lagPolicy struct {
	frozen  bool
	at      memstore.View
	changes memstore.Revision
	delay   time.Duration
}

// laggingView is the view of a replica.
type laggingView struct {
	store *memstore.Store

	mu      sync.Mutex
	policy  lagPolicy
	changed chan struct{} // closed when the policy changes
}

var _ watchcache.View = (*laggingView)(nil)

// newDelayedView returns a view that is a duration behind the store.
func newDelayedView(store *memstore.Store, d time.Duration) *laggingView {
	return &laggingView{store: store, policy: lagPolicy{delay: d}, changed: make(chan struct{})}
}

func (v *laggingView) set(s lagPolicy) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.policy = s
	close(v.changed)
	v.changed = make(chan struct{})
}

func (v *laggingView) get() (lagPolicy, <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.policy, v.changed
}

// View implements watchcache.View.
func (v *laggingView) View() memstore.View {
	s, _ := v.get()
	if s.frozen {
		return s.at
	}
	for {
		view, err := v.store.ViewAt(v.visibleRevision(s))
		if err == nil {
			return view
		}
		// The history does not reach back far enough, or the store was just restored. Use its
		// oldest state.
		s = lagPolicy{changes: v.store.Revision() - v.oldestRevision()}
	}
}

// Revision implements watchcache.View.
func (v *laggingView) Revision() memstore.Revision {
	s, _ := v.get()
	return v.visibleRevision(s)
}

func (v *laggingView) oldestRevision() memstore.Revision {
	exact, _ := v.store.Floors()
	return exact
}

// visibleRevision returns the newest revision in the view.
func (v *laggingView) visibleRevision(s lagPolicy) memstore.Revision {
	newest := v.store.Revision()
	switch {
	case s.frozen:
		return s.at.Revision()
	case s.changes > 0:
		return max(newest-min(s.changes, newest), v.oldestRevision())
	}
	if s.delay == 0 {
		return newest
	}
	floor := v.oldestRevision()
	young := sort.Search(int(newest-floor), func(i int) bool {
		return v.store.Age(floor+1+memstore.Revision(i)) < s.delay
	})
	return floor + memstore.Revision(young)
}

// Until implements watchcache.View.
func (v *laggingView) Until(rev memstore.Revision) watchcache.Changes {
	s, changed := v.get()
	changes := watchcache.Changes{View: changed}
	switch {
	case s.frozen:
	case s.delay > 0 && rev <= v.store.Revision():
		changes.Delay = max(s.delay-v.store.Age(rev), time.Nanosecond)
	default:
		changes.Store = watchcache.NextWrite(v.store)
	}
	return changes
}
