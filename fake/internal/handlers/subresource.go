package handlers

import (
	"net/http"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/internal/requestinfo"
)

// subresourceMethod finds what a method does on a subresource, nil if nothing
// (SU-07).
func subresourceMethod(m string, sub *resource.Subresource, t requestinfo.RequestInfo) verb {
	name := verbOf(m)
	if sub.Name == "proxy" && (m == http.MethodHead || m == http.MethodOptions) {
		name = "get" // a proxy passes on whatever it is
	}
	switch {
	case t.IsWatchPath || !sub.HasVerb(name):
		return nil
	case isForKubelet(sub):
		return (*API).kubelet
	case sub.WritesObject():
		return oneOf(name, (*API).get, (*API).update, (*API).patch)
	}
	switch sub.Name {
	case "scale":
		return oneOf(name, (*API).getScale, (*API).updateScale, (*API).patchScale)
	case "binding":
		return (*API).bind
	case "eviction":
		return (*API).evict
	case "token":
		return (*API).issueToken
	}
	return nil
}

// verbOf is the verb of a method, as discovery spells it.
func verbOf(m string) string {
	switch m {
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

func oneOf(name string, get, update, patch verb) verb {
	switch name {
	case "get":
		return get
	case "update":
		return update
	case "patch":
		return patch
	}
	return nil
}

// with is the request with its body and its answer being of another kind than the
// object that is addressed: a Scale, an Eviction. Who owns what of it is still the
// business of the subresource.
func (q *request) with(body *resource.Resource) *request {
	other := *q
	other.res, other.form = body, q.form.ForResource(body)
	return &other
}
