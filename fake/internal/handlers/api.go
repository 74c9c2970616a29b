package handlers

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/admission/plugins"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/clock"
	"example.com/fakeapi/fake/internal/crd/controller"
	"example.com/fakeapi/fake/internal/crd/registry"
	"example.com/fakeapi/fake/internal/fixtures"
	"example.com/fakeapi/fake/internal/ids"
	"example.com/fakeapi/fake/internal/metrics"
	"example.com/fakeapi/fake/internal/rbac"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/reviews"
	"example.com/fakeapi/fake/internal/serviceaccount"
	"example.com/fakeapi/fake/internal/serviceallocator"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/fake/internal/storage"
	"example.com/fakeapi/fake/internal/watchcache"
	"example.com/fakeapi/fake/internal/webhookclient"
	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/memstore"
)

// Settings are the settings of an API. All times are measured with package time, so that they are
// virtual in a synctest bubble.
type Settings struct {
	// ResourceVersionTimeout is how long a read waits for a resourceVersion that does not exist
	// yet, before it is answered with 504 (RS-05).
	ResourceVersionTimeout time.Duration
	// CacheInitialization is how long the watch cache of a custom resource initializes after its
	// definition has changed (CD-08).
	CacheInitialization time.Duration
	// View is the state that reads from the watch cache see, of an API that is no replica. It is nil
	// for all of the store.
	View watchcache.View
	// BookmarkInterval is the time between the bookmarks of a watch (BM-08).
	BookmarkInterval time.Duration
	// WatchTimeout is the minimum duration of a watch without timeoutSeconds. The maximum is twice
	// that (WA-17).
	WatchTimeout time.Duration
	// WatchPauses reports whether a watch of a collection that many clients watch sends the events of
	// many writes together, some milliseconds late.
	WatchPauses bool
	// SystemObjects reports whether the server creates the objects of a kube-apiserver, among them the
	// APIServices of the groups that it serves.
	SystemObjects bool
	// AdmissionPlugins names the plugins of kube-apiserver that are enabled, see plugins.Enabled.
	AdmissionPlugins []string
	// Reviewers are called like admission webhooks for every write of a request.
	Reviewers []*admission.Reviewer
	// WebhookNetwork is how admission webhooks are called.
	WebhookNetwork webhookclient.Network
	// WebhookDelay and PolicyDelay are the times after which changes of webhook configurations, and
	// of policies and their bindings, take effect.
	WebhookDelay, PolicyDelay time.Duration
	// ObserveAdmission is called with each decision of a webhook or a policy; see admission.Dynamic.
	ObserveAdmission func(ctx context.Context, d admission.Decision)
	// Authorization is how requests are authorized.
	Authorization authz.Config
	// ObserveAuthorization is called with the decisions about requests, including those about
	// impersonation and about creating objects by an update. It is not called for reviews. It is nil
	// without an observer.
	ObserveAuthorization authz.Observer
	// ObserveGrant is called when a request of a user creates or changes a role or a binding. The verb
	// of the attributes is escalate or bind, which is the permission that the user needs without
	// having all of rules, those that the role or the binding grants. allowed reports whether the user
	// has either. It is nil without an observer.
	ObserveGrant func(ctx context.Context, a authorizer.Attributes, rules []rbacv1.PolicyRule, allowed bool)
	// Tokens has the bearer tokens that token reviews accept.
	Tokens *authn.Tokens
	// AnonymousAuth is whether requests without credentials are those of system:anonymous.
	AnonymousAuth bool
	// ReservedPorts are those of another API on the store, nil if there is none.
	ReservedPorts *serviceallocator.ReservedPorts
	// ServiceAccountKeys sign and verify the tokens of service accounts.
	ServiceAccountKeys *serviceaccount.Keys
	// ContinueLifetime is how long a continue token is valid, from the first page that is served at
	// its revision; 0 means as long as the revision is in the history (CH-21).
	ContinueLifetime time.Duration
	// Metrics counts the events of watches, and has the deprecated types that were requested; nil does
	// not count.
	Metrics *metrics.Recorder
	// Services has the ranges of Services, see serviceallocator.New. A replica has those of its
	// original.
	Services serviceallocator.Config
}

