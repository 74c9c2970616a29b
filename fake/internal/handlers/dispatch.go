package handlers

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/reviews"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/internal/requestinfo"
)

// handlerFunc handles one verb of a resource.
type handlerFunc func(*API, *request) error

// errPathNotServed is the error of a path in a group of custom resources that is not served. The
// server answers it as a router does, with a plain 404 (PV-16).
var errPathNotServed = errors.New("path not served")

// errNameRequired is the error of a PUT or a PATCH of a collection of custom resources (PV-13).
var errNameRequired = apierrors.NewBadRequest("name must be provided")

// errNamespaceRequired is the error of a path of an object in the namespace "".
var errNamespaceRequired = apierrors.NewBadRequest("Namespace parameter required.")

// dispatch finds the handler of a request, negotiates the form of the response and calls the
// handler.
func (a *API) dispatch(w http.ResponseWriter, r *http.Request, info requestinfo.RequestInfo) error {
	if err := status.CheckContext(r.Context()); err != nil {
		return err
	}
	res := a.types.Table().LookupServed(info.Group, info.Version, info.Resource)
	handle, err := a.findHandler(r.Method, res, info)
	if err != nil {
		if res != nil && res.Custom != nil && !errors.Is(err, errPathNotServed) {
			new(warnings).add(w.Header(), res.Deprecation) // the handler of custom resources warns first
		}
		return err
	}
	sub := res.Subresource(info.Subresource)
	if sub != nil && sub.IsConnect {
		return a.rejectConnection(&request{w: w, r: r, info: info, res: res, sub: sub})
	}
	q := &request{w: w, r: r, info: info, res: res, parent: res, sub: sub, types: a.types, clock: &a.clock, buffers: &a.buffers}
	q.warnings.add(w.Header(), res.Deprecation) // WN-05
	a.recordDeprecation(q)
	// The patch type and the name are checked before the form of the response.
	if info.Verb == requestinfo.Patch {
		if err := q.checkPatchType(); err != nil {
			return err
		}
		if info.IsCollection() {
			return errNameRequired
		}
	}
	q.output, err = negotiate.ResponseOutput(r, endpoint(res, sub, info.Verb == requestinfo.List || info.Verb == requestinfo.Watch))
	if err != nil {
		return err
	}
	q.encoder = a.newEncoder(q, res)
	return handle(a, q)
}

// findHandler returns the handler of a method on a path, or the error of a path or a method that is
// not served.
func (a *API) findHandler(method string, res *resource.Resource, info requestinfo.RequestInfo) (handlerFunc, error) {
	switch {
	case a.isCustom(res, info):
		return customHandler(method, res, info)
	case res == nil || !matchesScope(res, info):
		return nil, status.PathNotFound()
	}
	switch handle := handlerFor(method, res, info); {
	case handle == nil:
		return nil, status.MethodNotAllowed()
	case res.Namespaced && info.Namespace == "" && !info.IsCollection() && !info.IsWatchPath:
		return nil, errNamespaceRequired
	default:
		return handle, nil
	}
}

// isCustom reports whether a path is one of custom resources, for which a real server has a handler
// of its own. That handler serves all of a group that has custom resources.
func (a *API) isCustom(res *resource.Resource, info requestinfo.RequestInfo) bool {
	if res == nil {
		return a.types.Table().IsCustomGroup(info.Group)
	}
	return res.Custom != nil
}

// matchesScope reports whether a path fits the scope of a resource and its subresources.
func matchesScope(res *resource.Resource, info requestinfo.RequestInfo) bool {
	switch {
	case info.Parts != "" && info.Subresource != "proxy":
		return false
	case info.IsWatchPath && (info.Subresource != "" || !res.HasVerb("watch")):
		return false // only what can be watched has such a path
	case info.Subresource != "" && res.Subresource(info.Subresource) == nil:
		return false
	case res.IsOnlyCreated() && (!info.IsCollection() || res.Namespaced != (info.Namespace != "")):
		return false // only a POST to the collection is possible
	case res.Namespaced:
		return info.HasNamespace || info.IsCollection()
	}
	return !info.HasNamespace
}

