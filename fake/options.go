package fakeapi

import (
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
	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/fixtures"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/internal/originguard"
)

// Option changes how a server is made. The zero set of options gives one that
// behaves as a real server does by default.
type Option func(*options) error

type options struct {
	address  string
	inMemory bool
	tls      bool
	authOptions
	controlAPI             bool
	controllers            bool // WithoutControllers clears it
	timeline               bool // WithoutTimeline clears it
	seed                   *uint64
	resourceVersionTimeout time.Duration
	bookmarkInterval       time.Duration
	watchTimeout           time.Duration
	continueLifetime       time.Duration
	closeTimeout           time.Duration
	hosts                  []string
	cacheInitializing      time.Duration
	features               map[Feature]bool
	fixtures               []fixture
	crds                   []CRDSource
	schemes                []*runtime.Scheme
	rules                  []faults.Rule
	middleware             []func(http.Handler) http.Handler
	logger                 *slog.Logger // nil without WithLogger
	admission              admission.Chain
	webhookNetwork         versions.Network // where conversion webhooks are
	limits                 Limits
}

func newOptions(opts []Option) (*options, error) {
	o := &options{
		controllers:            true,
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

// forReplica are the options of another front door, which is configured like the first where
// opts do not say otherwise: API servers of one cluster are.
func (o *options) forReplica(opts []Option) (*options, error) {
	r := &options{
		address:                anyPort,
		resourceVersionTimeout: o.resourceVersionTimeout,
		bookmarkInterval:       o.bookmarkInterval,
		watchTimeout:           o.watchTimeout,
		continueLifetime:       o.continueLifetime,
		closeTimeout:           o.closeTimeout,
		features:               maps.Clone(o.features),
		admission:              slices.Clone(o.admission),
		timeline:               o.timeline,
		logger:                 o.logger,
	}
	return r.apply(opts)
}

// apply is o after opts.
func (o *options) apply(opts []Option) (*options, error) {
	for _, opt := range opts {
		if err := opt(o); err != nil {
			return nil, err
		}
	}
	return o, o.validate()
}

// WithInMemoryNetwork serves on a network in memory instead of a loopback socket: only
// Client and RESTConfig reach the server. Inside a testing/synctest bubble
// everything, the clients included, then runs on virtual time. Make the server
// inside the bubble.
func WithInMemoryNetwork() Option {
	return func(o *options) error {
		o.inMemory = true
		return nil
	}
}

// WithAddress sets the TCP address to listen on; the default is 127.0.0.1:0, a
// free port. Only loopback addresses are taken: a test server has no business
// on a network.
func WithAddress(address string) Option {
	return func(o *options) error {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return fmt.Errorf("fakeapi: address %q: %w", address, err)
		}
		if !originguard.IsLoopback(host) {
			return fmt.Errorf("fakeapi: address %q is not a loopback address", address)
		}
		o.address = address
		return nil
	}
}

// WithAllowedHosts lets requests in under other names, or addresses, than those of this machine, and
// puts them into the certificate of WithTLS: for clients in containers, say, that know it as
// host.docker.internal. Requests under a name that is not given are refused with 403, as
// a web page whose name leads to 127.0.0.1 would send them.
func WithAllowedHosts(names ...string) Option {
	return func(o *options) error {
		for _, name := range names {
			if name == "" || strings.ContainsAny(name, "/: ") && net.ParseIP(name) == nil {
				return fmt.Errorf("fakeapi: %q is no name of a host: it has no port and no scheme", name)
			}
		}
		o.hosts = append(o.hosts, names...)
		return nil
	}
}

// WithObjects loads objects before the server answers its first request; see
// Server.Load.
func WithObjects(objects ...runtime.Object) Option {
	return func(o *options) error {
		o.fixtures = append(o.fixtures, func() ([]fixtures.Item, error) { return fixtures.Items(objects), nil })
		return nil
	}
}

// WithManifests loads the manifests of a file system before the server answers
// its first request; see Server.LoadManifests.
func WithManifests(fsys fs.FS) Option {
	return func(o *options) error {
		o.fixtures = append(o.fixtures, func() ([]fixtures.Item, error) { return readManifests(fsys) })
		return nil
	}
}

// WithYAML loads the objects of YAML documents before the server answers its first request; see
// Server.LoadYAML.
func WithYAML(text string) Option {
	return func(o *options) error {
		o.fixtures = append(o.fixtures, func() ([]fixtures.Item, error) { return readYAML(text) })
		return nil
	}
}

// WithFaults arms fault rules from the start; see Server.Faults.
func WithFaults(rules ...faults.Rule) Option {
	return func(o *options) error {
		o.rules = append(o.rules, rules...)
		return nil
	}
}

// WithMiddleware puts a handler around the server's own, outside of fault rules,
// tokens and the control API: it sees each request as it came and each answer as it
// goes out. It is for tests that count, hold or answer requests in ways that fault
// rules have no words for. What it wraps a ResponseWriter with must have Unwrap, or
// else watches cannot flush. Given several times, the first is the outermost.
func WithMiddleware(wrap func(http.Handler) http.Handler) Option {
	return func(o *options) error {
		o.middleware = append(o.middleware, wrap)
		return nil
	}
}

// WithSeed makes everything that the server invents (uids, the ends of
// generated names) come out the same in every run that makes the same writes in
// the same order. Without it they are random.
func WithSeed(seed uint64) Option {
	return func(o *options) error {
		o.seed = &seed
		return nil
	}
}

// WithResourceVersionTimeout sets how long a read at a resourceVersion that the server has
// not reached yet is held before it is answered 504 with Retry-After (RS-05).
// The default is 3 seconds.
func WithResourceVersionTimeout(d time.Duration) Option {
	return durationOption("future wait", d, func(o *options) { o.resourceVersionTimeout = d })
}

// WithContinueLifetime sets how long a continue token can be used, counted from
// the first page that was served at its resourceVersion. After that it is answered
// 410 Expired with a token that goes on in the state of now (CH-18). By default it
// lives as long as history does.
func WithContinueLifetime(d time.Duration) Option {
	return durationOption("continue-token lifetime", d, func(o *options) { o.continueLifetime = d })
}

// WithBookmarkInterval sets the time between the bookmarks of a watch that asked
// for them. The default is a minute.
func WithBookmarkInterval(d time.Duration) Option {
	return durationOption("bookmark interval", d, func(o *options) { o.bookmarkInterval = d })
}

// WithWatchTimeout sets the shortest time after which the server ends a watch
// that named no timeoutSeconds; the longest is twice that (WA-17). The default
// is 30 minutes.
func WithWatchTimeout(d time.Duration) Option {
	return durationOption("watch timeout", d, func(o *options) { o.watchTimeout = d })
}

// WithoutControllers switches off what the server does in the place of a control
// plane, as on envtest: a namespace that is deleted stays Terminating with all that
// is in it, a Pod in its grace period stays until somebody ends it, dependents stay
// when their owner goes, and an owner that is deleted with the policy Foreground or
// Orphan until somebody takes the finalizer away. Server.RunControllers steps the controllers
// by hand.
func WithoutControllers() Option {
	return func(o *options) error {
		o.controllers = false
		return nil
	}
}

// WithControlAPI serves the control API under /fakeapi/v1/, for tests that are not
// written in Go; the package documentation has its paths. It asks for the same credentials as the rest,
// and serves whoever has some. It is off by default in tests
// and on in the command.
func WithControlAPI() Option {
	return func(o *options) error {
		o.controlAPI = true
		return nil
	}
}

// WithoutTimeline switches the record of requests, answers and watch frames off, which
// Server.Timeline gives. It saves its memory, which is bounded, some percent of the time
// that a small request takes, and up to a fifth of that of a long streaming list.
func WithoutTimeline() Option {
	return func(o *options) error {
		o.timeline = false
		return nil
	}
}

func durationOption(name string, d time.Duration, set func(*options)) Option {
	return func(o *options) error {
		if d <= 0 {
			return fmt.Errorf("fakeapi: %s of %v is not positive", name, d)
		}
		set(o)
		return nil
	}
}
