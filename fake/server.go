package fakeapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"example.com/fakeapi/fake/internal/accesslog"
	"example.com/fakeapi/fake/internal/admission/policy"
	"example.com/fakeapi/fake/internal/aggregator"
	"example.com/fakeapi/fake/internal/auditlog"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/certs"
	"example.com/fakeapi/fake/internal/compress"
	"example.com/fakeapi/fake/internal/controllers"
	"example.com/fakeapi/fake/internal/crd/registry"
	"example.com/fakeapi/fake/internal/discovery"
	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/fake/internal/metrics"
	"example.com/fakeapi/fake/internal/serviceaccount"
	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/memstore"
)

// Server is a Kubernetes API server in memory. Start or New creates one. Its methods may be called
// from any goroutine.
type Server struct {
	opts  *options
	types *registry.Registry
	// sharedStore is true for a replica, whose types and store are those of another server.
	sharedStore bool
	store       *memstore.Store
	// sharers are the servers on the store, which replicas are not.
	sharers *storageSharers
	api     *handlers.API
	// controllers are shared by the server and its replicas.
	controllers *controllers.Controllers
	faults      faults.Set
	// aggregator has the aggregated APIs, also for replicas. aggregatorDone is closed when it has
	// stopped; it is nil for replicas.
	aggregator     *aggregator.Aggregator
	aggregatorDone chan struct{}

	discovery *discovery.Documents
	groups    *Discovery
	// aggregatedDiscovery and cbor are the features of these names.
	aggregatedDiscovery, cbor atomic.Bool
	metrics                   *metrics.Recorder

	listener  *reopenableListener
	authority *certs.Authority // nil without TLS
	// serviceAccountKeys sign and verify the tokens of service accounts.
	serviceAccountKeys *serviceaccount.Keys
	tokens             *authn.Tokens        // the known tokens, also without authentication
	clientCAs          *x509.CertPool       // of client certificates; nil without them
	authenticator      *authn.Authenticator // without authentication, of tokens of service accounts only
	adminCertificate   *clientCertificate   // of the server's own clients; nil without client certificates
	lifecycle          lifecycle
	control            *controlAPI    // nil without the control API
	controlServer      *controlServer // nil without WithControlAddress
	recorder           *timeline.Recorder
	accesses           *accesslog.Recorder // nil with WithoutTimeline
	audit              *auditlog.Log       // nil without WithAuditLog
	compressor         compress.Compressor
	openAPI            openAPIState
	handler            http.Handler
	httpServer         *http.Server
	cancel             context.CancelFunc
	serveDone          chan struct{} // closed when Serve has returned
	transport          *http.Transport
	client             *http.Client
	conns              connTracker
	// controllersDone is closed when the controllers have stopped. It is nil if none run.
	controllersDone chan struct{}

	mu       sync.Mutex // guards the fields below
	closed   bool       // Close has been called
	replicas []*Server  // and forks of the control API; closed with this server
}

// New starts a server that runs until Close. In a test, use Start.
func New(opts ...Option) (*Server, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	s := &Server{opts: o, serveDone: make(chan struct{})}
	generator, err := s.openStorage()
	if err != nil {
		return nil, err
	}
	types, err := o.builtinTypes()
	if err != nil {
		return nil, err
	}
	if s.types = registry.New(types, s.webhookNetwork()); o.storageOf != nil {
		s.types = o.storageOf.types.Fork(types, s.webhookNetwork())
	}
	if s.serviceAccountKeys, err = s.keysFor(o.storageOf, generator); err != nil {
		return nil, err
	}
	s.tokens = newTokens(o.tokens)
	s.api = handlers.New(s.store, s.types, generator, s.handlerSettings())
	if err := s.listen(); err != nil {
		return nil, s.abandon(err)
	}
	s.joinSharers()
	if err := errors.Join(s.setUpAuth(), s.loadStoredTypes(), s.loadSystemObjects(), s.api.LoadSystem()); err != nil {
		return nil, s.abandon(err)
	}
	if err := s.initialize(o.storageOf == nil); err != nil {
		return nil, s.abandon(err)
	}
	return s, nil
}

