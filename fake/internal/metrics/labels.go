package metrics

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/internal/requestinfo"
)

// Labels are the label values of a request.
type Labels struct {
	verb, dryRun, group, version, resource, subresource, scope, component string
}

// requestLabels returns the names of the labels that all metrics of requests have, and of more.
func requestLabels(more ...string) []string {
	return append([]string{"verb", "group", "version", "resource", "subresource", "scope"}, more...)
}

// values returns the values of requestLabels.
func (l Labels) values(more ...string) []string {
	return append([]string{l.verb, l.group, l.version, l.resource, l.subresource, l.scope}, more...)
}

// gvrLabels returns the names of the labels of watch events.
func gvrLabels() []string { return []string{"group", "version", "resource"} }

// ResourceLabels returns the labels of a request for a served resource.
func ResourceLabels(r *http.Request, info requestinfo.RequestInfo) Labels {
	l := Labels{
		group: info.Group, version: info.Version, resource: info.Resource, subresource: info.Subresource,
		scope: scopeOf(info), dryRun: dryRunOf(r.URL), component: "apiserver",
	}
	l.verb = verbOf(r, info, l.scope)
	return l
}

// PathLabels returns the labels of a request for anything else. The path must be one of a fixed
// list, because each adds label sets.
func PathLabels(r *http.Request, path string) Labels {
	return Labels{verb: methodLabel(r.Method), subresource: path}
}

// scopeOf returns "resource" for requests for one object, else "namespace" or "cluster".
func scopeOf(info requestinfo.RequestInfo) string {
	switch {
	case info.Name != "" || info.Verb == requestinfo.Create:
		return "resource"
	case info.Namespace != "":
		return "namespace"
	}
	return "cluster"
}

// verbOf returns CONNECT, WATCH, APPLY or LIST for the requests that a real server labels so, and
// the method for all others.
func verbOf(r *http.Request, info requestinfo.RequestInfo, scope string) string {
	switch {
	case slices.Contains([]string{"exec", "attach", "portforward", "proxy"}, info.Subresource):
		return "CONNECT"
	case info.Verb == requestinfo.Watch:
		return "WATCH"
	case r.Method == http.MethodPatch && r.Header.Get("Content-Type") == string(types.ApplyPatchType):
		return "APPLY"
	case scope != "resource" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		return "LIST"
	}
	return methodLabel(r.Method)
}

// methodLabel returns the label of a method: GET also for HEAD, "other" for unknown ones.
func methodLabel(method string) string {
	switch method {
	case http.MethodHead:
		return http.MethodGet
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return method
	}
	return "other"
}

// dryRunOf returns "All", "invalid" or, without the parameter dryRun, "".
func dryRunOf(u *url.URL) string {
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
