package fakeapi

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/admission/plugins"
	"example.com/fakeapi/fake/internal/auditlog"
	"example.com/fakeapi/fake/internal/fixtures"
	"example.com/fakeapi/fake/internal/serviceallocator"
	"example.com/fakeapi/fake/internal/webhookclient"
	"example.com/fakeapi/faults"
)

// Option configures a server. Without options a server behaves as a real one does by default.
type Option func(*options) error

type options struct {
	address            string
	listener           net.Listener // nil without WithListener
	inMemory           bool
	tls                bool
	servingCertificate *servingCertificate // nil without WithServingCertificate
	serviceAccountKeys *ServiceAccountKeys // nil without WithServiceAccountKeys
	runtimeConfig      map[string]string   // nil without WithRuntimeConfig
	storageOf          *Server             // nil without WithStorageOf
	authOptions
	controlAPI             bool
	controlAddress         string // "" without WithControlAddress
	controllers            bool   // false with WithoutControllers
	timeline               bool   // false with WithoutTimeline
	seed                   *uint64
	resourceVersionTimeout time.Duration
	bookmarkInterval       time.Duration
	watchTimeout           time.Duration
	requestTimeout         time.Duration // 0 without WithRequestTimeout
	goawayChance           float64
	continueLifetime       time.Duration
	closeTimeout           time.Duration
	hosts                  []string
	cacheInitializing      time.Duration
	watchCacheDelay        time.Duration
	features               map[Feature]bool
	fixtures               []fixture
	crds                   []CRDSource
	schemes                []*runtime.Scheme
	rules                  []faults.Rule
	optionalRules          []faults.Rule // of the environment
	middleware             []func(http.Handler) http.Handler
	logger                 *slog.Logger // nil without WithLogger
	reviewers              []*admission.Reviewer
	systemObjects          bool
	validation             bool
	namespaceDeletionDelay time.Duration
	enabledPlugins         []string // besides those that are enabled by default
	disabledPlugins        []string
	admissionPlugins       []string              // the result of both
	webhookNetwork         webhookclient.Network // Server.webhookNetwork completes it
	webhookDelay           time.Duration
	policyDelay            time.Duration
	limits                 Limits
	services               serviceallocator.Config
	audit                  *auditlog.Config // nil without WithAuditLog
}

func newOptions(opts []Option) (*options, error) {
	o := &options{
		controllers:            true,
		systemObjects:          true,
		validation:             true,
		namespaceDeletionDelay: 5 * time.Second,
		timeline:               true,
		address:                anyPort,
		resourceVersionTimeout: 3 * time.Second,
		bookmarkInterval:       time.Minute,
		watchTimeout:           30 * time.Minute,
		closeTimeout:           5 * time.Second,
	}
	return o.apply(opts)
}

// anyPort is a free port of the loopback interface.
const anyPort = "127.0.0.1:0"

// forReplica returns the options of a replica: those of the server where opts has no others.
func (o *options) forReplica(opts []Option) (*options, error) {
	r := &options{
		address:                anyPort,
		resourceVersionTimeout: o.resourceVersionTimeout,
		bookmarkInterval:       o.bookmarkInterval,
		watchTimeout:           o.watchTimeout,
		requestTimeout:         o.requestTimeout,
		continueLifetime:       o.continueLifetime,
		closeTimeout:           o.closeTimeout,
		servingCertificate:     o.servingCertificate,
		features:               maps.Clone(o.features),
		reviewers:              slices.Clone(o.reviewers),
		webhookNetwork:         o.webhookNetwork,
		webhookDelay:           o.webhookDelay,
		policyDelay:            o.policyDelay,
		enabledPlugins:         slices.Clone(o.enabledPlugins),
		disabledPlugins:        slices.Clone(o.disabledPlugins),
		timeline:               o.timeline,
		systemObjects:          o.systemObjects,
		logger:                 o.logger,
		audit:                  o.audit,
	}
	return r.apply(opts)
}

// apply applies opts to o and returns o.
func (o *options) apply(opts []Option) (*options, error) {
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("fakeapi: option %d of %d is nil", i+1, len(opts))
		}
		if err := opt(o); err != nil {
			return nil, err
		}
	}
	var err error
	if o.admissionPlugins, err = plugins.Enabled(o.enabledPlugins, o.disabledPlugins); err != nil {
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	if o.listener != nil && o.inMemory {
		return nil, errors.New("fakeapi: WithListener and WithInMemoryNetwork exclude each other")
	}
	o.complete()
	return o, o.validate()
}

// WithInMemoryNetwork serves on a network in memory instead of a loopback socket. Only Client and
// RESTConfig reach the server. Inside of a testing/synctest bubble the server and its clients run
// on virtual time. Create the server inside of the bubble.
func WithInMemoryNetwork() Option {
	return func(o *options) error {
		o.inMemory = true
		return nil
	}
}

// WithAddress sets the TCP address to listen on. The default is 127.0.0.1:0, a free port. Only
// loopback addresses are allowed.
func WithAddress(address string) Option {
	return func(o *options) error {
		if err := checkLoopback(address); err != nil {
			return err
		}
		o.address = address
		return nil
	}
}

// WithAllowedHosts allows requests for other host names or addresses than those of this machine,
// and adds the names to the certificate of WithTLS. It is for clients in containers, for example,
// that use host.docker.internal. Requests for other names get 403, as protection against DNS
// rebinding by web pages.
func WithAllowedHosts(names ...string) Option {
	return func(o *options) error {
		for _, name := range names {
			if name == "" || strings.ContainsAny(name, "/: ") && net.ParseIP(name) == nil {
				return fmt.Errorf("fakeapi: %q is not a host name, which has no port and no scheme", name)
			}
		}
		o.hosts = append(o.hosts, names...)
		return nil
	}
}

