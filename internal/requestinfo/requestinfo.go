// Package route reads a request line the way a Kubernetes API server does: it
// turns a method, a path and a query into the operation that is meant. It is
// pure (no server state, no I/O), so the server and the fault rules agree about
// what "list pods" is.
//
// What it knows are the documents' paths (reference/using-api/api-concepts,
// "Resource URIs"):
//
//	/api/v1[/namespaces/NS]/RESOURCE[/NAME[/SUBRESOURCE...]]
//	/apis/GROUP/VERSION[/namespaces/NS]/RESOURCE[/NAME[/SUBRESOURCE...]]
//
// and the deprecated /watch/ prefix behind the version. Whether a resource
// exists, and whether it lives in namespaces, is not known here.
package requestinfo

import (
	"net/url"
	"strings"
)

// The verbs of the API, as authorisation and discovery spell them.
const (
	Get              = "get"
	List             = "list"
	Watch            = "watch"
	Create           = "create"
	Update           = "update"
	Patch            = "patch"
	Delete           = "delete"
	DeleteCollection = "deletecollection"
)

// RequestInfo is what a request asks for.
//
// For a resource request (Resource != "") Verb is one of the constants of this
// package, or "" where the method has no meaning on such a path; for any other
// path Verb is the method in lower case.
type RequestInfo struct {
	Verb string
	// Path is the URL path as it was sent.
	Path string
	// Prefix is "api" for the core group, "apis" for a named one, "" outside the API.
	Prefix string
	// Group is "" for the core group. Version is "" on discovery paths above a version.
	Group, Version string
	// Namespace is "" for a cluster-scoped path and for one across all namespaces.
	Namespace string
	// Resource is the plural of the path, for instance "pods".
	Resource string
	// Name is "" for a collection.
	Name string
	// Subresource is what follows the name, "" if nothing does; what is deeper
	// (as pods/NAME/proxy/x/y has) is in Rest.
	Subresource string
	Parts       string
	// IsWatchPath tells the deprecated /watch/ form.
	IsWatchPath bool
}

// IsResourceRequest reports whether the request is for objects rather than for
// discovery, health or another document.
func (info RequestInfo) IsResourceRequest() bool { return info.Resource != "" }

// IsCollection reports whether the request addresses a collection.
func (info RequestInfo) IsCollection() bool { return info.Resource != "" && info.Name == "" }

// Parse reads method, path (url.URL.EscapedPath is not needed: names hold no
// slashes) and query. It never fails: what is no API path has Resource "".
func Parse(method, path string, query url.Values) RequestInfo {
	info := RequestInfo{Path: path, Verb: strings.ToLower(method)}
	rest := strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/")
	prefix, rest := cutSegment(rest)
	switch prefix {
	case "api":
		info.Prefix = "api"
	case "apis":
		info.Prefix = "apis"
		info.Group, rest = cutSegment(rest)
	default:
		return info
	}
	info.Version, rest = cutSegment(rest)
	if below, ok := strings.CutPrefix(rest, "watch/"); ok {
		info.IsWatchPath = true
		rest = below
	}
	info.parseResource(rest)
	if info.Resource != "" {
		info.Verb = verbOf(method, info, query)
	}
	return info
}

// cutSegment cuts the first segment off a path.
func cutSegment(path string) (segment, rest string) {
	segment, rest, _ = strings.Cut(path, "/")
	return segment, rest
}

// parseResource reads what stands behind the version. Doubled slashes are not folded:
// an empty resource or name leads nowhere (HT-12).
func (info *RequestInfo) parseResource(path string) {
	resource, rest := cutSegment(path)
	if resource == "namespaces" && rest != "" {
		// namespaces/NS/status and namespaces/NS/finalize are subresources of the
		// namespace; anything else behind namespaces/NS is a resource inside it.
		namespace, inside := cutSegment(rest)
		info.Namespace = namespace
		if inside != "" && !isNamespaceSubresource(inside) {
			resource, rest = cutSegment(inside)
		}
	}
	name, rest := cutSegment(rest)
	if resource == "" || name == "" && rest != "" {
		return
	}
	info.Resource, info.Name = resource, name
	info.Subresource, info.Parts = cutSegment(rest)
}

func isNamespaceSubresource(s string) bool { return s == "status" || s == "finalize" }

func verbOf(method string, info RequestInfo, query url.Values) string {
	switch method {
	case "POST":
		return Create
	case "PUT":
		return Update
	case "PATCH":
		return Patch
	case "DELETE":
		if info.IsCollection() {
			return DeleteCollection
		}
		return Delete
	case "GET", "HEAD":
		switch {
		case info.IsWatchPath:
			return Watch
		case !info.IsCollection():
			return Get
		case isWatchQuery(query):
			return Watch
		default:
			return List
		}
	}
	return ""
}

// isWatchQuery reads the query's watch parameter: anything but a false value asks
// for a watch, also one that is no boolean (PV-09).
func isWatchQuery(query url.Values) bool {
	values, given := query["watch"]
	if !given {
		return false
	}
	return BoolParam(values)
}

// MayWatch is a cheap look that finds every watch and few other requests.
func MayWatch(method string, url *url.URL) bool {
	if method != "GET" && method != "HEAD" {
		return false
	}
	query := url.RawQuery
	return strings.Contains(query, "watch") || strings.Contains(query, "%") || strings.Contains(url.Path, "/watch/")
}

// BoolParam reads a query parameter as the API server reads its booleans: present
// and neither "false" nor "0" in any case is true; the first value counts.
func BoolParam(values []string) bool {
	if len(values) == 0 {
		return false
	}
	switch strings.ToLower(values[0]) {
	case "false", "0":
		return false
	}
	return true
}