// abandon closes a server that did not start, and returns the error why.
func (s *Server) abandon(err error) error {
	s.sharers.remove(s)
	s.api.Close()
	if !s.sharedStore {
		s.types.Close()
	}
	if s.listener != nil {
		err = errors.Join(err, s.listener.Close())
	}
	return err
}

// initialize loads the fixtures and starts the server. isNew is false if the store had objects.
func (s *Server) initialize(isNew bool) error {
	s.types.AddSchemes(s.opts.schemes...)
	if err := s.LoadCRDs(s.opts.crds...); err != nil {
		return err
	}
	if err := s.loadFixtures(s.opts.fixtures); err != nil {
		return err
	}
	if !isNew || len(s.opts.fixtures) > 0 {
		if err := s.api.ReconcileBootstrapPolicy(isNew); err != nil {
			return err
		}
	}
	if !isNew || s.opts.runtimeConfig != nil {
		if err := s.api.RegisterAPIServices(); err != nil {
			return err
		}
	}
	s.setUpAggregator()
	s.controllers = controllers.New(s.store, s.types.Table, s.api, s.opts.namespaceDeletionDelay, s.checkTypes, s.aggregator.Unavailable)
	if err := s.setUpAuth(); err != nil {
		return err
	}
	return s.start()
}

// checkTypes returns warnings for the expressions of a policy.
func (s *Server) checkTypes(p *admissionregistrationv1.ValidatingAdmissionPolicy) []admissionregistrationv1.ExpressionWarning {
	return policy.CheckTypes(p, s.types.Table(), s.types.OpenAPI())
}

// handlerSettings returns the settings of the resource API. It also creates the metrics and the
// record of accesses.
func (s *Server) handlerSettings() handlers.Settings {
	o := s.opts
	s.metrics = metrics.New(s.countObjects)
	settings := handlers.Settings{
		Metrics:                s.metrics,
		ResourceVersionTimeout: o.resourceVersionTimeout,
		CacheInitialization:    o.cacheInitializing,
		BookmarkInterval:       o.bookmarkInterval,
		WatchTimeout:           o.watchTimeout,
		WatchPauses:            !o.inMemory, // a write to memory is cheap, and virtual time would pass
		ContinueLifetime:       o.continueLifetime,
		SystemObjects:          o.systemObjects,
		AdmissionPlugins:       o.admissionPlugins,
		Reviewers:              o.reviewers,
		WebhookNetwork:         s.webhookNetwork(),
		WebhookDelay:           o.webhookDelay,
		PolicyDelay:            o.policyDelay,
		ObserveAdmission:       s.observeAdmission,
		Authorization:          o.authorization,
		Tokens:                 s.tokens,
		AnonymousAuth:          o.anonymousAuth,
		ServiceAccountKeys:     s.serviceAccountKeys,
		ReservedPorts:          s.reservedPorts(),
		Services:               o.services,
	}
	if o.watchCacheDelay > 0 {
		settings.View = newDelayedView(s.store, o.watchCacheDelay)
	}
	if o.timeline {
		s.accesses = accesslog.New()
		settings.ObserveAuthorization, settings.ObserveGrant = s.observeAuthorization, s.observeGrant
	}
	return settings
}

// start serves the listener.
func (s *Server) start() error {
	if err := s.addRules(); err != nil {
		return fmt.Errorf("fakeapi: %w", err)
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
		return fmt.Errorf("fakeapi: %w", err)
	}
	if err := s.listenForControl(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	if !s.sharedStore {
		s.startAggregator(ctx)
	}
	s.startHTTP(ctx, config)
	s.startControl(ctx)
	if s.opts.controllers {
		s.startControllers(ctx)
	}
	return nil
}

// seed expands a seed to 32 bytes, or returns a random one.
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
	l, err := listenOn(s.opts.inMemory, s.opts.address, s.opts.listener)
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
	s.faults.OrderHits(s.recorder.NextOrder)
	s.control = s.newControlAPI()
	s.setUpAudit()
	s.handler = s.buildHandlerChain()
	s.httpServer = &http.Server{
		Handler:           s.withBrowserProtection(s),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 30 * time.Second,
		ConnState:         s.conns.setState,
		ConnContext:       withJoiningConn,
		ErrorLog:          s.opts.connectionLogger(),
		TLSConfig:         config,
	}
	go func() {
		defer close(s.serveDone)
		s.serveListener()
	}()
}