// WithObjects loads objects before the server serves its first request; see Server.Load.
func WithObjects(objects ...runtime.Object) Option {
	return func(o *options) error {
		o.fixtures = append(o.fixtures, func() ([]fixtures.Item, error) { return fixtures.Items(objects), nil })
		return nil
	}
}

// WithManifests loads the manifests of a file system before the server serves its first request;
// see Server.LoadManifests.
func WithManifests(fsys fs.FS) Option {
	return func(o *options) error {
		if fsys == nil {
			return errors.New("fakeapi: WithManifests needs a file system")
		}
		o.fixtures = append(o.fixtures, func() ([]fixtures.Item, error) { return readManifests(fsys) })
		return nil
	}
}

// WithYAML loads the objects of YAML documents before the server serves its first request; see
// Server.LoadYAML.
func WithYAML(text string) Option {
	return func(o *options) error {
		o.fixtures = append(o.fixtures, func() ([]fixtures.Item, error) { return readYAML(text) })
		return nil
	}
}

// WithFaults adds fault rules before the first request; see Server.Faults.
func WithFaults(rules ...faults.Rule) Option {
	return func(o *options) error {
		o.rules = append(o.rules, rules...)
		return nil
	}
}

// WithMiddleware adds a handler around the server, outside of fault rules, authentication and the
// control API. It sees each request as it arrives and each response as it is sent. It is for tests
// that count, hold or answer requests in ways that fault rules cannot. A ResponseWriter that it
// passes on must have an Unwrap method, or watches cannot flush. If the option is given several
// times, the first handler is the outermost.
func WithMiddleware(wrap func(http.Handler) http.Handler) Option {
	return func(o *options) error {
		if wrap == nil {
			return errors.New("fakeapi: WithMiddleware needs a function")
		}
		o.middleware = append(o.middleware, wrap)
		return nil
	}
}

// WithSeed makes generated uids and names the same in all runs that make the same writes in the
// same order. By default they are random.
func WithSeed(seed uint64) Option {
	return func(o *options) error {
		o.seed = &seed
		return nil
	}
}

// WithResourceVersionTimeout sets how long a read at a future resourceVersion waits before it gets
// 504 with Retry-After (RS-05). The default is 3 seconds.
func WithResourceVersionTimeout(d time.Duration) Option {
	return durationOption("WithResourceVersionTimeout", d, func(o *options) { o.resourceVersionTimeout = d })
}

// WithContinueLifetime sets how long a continue token is valid, counted from the first page at its
// resourceVersion. After that it gets 410 Expired with a token that continues at the current state
// (CH-18). By default it is valid as long as the history lasts.
func WithContinueLifetime(d time.Duration) Option {
	return durationOption("WithContinueLifetime", d, func(o *options) { o.continueLifetime = d })
}

// WithBookmarkInterval sets the time between two bookmarks of a watch that requests them. The
// default is a minute.
func WithBookmarkInterval(d time.Duration) Option {
	return durationOption("WithBookmarkInterval", d, func(o *options) { o.bookmarkInterval = d })
}

// WithWatchTimeout sets the shortest time after which the server ends a watch without
// timeoutSeconds. The longest is twice that (WA-17). The default is 30 minutes.
func WithWatchTimeout(d time.Duration) Option {
	return durationOption("WithWatchTimeout", d, func(o *options) { o.watchTimeout = d })
}

// WithoutControllers disables the controllers, as on envtest: a deleted namespace stays Terminating
// with its objects, a pod stays after its grace period, dependents stay when their owner is
// deleted, an owner that is deleted with the policy Foreground or Orphan, a claim or a volume stays
// until a client removes the finalizer, and an aggregated ClusterRole keeps its rules when those
// that it selects change. Server.RunControllers runs the controllers.
func WithoutControllers() Option {
	return func(o *options) error {
		o.controllers = false
		return nil
	}
}

// WithNamespaceDeletionDelay sets how long the controllers leave a deleted namespace as it is
// before they delete its content. The default is 5 seconds, as in a cluster: requests of that time
// find the namespace Terminating. RunControllers does not wait. In a testing/synctest bubble the
// time is virtual.
func WithNamespaceDeletionDelay(d time.Duration) Option {
	return func(o *options) error {
		if d < 0 {
			return fmt.Errorf("fakeapi: WithNamespaceDeletionDelay: %v is negative", d)
		}
		o.namespaceDeletionDelay = d
		return nil
	}
}

// WithControlAPI serves the control API under /fakeapi/v1, for tests in other languages; a GET of
// that path lists its requests. It requires authentication as all other paths do, but no
// permissions. It is disabled by default in tests and enabled in the command. WithControlAddress
// serves it on an address of its own.
func WithControlAPI() Option {
	return func(o *options) error {
		o.controlAPI = true
		return nil
	}
}

// WithoutTimeline disables the record of requests, responses and watch frames that Server.Timeline
// and Server.Requests return, and that of accesses, which Server.Access returns. It saves their
// memory, which is limited, a few percent of the time of a small request, and up to a fifth of that
// of a long streaming list.
func WithoutTimeline() Option {
	return func(o *options) error {
		o.timeline = false
		return nil
	}
}

// durationOption returns the option with this name, whose duration must be positive.
func durationOption(name string, d time.Duration, set func(*options)) Option {
	return func(o *options) error {
		if d <= 0 {
			return fmt.Errorf("fakeapi: %s: %v is not positive", name, d)
		}
		set(o)
		return nil
	}
}
