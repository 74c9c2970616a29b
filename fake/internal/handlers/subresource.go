package handlers

import (
	"net/http"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/internal/requestinfo"
)

// subresourceHandler finds what a method does on a subresource, nil if nothing
// (SU-07).
func subresourceHandler(m string, sub *resource.Subresource, t requestinfo.RequestInfo) handlerFunc {
	name := verbForMethod(m)
	if sub.Name == "proxy" && (m == http.MethodHead || m == http.MethodOptions) {
		name = "get" // a proxy passes on whatever it is
	}
	switch {
	case t.IsWatchPath || !sub.HasVerb(name):
		return nil
	case needsKubelet(sub):
		return (*API).rejectKubeletRequest
	case sub.WritesObject():
		return handlerByVerb(name, (*API).get, (*API).update, (*API).patch)
	}
	switch sub.Name {
	case "scale":
		return handlerByVerb(name, (*API).getScale, (*API).updateScale, (*API).patchScale)
	case "binding":
		return (*API).bind
	case "eviction":
		return (*API).evict
	case "token":
		return (*API).issueToken
	}
	return nil
}

// verbForMethod is the verb of a method, as discovery spells it.
func verbForMethod(m string) string {
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

func handlerByVerb(name string, get, update, patch handlerFunc) handlerFunc {
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

// withBodyResource is the request with its body and its answer being of another kind than the
// object that is addressed: a Scale, an Eviction. Who owns what of it is still the
// business of the subresource.
func (q *request) withBodyResource(body *resource.Resource) *request {
	other := *q
	other.res, other.encoder = body, q.encoder.ForResource(body)
	return &other
}