// handlerFor returns the handler of a method on a path, or nil (PV-06 to PV-14). Built-in resources
// do not serve HEAD and OPTIONS (GT-09, HT-04).
func handlerFor(method string, res *resource.Resource, info requestinfo.RequestInfo) handlerFunc {
	allNamespaces := res.Namespaced && info.IsCollection() && !info.HasNamespace
	if info.Subresource != "" {
		return subresourceHandler(method, res.Subresource(info.Subresource), info)
	}
	switch {
	case res.IsComputed && method == http.MethodGet && info.Verb == requestinfo.List:
		return (*API).listComponentStatuses
	case res.IsComputed && method == http.MethodGet && info.Verb == requestinfo.Get:
		return (*API).getComponentStatus
	case res.IsComputed && method == http.MethodGet && info.Verb == requestinfo.Watch:
		return (*API).watchComponentStatuses
	case method == http.MethodGet && info.Verb == requestinfo.Watch && res.HasVerb("watch"):
		return (*API).watch
	case info.IsWatchPath:
		return nil
	case method == http.MethodGet && info.Verb == requestinfo.List && res.HasVerb("list"):
		return (*API).list
	case method == http.MethodGet && info.Verb == requestinfo.Get && res.HasVerb("get"):
		return (*API).get
	case allNamespaces:
		return nil
	case method == http.MethodPost && info.IsCollection() && res.IsOnlyCreated() && reviews.IsReview(res.New()):
		return (*API).review
	case method == http.MethodPost && info.IsCollection() && res.IsOnlyCreated():
		return (*API).bind
	case method == http.MethodPost && info.IsCollection() && res.HasVerb("create"):
		return (*API).create
	case method == http.MethodDelete && info.IsCollection() && res.HasVerb("deletecollection"):
		return (*API).deleteCollection
	case info.IsCollection():
		return nil
	case method == http.MethodPost && res.Custom != nil && res.HasVerb("create"):
		return (*API).createAtName
	case method == http.MethodPut && res.HasVerb("update"):
		return (*API).update
	case method == http.MethodPatch && res.HasVerb("patch"):
		return (*API).patch
	case method == http.MethodDelete && res.HasVerb("delete"):
		return (*API).delete
	}
	return nil
}

// customHandler is findHandler for custom resources. A path without a definition is not served
// (PV-06, PV-07, PV-17, PV-26, CD-02, CD-06). The error of an unknown subresource names the object
// (PV-18), and that of an unsupported method the verb (PV-27). HEAD is served as GET (GT-09), and
// so are all methods on the paths with /watch/.
func customHandler(method string, res *resource.Resource, info requestinfo.RequestInfo) (handlerFunc, error) {
	isList := info.Verb == requestinfo.List || info.Verb == requestinfo.Watch
	switch {
	case res == nil || res.Namespaced != (info.Namespace != "") && !(res.Namespaced && isList):
		return nil, errPathNotServed
	case info.Subresource != "" && res.Subresource(info.Subresource) == nil:
		return nil, apierrors.NewNotFound(res.GroupResource(), info.Name)
	case info.IsWatchPath:
		method = http.MethodGet
	case info.Subresource == "" && info.IsCollection() && method == http.MethodPut:
		return nil, errNameRequired
	case info.Subresource == "" && info.IsCollection() && method == http.MethodPatch:
		return (*API).patch, nil // dispatch returns errNameRequired after the check of the patch type
	case method == http.MethodHead:
		method = http.MethodGet
	}
	if handle := handlerFor(method, res, info); handle != nil {
		return handle, nil
	}
	return nil, apierrors.NewMethodNotSupported(res.GroupResource(), info.Verb)
}

// subresourceHandler returns the handler of a method on a subresource, or nil (SU-07).
func subresourceHandler(method string, sub *resource.Subresource, info requestinfo.RequestInfo) handlerFunc {
	verb := verbForMethod(method)
	if sub.Name == "proxy" && (method == http.MethodHead || method == http.MethodOptions) {
		verb = "get" // a proxy forwards any method
	}
	switch {
	case info.IsWatchPath || !sub.HasVerb(verb):
		return nil
	case sub.IsConnect:
		return (*API).rejectConnection
	case sub.WritesObject():
		return handlerByVerb(verb, (*API).get, (*API).update, (*API).patch)
	}
	switch sub.Name {
	case "scale":
		return handlerByVerb(verb, (*API).getScale, (*API).updateScale, (*API).patchScale)
	case "binding":
		return (*API).bind
	case "eviction":
		return (*API).evict
	case "token":
		return (*API).createToken
	case "log":
		return (*API).getLog
	}
	return nil
}

// verbForMethod returns the verb of a method on a subresource, or "".
func verbForMethod(method string) string {
	switch method {
	case http.MethodGet:
		return "get"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	}
	return ""
}

// handlerByVerb returns the handler of a verb, or nil.
func handlerByVerb(verb string, get, update, patch handlerFunc) handlerFunc {
	switch verb {
	case "get":
		return get
	case "update":
		return update
	case "patch":
		return patch
	}
	return nil
}
