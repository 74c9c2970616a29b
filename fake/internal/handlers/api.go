// Package verbs is the resource API: every verb in a file of its own, from the
// request that was routed to the answer. Data flows one way:
//
//	write: decode → prepare → admit → validate → store.Update → encode → reply
//	read:  store at a revision → select → represent → reply
//	watch: cursor → select (with transitions) → represent → frames
//
// A verb returns an error instead of writing one; api.go turns it into a Status.
package handlers

import (
	"errors"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/crd/registry"
	"example.com/fakeapi/fake/internal/encode"
	"example.com/fakeapi/fake/internal/metrics"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/memstore"
)

// MaxBody is the most that is read of a request's body, in bytes (CR-09).
const MaxBody = 3 << 20

// MaxObject is the most that an object may take in the store, in bytes: etcd's
// default request limit (CR-10).
const MaxObject = 3 << 19

// Settings are what can be set of an API. All times are measured with the time
// package, so that a synctest bubble makes them virtual.
type Settings struct {
	// ResourceVersionTimeout is how long a resourceVersion that is not there yet is waited
	// for before 504 (RS-05).
	ResourceVersionTimeout time.Duration
	// BookmarkInterval is the time between bookmarks of a watch (BM-08).
	BookmarkInterval time.Duration
	// WatchTimeout is the shortest time after which a watch without
	// timeoutSeconds ends; the longest is twice that (WA-17).
	WatchTimeout time.Duration
	// Admission are those who have a say in every write that comes as a request.
	Admission admission.Chain
	// Authorizer is whom access reviews ask; nil allows everything.
	Authorizer authz.Authorizer
	// Tokens are the bearer tokens that token reviews know.
	Tokens *authn.Tokens
	// ContinueLifetime is how long a continue token can be used, counted from the
	// first page served at its revision; 0 for as long as history lasts (CH-21).
	ContinueLifetime time.Duration
	// Metrics counts the events of watches; nil counts nothing.
	Metrics *metrics.Recorder
}

// API serves the types of a store.
type API struct {
	store          *memstore.Store
	view           CacheView
	types          *registry.Registry
	ids            *IDs
	settings       Settings
	objects        objectCache
	noops          *recordCache[noopRequest]
	remaining      remainingCounts
	tokenLifetimes continueLifetimes
	watchCache     *watchCache
	clock          clock
}

// New makes an API that sees all of its store. ids makes uids and the ends of
// generated names.
func New(store *memstore.Store, types *registry.Registry, ids *IDs, settings Settings) *API {
	return &API{
		store: store, view: currentView{store}, types: types, ids: ids, settings: settings,
		objects: objectCache{newRecordCache[runtime.Object]()}, noops: newRecordCache[noopRequest](),
		tokenLifetimes: continueLifetimes{lifetime: settings.ContinueLifetime}, watchCache: newWatchCache(),
	}
}

// Replica makes an API on the same store whose cache shows what a horizon does.
func (a *API) Replica(view CacheView, settings Settings) *API {
	r := New(a.store, a.types, a.ids, settings)
	r.view = view
	return r
}

// handlerFunc is one operation on the objects of a resource.
type handlerFunc func(*API, *request) error

// Serve answers a request for resources under a served group. An error is
// answered as a Status.
func (a *API) Serve(w http.ResponseWriter, r *http.Request, t requestinfo.RequestInfo) {
	switch err := a.dispatch(w, r, t); {
	case errors.Is(err, status.RequestTimeout):
		WriteTimeout(w)
	case errors.Is(err, errPathNotServed):
		http.NotFound(w, r)
	case err != nil:
		WriteError(w, r, statusFromConversionError(err))
	}
}

// timeoutOf returns the time that a request has for waiting.
func timeoutOf(info *requestinfo.RequestInfo) time.Duration {
	if info.Timeout > 0 {
		return info.Timeout
	}
	return requestinfo.RequestTimeout
}

// WriteTimeout answers a request whose time is over (EX-08).
func WriteTimeout(w http.ResponseWriter) {
	body, err := status.RequestTimeoutBody()
	if err != nil { // it always encodes
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusGatewayTimeout)
	_, _ = w.Write(body)
}