// API serves the resources of a store. It is safe for concurrent use.
type API struct {
	store    *storage.Store
	cache    *watchcache.Cache
	types    *registry.Registry
	ids      *ids.Generator
	clock    clock.Clock
	settings Settings
	// admission has the plugins that run for requests, and controllerAdmission those that run for
	// writes of controllers, which functions do not review. newUID is ids.UID.
	admission, controllerAdmission admission.Chain
	dynamic                        admission.Dynamic
	newUID                         func() types.UID
	// close ends the calls of webhooks.
	close context.CancelFunc

	crds     *controller.Controller
	services *serviceallocator.Allocator
	loader   *fixtures.Loader
	tokens   *serviceaccount.Tokens
	reviewer *reviews.Reviewer
	// authorizer decides about reviews and expressions; it is nil if everything is allowed.
	// requestAuthorizer decides about requests, and is observed; it is nil if everything is allowed
	// and nothing observed.
	authorizer, requestAuthorizer authz.Authorizer
	rbac                          *rbac.Authorizer // nil without ModeRBAC
	// storedRoles returns the authorizer by the roles in the store. That of a replica is behind it.
	storedRoles func() *rbac.Authorizer

	// buffers are for responses with one object, which are written from them. They have at most a few
	// times storage.MaxObjectSize bytes, and garbage collections free those that are idle.
	buffers sync.Pool // *[]byte

	noops             noopCache
	remaining         remainingCounts
	watches           openWatches
	continueLifetimes continueLifetimes
	watchList         atomic.Bool // whether WatchList is enabled
	// apiServicesMu is held while the APIServices that the server manages are written.
	apiServicesMu sync.Mutex
}

// New returns an API that serves types and stores their objects in store. g generates uids and the
// suffixes of generated names.
func New(store *memstore.Store, types *registry.Registry, g *ids.Generator, settings Settings) *API {
	reserved := settings.ReservedPorts
	if reserved == nil {
		reserved = serviceallocator.NewReservedPorts()
	}
	return newAPI(store, settings.View, types, g, settings, reserved)
}

// Replica returns an API on the same store. Its watch cache shows view.
func (a *API) Replica(view watchcache.View, settings Settings) *API {
	settings.Services, settings.View = a.settings.Services, nil
	return newAPI(a.store.Store, view, a.types, a.ids, settings, a.services.Reserved)
}

func newAPI(store *memstore.Store, view watchcache.View, types *registry.Registry, g *ids.Generator, settings Settings, reserved *serviceallocator.ReservedPorts) *API {
	a := &API{
		store: storage.New(store), cache: watchcache.New(store, view, watchcache.Settings{
			MaxWait: settings.ResourceVersionTimeout, Initialization: settings.CacheInitialization,
		}),
		types: types, ids: g, settings: settings, newUID: g.UID,
		continueLifetimes: continueLifetimes{lifetime: settings.ContinueLifetime},
		buffers:           sync.Pool{New: func() any { return new([]byte) }},
	}
	a.watchList.Store(true)
	a.crds = controller.New(a.store, types, &a.clock, a.deleteKey, a.syncCustomAPIServices)
	a.services = a.newServiceAllocator(reserved)
	a.store.AfterWrite = a.afterWrite
	a.loader = &fixtures.Loader{Store: a.store, Types: types, IDs: g, Clock: &a.clock, CRDs: a.crds, Services: a.services}
	a.tokens = serviceaccount.New(g, settings.ServiceAccountKeys, a.clock.Now, a.getCore, a.changeSecret)
	a.setUpAuthorization()
	a.dynamic = a.dynamicAdmission()
	dependencies := plugins.Dependencies{
		Objects: &pluginObjects{a.store, types}, Authorizer: a.requestAuthorizer, GenerateName: g.GenerateName, Now: a.clock.Now,
		Dynamic: a.dynamic,
	}
	a.admission = plugins.New(settings.AdmissionPlugins, settings.Reviewers, dependencies)
	a.controllerAdmission = plugins.New(settings.AdmissionPlugins, nil, dependencies)
	a.reviewer = &reviews.Reviewer{
		Authorizer: a.authorizer, Tokens: settings.Tokens, ServiceAccounts: a.tokens,
		AnonymousAuth: settings.AnonymousAuth, Clock: &a.clock,
	}
	return a
}

// ownView returns the state by which the server authorizes and admits requests: on a replica that
// of the watch cache. A watch cache that is late by Settings.View is late for clients only.
func (a *API) ownView() memstore.View {
	if a.settings.View != nil {
		return a.store.View()
	}
	return a.cache.View()
}

// Close ends the calls of admission webhooks and closes their connections.
func (a *API) Close() { a.close() }

// getCore is getStored for a resource of the core group.
func (a *API) getCore(plural, namespace, name string) (runtime.Object, error) {
	return a.getStored(a.types.Table().Lookup("", "v1", plural), namespace, name)
}

