package verbs

import (
	"net/http"

	"example.com/fakeapi/fake/internal/represent"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/internal/route"
)

// subresourceMethod finds what a method does on a subresource, nil if nothing
// (SU-07).
func subresourceMethod(m string, sub *resource.Subresource, t route.Target) verb {
	name := map[string]string{
		http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update",
		http.MethodPatch: "patch", http.MethodDelete: "delete",
	}[m]
	if sub.Connects && (m == http.MethodHead || m == http.MethodOptions) {
		name = "get" // a connection passes on whatever it is
	}
	switch {
	case t.WatchPrefix || !sub.HasVerb(name):
		return nil
	case isForKubelet(sub):
		return (*API).kubelet
	case sub.Writes():
		return map[string]verb{"get": (*API).get, "update": (*API).update, "patch": (*API).patch}[name]
	}
	switch sub.Name {
	case "scale":
		return map[string]verb{"get": (*API).getScale, "update": (*API).updateScale, "patch": (*API).patchScale}[name]
	case "binding":
		return (*API).bind
	case "eviction":
		return (*API).evict
	case "token":
		return (*API).issueToken
	}
	return nil
}

// with is the request with its body and its answer being of another kind than the
// object that is addressed: a Scale, an Eviction. Who owns what of it is still the
// business of the subresource.
func (q *request) with(body *resource.Resource) *request {
	other := *q
	other.res, other.form = body, represent.For(body, q.out)
	return &other
}
