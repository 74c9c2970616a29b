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
	"example.com/fakeapi/fake/internal/ids"
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
	// sharedStore tells that types and store are another server's, as a replica's are.
	sharedStore bool
	store       *memstore.Store
	api         *handlers.API
	// controllers are those of the store, whatever the door.
	controllers *controllers.Controllers
	faults      faults.Set

	discovery *discovery.Documents
	groups    *Discovery
	// aggregatedDiscovery and cbor are the features of these names.
	aggregatedDiscovery, cbor atomic.Bool
	metrics                   *metrics.Recorder

	listener         *reopenableListener
	authority        *certs.Authority     // nil without TLS
	tokens           *authn.Tokens        // those that are known, whether or not one is asked for
	authenticator    *authn.Authenticator // in; nil without authentication
	adminCertificate *clientCertificate   // of the server's own clients; nil without client certificates
	lifecycle        lifecycle
	recorder         *timeline.Recorder
	compressor       compress.Compressor
	openAPI          openAPIState
	handler          http.Handler
	httpServer       *http.Server
	cancel           context.CancelFunc
	serveDone        chan struct{} // closed when Serve has returned
	transport        *http.Transport
	client           *http.Client
	conns            connTracker
	// controllersDone is closed when the controllers have ended; nil where none run.
	controllersDone chan struct{}

	mu       sync.Mutex
	replicas []*Server // and forks of the control API: closed with this one
}

// New makes a server and lets it serve until Close. In a test use Start.
func New(opts ...Option) (*Server, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	store := memstore.New(o.limits.storeOptions())
	s := &Server{
		opts:      o,
		types:     registry.New(o.conversionNetwork(store)),
		store:     store,
		serveDone: make(chan struct{}),
	}
	s.tokens = newTokens(o.tokens)
	s.api = handlers.New(s.store, s.types, ids.New(seed(o.seed)), s.handlerSettings())
	if err := s.api.LoadSystem(); err != nil {
		return nil, err
	}
	if err := s.initialize(); err != nil {
		return nil, err
	}
	return s, nil
}

// initialize fills the store and lets the server serve.
func (s *Server) initialize() (err error) {
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
	if err := s.setUpAuth(); err != nil {
		return fmt.Errorf("fakeapi: %w", err)
	}
	return s.start()
}

// handlerSettings are those of the options, with metrics to count in.
func (s *Server) handlerSettings() handlers.Settings {
	o := s.opts
	s.metrics = metrics.New(s.countObjects)
	return handlers.Settings{
		Metrics:                s.metrics,
		ResourceVersionTimeout: o.resourceVersionTimeout,
		BookmarkInterval:       o.bookmarkInterval,
		WatchTimeout:           o.watchTimeout,
		ContinueLifetime:       o.continueLifetime,
		Admission:              o.admission,
		Authorizer:             o.authorizer,
		Tokens:                 s.tokens,
	}
}

// start begins to serve.
func (s *Server) start() error {
	if _, err := s.faults.Add(s.opts.rules...); err != nil {
		return err
	}
	if err := s.listen(); err != nil {
		return err
	}
	s.discovery = discovery.New(s.types.Table, s.listener.Addr().String())
	s.groups = &Discovery{server: s}
	if err := s.setFeatures(); err != nil {
		return err
	}
	if s.opts.cacheInitializing > 0 {
		s.ReinitializeCache(s.opts.cacheInitializing)
	}
	config, err := s.tlsConfig()
	if err != nil {
		return errors.Join(fmt.Errorf("fakeapi: %w", err), s.listener.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.startHTTP(ctx, config)
	if s.opts.controllers {
		s.startControllers(ctx)
	}
	return nil
}

// seed widens the seed of the options, or makes one up.
func seed(value *uint64) (b [32]byte) {
	if value != nil {
		binary.LittleEndian.PutUint64(b[:], *value)
		return b
	}
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], rand.Uint64())
	}
	return b
}

func (s *Server) listen() error {
	l, err := listenOn(s.opts.inMemory, s.opts.address)
	if err != nil {
		return fmt.Errorf("fakeapi: %w", err)
	}
	s.listener = l
	return nil
}

func (s *Server) startHTTP(ctx context.Context, config *tls.Config) {
	s.transport = s.newTransport()
	s.client = s.newClient()
	s.recorder = timeline.NewRecorder(s.faults.Hits)
	s.handler = s.buildHandlerChain()
	s.httpServer = &http.Server{
		Handler:           s.withBrowserProtection(s),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 30 * time.Second,
		ConnState:         s.conns.setState,
		ErrorLog:          s.opts.connectionLogger(),
		TLSConfig:         config,
	}
	go func() {
		defer close(s.serveDone)
		s.serveListener()
	}()
}

// startControllers lets the controllers run until ctx ends.
func (s *Server) startControllers(ctx context.Context) {
	s.controllersDone = make(chan struct{})
	go func() {
		defer close(s.controllersDone)
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
	if !s.sharedStore {
		s.types.Close() // ends the calls of conversion webhooks
	}
	s.conns.closeConns() // net/http would say goodbye over TLS, and wait for those who do not read
	err := s.httpServer.Close()
	<-s.serveDone
	if s.controllersDone != nil {
		<-s.controllersDone
	}
	if openErr := s.conns.wait(s.opts.closeTimeout); openErr != nil {
		err = errors.Join(err, openErr)
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
