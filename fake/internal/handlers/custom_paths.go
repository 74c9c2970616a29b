package handlers

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/internal/requestinfo"
)

// errPathNotServed is a path that nobody serves, in a group of custom resources: these are behind
// the router, which has no part in the answer (PV-16).
var errPathNotServed = errors.New("no such path")

// errNameRequired refuses a change of a whole collection of custom resources (PV-13).
var errNameRequired = apierrors.NewBadRequest("name must be provided")

// findHandler finds what a request is for.
func (a *API) findHandler(m string, res *resource.Resource, t requestinfo.RequestInfo) (handlerFunc, error) {
	switch {
	case a.isCustom(res, t):
		return customHandler(m, res, t)
	case res == nil || !matchesScope(res, t):
		return nil, status.PathNotFound()
	}
	if handle := handlerFor(m, res, t); handle != nil {
		return handle, nil
	}
	return nil, status.MethodNotAllowed()
}

// isCustom reports whether the path is one of custom resources, which a real server
// serves with a handler of its own. It has the say in all of their groups.
func (a *API) isCustom(res *resource.Resource, t requestinfo.RequestInfo) bool {
	if res == nil {
		return a.types.Table().IsCustomGroup(t.Group)
	}
	return res.Custom != nil
}

// customHandler reads paths as the handler of custom resources does: what it has no
// definition for is no page (PV-06, PV-07, PV-17, PV-26, CD-02, CD-06), it names the
// object whose subresource is unknown (PV-18) and the verb that it lacks (PV-27), and
// HEAD is GET (GT-09).
func customHandler(m string, res *resource.Resource, t requestinfo.RequestInfo) (handlerFunc, error) {
	across := t.Verb == requestinfo.List || t.Verb == requestinfo.Watch
	switch {
	case res == nil || res.Namespaced != (t.Namespace != "") && !(res.Namespaced && across):
		return nil, errPathNotServed
	case t.Subresource != "" && res.Subresource(t.Subresource) == nil:
		return nil, apierrors.NewNotFound(res.GroupResource(), t.Name)
	case t.Subresource == "" && t.IsCollection() && m == http.MethodPut:
		return nil, errNameRequired
	case t.Subresource == "" && t.IsCollection() && m == http.MethodPatch:
		return func(*API, *request) error { return errNameRequired }, nil // what patch it is comes first
	case m == http.MethodHead:
		m = http.MethodGet
	}
	if handle := handlerFor(m, res, t); handle != nil {
		return handle, nil
	}
	return nil, apierrors.NewMethodNotSupported(res.GroupResource(), t.Verb)
}