// getStored returns a stored object, NotFound, or the BadRequest of a name that no object can have.
func (a *API) getStored(res *resource.Resource, namespace, name string) (runtime.Object, error) {
	if err := status.InvalidName(name); err != nil {
		return nil, err
	}
	return a.store.GetObject(res, namespace, name)
}

// Serve serves a request for a resource of a served group. Errors are answered with a Status.
func (a *API) Serve(w http.ResponseWriter, r *http.Request, info requestinfo.RequestInfo) {
	if !info.IsReadOnly() && !info.IsLongRunning() && a.callsWebhooks() {
		ctx, cancel := limitTime(r.Context(), info)
		defer cancel()
		r = r.WithContext(ctx)
	}
	switch err := a.dispatch(w, r, info); {
	case errors.Is(err, status.RequestTimeout) && apierrors.IsTimeout(context.Cause(r.Context())):
		WriteError(w, r, context.Cause(r.Context()))
	case errors.Is(err, status.RequestTimeout):
		WriteTimeout(w)
	case errors.Is(err, errPathNotServed):
		http.NotFound(w, r)
	case err != nil:
		WriteError(w, r, fromConversionError(err))
	}
}

// writeTimeout is how long a real server's handlers of writes take at most.
const writeTimeout = 34 * time.Second

// limitTime returns ctx with the time limit of a write, which only webhooks can exceed. Its cause
// is the error of the request, if it has one of its own.
func limitTime(ctx context.Context, info requestinfo.RequestInfo) (context.Context, context.CancelFunc) {
	if info.Verb == requestinfo.DeleteCollection {
		return context.WithTimeout(ctx, requestinfo.RequestTimeout)
	}
	return context.WithTimeoutCause(ctx, writeTimeout, status.HandlerTimeout())
}

// Load stores objects as they are; see fixtures.Loader.
func (a *API) Load(objects []runtime.Object) error { return a.loader.Load(fixtures.Items(objects)) }

// LoadItems is Load for objects with a source.
func (a *API) LoadItems(items []fixtures.Item) error { return a.loader.Load(items) }

// LoadMissingItems is LoadItems without the objects that exist, see fixtures.Loader.
func (a *API) LoadMissingItems(items []fixtures.Item) error { return a.loader.LoadMissing(items) }

// LoadSystem stores the namespaces that every cluster has, unless they exist.
func (a *API) LoadSystem() error { return a.loader.LoadSystemNamespaces() }

// SyncCRDs serves the types of the CustomResourceDefinitions in the store, and reconciles them and
// the APIServices that the server manages.
func (a *API) SyncCRDs() error {
	return errors.Join(a.crds.ReconcileAll(), a.RegisterAPIServices())
}

// ServiceAccountUser returns the user of a service account token for this server, and whether the
// token is valid.
func (a *API) ServiceAccountUser(ctx context.Context, token string) (user authenticationv1.UserInfo, ok bool) {
	return a.tokens.User(ctx, token)
}

// SyncTypes serves the types of the CustomResourceDefinitions in the store, which another API
// reconciles.
func (a *API) SyncTypes() error { return a.types.Sync(a.store.Store, a.store.Decode) }

// ReservedPorts returns the node ports that are reserved by requests.
func (a *API) ReservedPorts() *serviceallocator.ReservedPorts { return a.services.Reserved }

// ServiceAccountKeys returns the keys of the tokens of service accounts.
func (a *API) ServiceAccountKeys() *serviceaccount.Keys { return a.tokens.Keys() }

// SetClockOffset sets the offset of the API server's clock to package time.
func (a *API) SetClockOffset(d time.Duration) { a.clock.SetOffset(d) }

// ClockOffset returns the offset of the API server's clock.
func (a *API) ClockOffset() time.Duration { return a.clock.Offset() }

// SetWatchList enables or disables WatchList: streaming lists and sendInitialEvents (SI-12). It is
// enabled at first.
func (a *API) SetWatchList(enabled bool) { a.watchList.Store(enabled) }

// ReinitializeCache makes the watch cache unready for d: all watches end, and new watches and lists
// from the cache are answered with 429 until then (RS-31, WA-39).
func (a *API) ReinitializeCache(d time.Duration) { a.cache.Reinitialize(d) }

// EndWatches ends all watches without an error. New watches end immediately until AllowWatches is
// called.
func (a *API) EndWatches() { a.cache.EndWatches() }

// AllowWatches allows watches after EndWatches.
func (a *API) AllowWatches() { a.cache.AllowWatches() }
