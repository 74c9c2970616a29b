package fakeapi

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/certs"
	"example.com/fakeapi/fake/internal/compress"
	"example.com/fakeapi/fake/internal/controllers"
	"example.com/fakeapi/fake/internal/crd/registry"
	"example.com/fakeapi/fake/internal/discovery"
	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/fake/internal/metrics"
	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/memstore"
)

// Server is a Kubernetes API server in memory. Make one with Start or New. Its
// methods may be called from any goroutine.
type Server struct {
	opts  *options
	types *registry.Registry
	// borrowed tells that types and store are another server's, as a replica's are.
	borrowed bool
	store    *memstore.Store
	api      *handlers.API
	// controllers are those of the store, whatever the door.
	controllers *controllers.Controllers
	faults      faults.Set

	discovery *discovery.Documents
	groups    *Discovery
	// plainDiscovery switches the aggregated documents off.
	plainDiscovery atomic.Bool
	metrics        *metrics.Recorder

	listener  *entrance
	authority *certs.Authority     // nil without TLS
	tokens    *authn.Tokens        // those that are known, whether or not one is asked for
	way       *authn.Authenticator // in; nil without authentication
	identity  *identity            // of the server's own clients; nil without client certificates
	stations  []station
	life      life
	recorder  *timeline.Recorder
	zip       compress.Compressor
	docs      documentTimes
	handler   http.Handler
	http      *http.Server
	cancel    context.CancelFunc
	served    chan struct{} // closed when Serve has returned
	transport *http.Transport
	client    *http.Client
	flight    flight
	// controlled is closed when the controllers have ended; nil where none run.
	controlled chan struct{}

	mu       sync.Mutex
	replicas []*Server // and forks of the control API: closed with this one
}

// New makes a server and lets it serve until Close. In a test use Start.
func New(opts ...Option) (*Server, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	store := memstore.New(o.limits.store())
	s := &Server{
		opts:   o,
		types:  registry.New(o.webhooks(store)),
		store:  store,
		served: make(chan struct{}),
	}
	s.tokens = newTokens(o.bearers)
	s.api = handlers.New(s.store, s.types, handlers.NewIDs(seed(o.seed)), s.settings())
	if err := s.api.LoadSystem(); err != nil {
		return nil, err
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	return s, nil
}

// begin fills the store and lets the server serve.
func (s *Server) begin() (err error) {
	defer func() {
		if err != nil {
			s.types.Close()
		}
	}()
	s.types.AddSchemes(s.opts.schemes...)
	if err := s.LoadCRDs(s.opts.crds...); err != nil {
		return err
	}
	if err := s.loadFixtures(s.opts.fixtures); err != nil {
		return err
	}
	s.controllers = controllers.New(s.store, s.types.Table, s.api)
	if err := s.certify(); err != nil {
		return fmt.Errorf("fakeapi: %w", err)
	}
	return s.open()
}

// settings are those of the options, with metrics to count in.
func (s *Server) settings() handlers.Settings {
	o := s.opts
	s.metrics = metrics.New(s.objects)
	return handlers.Settings{
		Metrics:                s.metrics,
		ResourceVersionTimeout: o.future,
		BookmarkInterval:       o.bookmarks,
		WatchTimeout:           o.watches,
		ContinueLifetime:       o.tokens,
		Admission:              o.admission,
		Authorizer:             o.authorizer,
		Tokens:                 s.tokens,
	}
}

// open begins to serve.
func (s *Server) open() error {
	if _, err := s.faults.Add(s.opts.rules...); err != nil {
		return err
	}
	if err := s.listen(); err != nil {
		return err
	}
	s.discovery = discovery.New(s.types.Table, s.listener.Addr().String())
	s.groups = &Discovery{server: s}
	if err := s.switchOff(); err != nil {
		return err
	}
	if s.opts.notReady > 0 {
		s.ReinitializeCache(s.opts.notReady)
	}
	secured, err := s.secure()
	if err != nil {
		return errors.Join(fmt.Errorf("fakeapi: %w", err), s.listener.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.serve(ctx, secured)
	if !s.opts.uncontrolled {
		s.control(ctx)
	}
	return nil
}

// seed widens the seed of the options, or makes one up.
func seed(given *uint64) (b [32]byte) {
	if given != nil {
		binary.LittleEndian.PutUint64(b[:], *given)
		return b
	}
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], rand.Uint64())
	}
	return b
}

