package fakeapi

import (
	"errors"
	"sort"
	"sync"
	"time"

	"example.com/fakeapi/fake/internal/watchcache"
	"example.com/fakeapi/memstore"
)

// Replica is a second front door on the store of a Server, as a second API
// server in front of one etcd is: an address of its own, fault rules of its own
// and a view of its own, which can be behind. It has all the methods of a Server;
// those that write or forget do so to the one store.
//
// What a real server answers from its watch cache comes from the replica's view:
// get and list at resourceVersion "0" or "not older than", and watches. A read
// that the view cannot answer yet is waited for and then refused with 504 (RS-05),
// a watch is silent until its events come into view (WA-21). Reads of the most
// recent state, exact ones, continuations and writes go to the store and are
// current. A client that moves between doors can so travel back in time.
type Replica struct {
	*Server
	view *laggingView
}

// Replica opens another front door on the server's store. Its view is current
// until Freeze, Lag or Delay put it behind. It is configured as the server was made, as
// API servers of one cluster are: the same times, features and admission, TLS, users and
// authorizer, so that clients can move between them. Of opts those about serving count
// (WithInMemoryNetwork, WithAddress, WithFaults, the times); functions of WithAdmission come behind the
// server's. Fixtures, seeds and controllers are the first server's; fault rules, middleware
// and WithControlAPI are not taken over. It closes with the server, or by itself before that.
func (s *Server) Replica(opts ...Option) (*Replica, error) {
	o, err := s.opts.forReplica(opts)
	if err != nil {
		return nil, err
	}
	if len(o.fixtures)+len(o.crds)+len(o.schemes) > 0 {
		return nil, errors.New("fakeapi: a replica has the objects and types of its server; load them there")
	}
	if o.limits.hasStoreLimits() {
		return nil, errors.New("fakeapi: a replica has the store of its server; give WithLimits there")
	}
	if o.authOptions.isSet() {
		return nil, errors.New("fakeapi: a replica has the users of its server; give tokens, client certificates and the authorizer to that")
	}
	o.authOptions = s.opts.authOptions
	o.controllers = false // those of the server run for the store
	o.tls = o.tls || s.opts.tls
	view := newLaggingView(s.store)
	r := &Server{
		opts: o, types: s.types, sharedStore: true, store: s.store, controllers: s.controllers,
		authority: s.authority, tokens: s.tokens, authenticator: s.authenticator, adminCertificate: s.adminCertificate,
		serveDone: make(chan struct{}),
	}
	r.api = s.api.Replica(view, r.handlerSettings())
	if err := r.start(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replicas = append(s.replicas, r)
	return &Replica{Server: r, view: view}, nil
}

// Freeze keeps the view as it is now.
func (r *Replica) Freeze() { r.view.set(lagPolicy{frozen: true, at: r.view.View()}) }

// Lag keeps the view a number of changes behind the store. It reaches back as far
// as history does.
func (r *Replica) Lag(changes uint) { r.view.set(lagPolicy{changes: memstore.Revision(changes)}) }

// Delay keeps the view a time behind the store: a change comes into view when it
// is that old. It reaches back as far as history does.
func (r *Replica) Delay(d time.Duration) { r.view.set(lagPolicy{delay: max(d, 0)}) }

// CatchUp makes the view current again.
func (r *Replica) CatchUp() { r.view.set(lagPolicy{}) }

// lagPolicy is how a replica sees: at a frozen view, or behind by changes or by a
// time. The zero value sees everything.
type lagPolicy struct {
	frozen  bool
	at      memstore.View
	changes memstore.Revision
	delay   time.Duration
}

// laggingView is the horizon of a replica.
type laggingView struct {
	store *memstore.Store

	mu      sync.Mutex
	policy  lagPolicy
	changed chan struct{} // closed when sight is set anew
}

var _ watchcache.View = (*laggingView)(nil)

func newLaggingView(store *memstore.Store) *laggingView {
	return &laggingView{store: store, changed: make(chan struct{})}
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

// View implements verbs.Horizon.
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
		// History ends above what should be seen, or the store has just gone
		// back: see as far back as there is.
		s = lagPolicy{changes: v.store.Revision() - v.oldestRevision()}
	}
}

// Revision implements verbs.Horizon.
func (v *laggingView) Revision() memstore.Revision {
	s, _ := v.get()
	return v.visibleRevision(s)
}

func (v *laggingView) oldestRevision() memstore.Revision {
	exact, _ := v.store.Floors()
	return exact
}

// visibleRevision is the newest revision in sight.
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

// Until implements verbs.Horizon.
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
