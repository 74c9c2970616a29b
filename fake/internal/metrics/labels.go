package metrics

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/internal/requestinfo"
)

// Labels are what a request is counted by.
type Labels struct {
	verb, dryRun, group, version, resource, subresource, scope, component string
}

// ResourceLabels gives the labels of a request for a resource that is served.
func ResourceLabels(r *http.Request, t requestinfo.RequestInfo) Labels {
	l := Labels{
		group: t.Group, version: t.Version, resource: t.Resource, subresource: t.Subresource,
		scope: scope(t), dryRun: dryRun(r.URL), component: "apiserver",
	}
	l.verb = verb(r, t, l.scope)
	return l
}

// PathLabels gives the labels of a request for anything else, by a path out of a list that
// does not grow.
func PathLabels(r *http.Request, path string) Labels {
	return Labels{verb: known(r.Method), subresource: path}
}

// scope tells an object from a namespace from all of them.
func scope(t requestinfo.RequestInfo) string {
	switch {
	case t.Name != "" || t.Verb == requestinfo.Create:
		return "resource"
	case t.Namespace != "":
		return "namespace"
	}
	return "cluster"
}

// verb is the method, but for what is no plain read, patch or request of an object.
func verb(r *http.Request, t requestinfo.RequestInfo, scope string) string {
	switch {
	case slices.Contains([]string{"exec", "attach", "portforward", "proxy"}, t.Subresource):
		return "CONNECT"
	case t.Verb == requestinfo.Watch:
		return "WATCH"
	case r.Method == http.MethodPatch && r.Header.Get("Content-Type") == string(types.ApplyPatchType):
		return "APPLY"
	case scope != "resource" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		return "LIST"
	}
	return known(r.Method)
}

// known keeps methods that clients make up out of the labels.
func known(method string) string {
	switch method {
	case http.MethodHead:
		return http.MethodGet
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return method
	}
	return "other"
}

// dryRun is that of the query.
func dryRun(u *url.URL) string {
	if !strings.Contains(u.RawQuery, "dryRun") {
		return ""
	}
	values := u.Query()["dryRun"]
	slices.Sort(values)
	switch values = slices.Compact(values); {
	case len(values) == 0:
		return ""
	case len(values) == 1 && values[0] == "All":
		return "All"
	}
	return "invalid"
}