func (a *API) dispatch(w http.ResponseWriter, r *http.Request, t requestinfo.RequestInfo) error {
	if r.Context().Err() != nil {
		return status.RequestTimeout // nothing is begun that nobody waits for
	}
	res := a.types.Table().Lookup(t.Group, t.Version, t.Resource)
	handle, err := a.findHandler(r.Method, res, t)
	if err != nil {
		return err
	}
	sub := res.Subresource(t.Subresource)
	if needsKubelet(sub) {
		return a.rejectKubeletRequest(&request{w: w, r: r, info: t, res: res, sub: sub})
	}
	q := &request{w: w, r: r, info: t, res: res, parent: res, sub: sub, types: a.types, clock: &a.clock}
	q.warnings.add(w.Header(), res.Deprecation) // WN-05
	// What patch it is comes before what the answer may be.
	if r.Method == http.MethodPatch {
		if err := q.checkPatchType(); err != nil {
			return err
		}
	}
	out, err := negotiate.ResponseOutput(r, endpoint(res, sub, t.Verb == requestinfo.List || t.Verb == requestinfo.Watch))
	if err != nil {
		return err
	}
	q.output = out
	q.encoder = a.newEncoder(q, res)
	return handle(a, q)
}

// matchesScope reports whether the path fits the resource's scope and the
// subresources it has.
func matchesScope(res *resource.Resource, t requestinfo.RequestInfo) bool {
	switch {
	case t.Parts != "" && t.Subresource != "proxy":
		return false
	case t.Subresource != "" && res.Subresource(t.Subresource) == nil:
		return false
	case !res.IsStored() && (!t.IsCollection() || res.Namespaced != (t.Namespace != "")):
		return false // there is only where to post to
	case res.Namespaced:
		// Without a namespace there is only the collection across all of them.
		return t.Namespace != "" || t.IsCollection()
	case res.Plural == "namespaces" && res.Group == "":
		// The route reads namespaces/NS as a path inside that namespace too.
		return t.Namespace == t.Name
	}
	return t.Namespace == ""
}

// handlerFor finds what a method does on a path, nil if nothing (PV-06 to PV-14).
// HEAD and OPTIONS are not served on built-in types (GT-09, HT-04).
func handlerFor(m string, res *resource.Resource, t requestinfo.RequestInfo) handlerFunc {
	across := res.Namespaced && t.IsCollection() && t.Namespace == ""
	if t.Subresource != "" {
		return subresourceHandler(m, res.Subresource(t.Subresource), t)
	}
	switch {
	case m == http.MethodGet && t.Verb == requestinfo.Watch && res.HasVerb("watch"):
		return (*API).watch
	case t.IsWatchPath:
		return nil
	case m == http.MethodGet && t.Verb == requestinfo.List && res.HasVerb("list"):
		return (*API).list
	case m == http.MethodGet && t.Verb == requestinfo.Get && res.HasVerb("get"):
		return (*API).get
	case across:
		return nil
	case m == http.MethodPost && t.IsCollection() && !res.IsStored():
		return postHandler(res)
	case m == http.MethodPost && t.IsCollection() && res.HasVerb("create"):
		return (*API).create
	case m == http.MethodDelete && t.IsCollection() && res.HasVerb("deletecollection"):
		return (*API).deleteCollection
	case t.IsCollection():
		return nil
	case m == http.MethodPost && res.Custom != nil && res.HasVerb("create"):
		return (*API).createAtName
	case m == http.MethodPut && res.HasVerb("update"):
		return (*API).update
	case m == http.MethodPatch && res.HasVerb("patch"):
		return (*API).patch
	case m == http.MethodDelete && res.HasVerb("delete"):
		return (*API).delete
	}
	return nil
}

// WriteError answers a request with the Status of an error.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	WriteStatus(w, r, status.FromError(err))
}

// WriteStatus answers a request with a Status, in the encoding that the client
// accepted or else in JSON (CN-08, PB-06).
func WriteStatus(w http.ResponseWriter, r *http.Request, s *metav1.Status) {
	writeStatus(w, negotiate.ErrorOutput(r), s)
}

func writeStatus(w http.ResponseWriter, out negotiate.Output, s *metav1.Status) {
	body, err := encode.EncodeDocument(out, s)
	if err != nil { // a Status always encodes
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if seconds := status.RetryAfter(s); seconds > 0 {
		w.Header().Set("Retry-After", itoa(int64(seconds)))
	}
	w.Header().Set("Content-Type", negotiate.ContentType(out.Media, false))
	w.Header().Set("Content-Length", itoa(int64(len(body))))
	if s.Code != 0 { // a Success carries none
		w.WriteHeader(int(s.Code))
	}
	_, _ = w.Write(body)
}