func (s *Server) listen() error {
	l, err := listenOn(s.opts.memory, s.opts.address)
	if err != nil {
		return fmt.Errorf("fakeapi: %w", err)
	}
	s.listener = l
	return nil
}

func (s *Server) serve(ctx context.Context, secured *tls.Config) {
	s.transport = s.newTransport()
	s.client = s.newClient()
	s.stations = s.newStations()
	s.handler = s.newHandler()
	s.http = &http.Server{
		Handler:           s.guarded(s),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 30 * time.Second,
		ConnState:         s.flight.conn,
		ErrorLog:          quiet(),
		TLSConfig:         secured,
	}
	go func() {
		defer close(s.served)
		s.serveHTTP()
	}()
}

// newHandler is all that a request passes, but the guard of the listener.
func (s *Server) newHandler() http.Handler {
	h := s.receiver()
	for _, around := range []func(http.Handler) http.Handler{ // the innermost first
		func(next http.Handler) http.Handler { return faults.Handler(&s.faults, next) },
		s.limited,      // counts what a fault holds up
		s.metered,      // sees what the client gets
		s.recorded,     // and so does the timeline,
		s.zip.Handler,  // in plain bytes
		s.front,        // the control API: no fault gets in its way
		s.opts.wrapped, // the middleware of a test
		s.flight.track, // what Close waits for
	} {
		h = around(h)
	}
	return h
}

// control lets the controllers run until ctx ends.
func (s *Server) control(ctx context.Context) {
	s.controlled = make(chan struct{})
	go func() {
		defer close(s.controlled)
		s.controllers.Run(ctx)
	}()
}

// RunControllers lets the controllers do all that there is to do at this moment, and all
// that comes of it: dependents without owners are collected, terminating namespaces
// emptied, pods removed whose grace is over. It does not wait for the grace
// of others. They do so by themselves unless WithoutControllers has switched them
// off; then this is how they are stepped by hand. What a controller could not do is
// an error and does not stop the rest.
func (s *Server) RunControllers(ctx context.Context) error {
	if err := s.controllers.RunUntilIdle(ctx); err != nil {
		return fmt.Errorf("fakeapi: settle: %w", err)
	}
	return nil
}

// ServeHTTP answers one request without a network. The server does so for its
// listener; in tests of handlers, proxies and the like it saves the connection. The request may be
// one that was made for a client.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Body == nil { // no body, which a server's request says with one that is empty
		r = r.WithContext(r.Context())
		r.Body = http.NoBody
	}
	s.handler.ServeHTTP(w, r)
}

// Close ends the server: watches and controllers end, connections are closed, and the
// call returns when nothing is being served any more. An error names the requests and
// connections that are still there after five seconds. A second Close does nothing.
func (s *Server) Close() error {
	s.cancel()
	if !s.borrowed {
		s.types.Close() // ends the calls of conversion webhooks
	}
	s.flight.hangUp() // net/http would say goodbye over TLS, and wait for those who do not read
	err := s.http.Close()
	<-s.served
	if s.controlled != nil {
		<-s.controlled
	}
	if hanging := s.flight.wait(s.opts.closing); hanging != nil {
		err = errors.Join(err, hanging)
	}
	s.transport.CloseIdleConnections()
	s.mu.Lock()
	replicas := s.replicas
	s.mu.Unlock()
	for _, r := range replicas {
		err = errors.Join(err, r.Close())
	}
	return err
}

// Faults are the fault rules in force. Rules can be added and removed while the
// server runs.
func (s *Server) Faults() *faults.Set { return &s.faults }

// Compact forgets what a compaction of etcd forgets: reads at an exact past
// resourceVersion and continue tokens answer 410 Expired from now on. Watches
// keep their own window, as a real server's watch cache does; see ForgetHistory.
func (s *Server) Compact() { s.store.CompactViews() }

// ForgetHistory forgets all history, for watches too: one that starts from a past
// resourceVersion gets the 410 ERROR event. Watches that are up to date go on.
func (s *Server) ForgetHistory() { s.store.CompactAll() }

// ResourceVersion is the revision of the latest change, as a list would show it.
func (s *Server) ResourceVersion() string { return s.store.Revision().String() }