// startControllers runs the controllers until ctx ends.
func (s *Server) startControllers(ctx context.Context) {
	s.controllersDone = make(chan struct{})
	go func() {
		defer close(s.controllersDone)
		s.controllers.Run(ctx)
	}()
}

// RunControllers runs the controllers until they have no work left at the current time: dependents
// of deleted owners are collected, terminating namespaces are emptied, and pods are removed after
// their grace period. It does not wait for grace periods. The controllers run by themselves unless
// WithoutControllers is set. A failure of a controller does not stop the others and is returned as
// an error.
func (s *Server) RunControllers(ctx context.Context) error {
	if ctx == nil {
		return errors.New("fakeapi: RunControllers needs a context")
	}
	if err := s.checkOpen("run controllers"); err != nil {
		return err
	}
	s.note("RunControllers")
	if err := s.controllers.RunUntilIdle(ctx); err != nil {
		return fmt.Errorf("fakeapi: run controllers: %w", err)
	}
	return nil
}

// ServeHTTP handles one request without a network, for tests of handlers and proxies. The request
// may be a client request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Body == nil { // a server request has an empty body instead
		r = r.WithContext(r.Context())
		r.Body = http.NoBody
	}
	s.handler.ServeHTTP(w, r)
}

// Close stops the server. Watches and controllers end, connections are closed, and Close returns
// when no request is being served any more. If some are left after five seconds, the error lists
// them and the open connections. A second Close does nothing.
//
// A closed server can still be read: Get, List, Dump, Snapshot, Requests and Timeline. Methods that
// would change its objects or start another server return net.ErrClosed.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.sharers.remove(s)
	s.control.endWaits()
	s.api.Close() // ends the calls of admission webhooks
	if !s.sharedStore {
		s.types.Close() // ends the calls of conversion webhooks
		s.aggregator.Close()
	}
	s.conns.closeConns() // http.Server.Close would wait for TLS clients that do not read
	err := errors.Join(s.httpServer.Close(), s.controlServer.close(s.opts.closeTimeout))
	<-s.serveDone
	for _, done := range []chan struct{}{s.controllersDone, s.aggregatorDone} {
		if done != nil {
			<-done
		}
	}
	if openErr := s.conns.wait(s.opts.closeTimeout); openErr != nil {
		err = errors.Join(err, openErr)
	}
	if s.audit != nil {
		s.audit.Close()
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

// checkOpen returns an error if the server is closed. method says what was to be done.
func (s *Server) checkOpen(method string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("fakeapi: %s: the server is closed: %w", method, net.ErrClosed)
	}
	return nil
}

// closeWith closes other together with s, or at once if s has been closed in the meantime, which is
// an error.
func (s *Server) closeWith(other *Server) error {
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.replicas = append(s.replicas, other)
	}
	s.mu.Unlock()
	if closed {
		return errors.Join(fmt.Errorf("fakeapi: the server is closed: %w", net.ErrClosed), other.Close())
	}
	return nil
}

// forget does not close other with s any more.
func (s *Server) forget(other *Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replicas = slices.DeleteFunc(s.replicas, func(r *Server) bool { return r == other })
}

// Faults returns the fault rules of the server. Rules can be added and removed while it runs.
func (s *Server) Faults() *faults.Set { return &s.faults }

// Compact forgets what a compaction of etcd forgets: exact reads of past resourceVersions and
// continue tokens get 410 Expired from now on. The window of watches stays, as that of a watch
// cache does; see ForgetHistory.
func (s *Server) Compact() {
	s.note("Compact")
	s.store.CompactViews()
}

// ForgetHistory forgets the whole history, also for watches: a watch from a past resourceVersion
// gets the 410 ERROR event. Watches that are up to date continue.
func (s *Server) ForgetHistory() {
	s.note("ForgetHistory")
	s.store.CompactAll()
}

// ResourceVersion returns the revision of the latest change, which a list at this moment would
// have.
func (s *Server) ResourceVersion() string { return s.store.Revision().String() }
