// Package requestinfo reads a request line as a Kubernetes API server does. It turns the method,
// the path and the query of a request into the operation that the client requests. The server
// parses each request once and carries the result in the context of the request.
//
// The paths of resources are those of the Kubernetes documentation
// (reference/using-api/api-concepts, "Resource URIs"):
//
//	/api/v1[/namespaces/NS]/RESOURCE[/NAME[/SUBRESOURCE...]]
//	/apis/GROUP/VERSION[/namespaces/NS]/RESOURCE[/NAME[/SUBRESOURCE...]]
//
// The deprecated prefix /watch/ after the version is supported. The package does not know which
// resources are served, nor which of them are namespaced.
package requestinfo

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The verbs of the API, as authorization and discovery spell them.
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

// RequestTimeout is the longest time that a request may take by default, unless it is long-running.
const RequestTimeout = time.Minute

// RequestInfo is the parsed request line of a request.
type RequestInfo struct {
	// Verb is one of the constants of this package if the request is for a resource, or "" if the
	// method has no meaning on the path. For all other paths it is the method in lower case.
	Verb string
	// Path is the path of the URL.
	Path string
	// Prefix is "api" for the core group, "apis" for named groups, and "" for paths outside the
	// API.
	Prefix string
	// Group is "" for the core group. Version is "" for discovery paths of a group.
	Group, Version string
	// Namespace is "" for cluster-scoped paths and for lists across all namespaces.
	Namespace string
	// HasNamespace is true if the path has a namespace before the resource. It may be empty.
	HasNamespace bool
	// Resource is the plural name of the resource, for example "pods".
	Resource string
	// Name is "" for a collection.
	Name string
	// Subresource is the path segment after the name, and Parts is the rest of the path after it,
	// for example "x/y" of pods/NAME/proxy/x/y.
	Subresource string
	Parts       string
	// IsWatchPath is true for paths with the deprecated prefix /watch/.
	IsWatchPath bool
	// Timeout is the value of the query parameter timeout. It is 0 if the parameter is missing, empty
	// or not positive, and for long-running requests (PV-25).
	Timeout time.Duration
	// TimeoutErr is the error of a timeout parameter that is not a duration.
	TimeoutErr error
}

// IsResourceRequest reports whether the request is for objects and not for discovery, health or
// another document.
func (info *RequestInfo) IsResourceRequest() bool { return info.Resource != "" }

// QualifiedResource returns the resource as PLURAL.GROUP/SUBRESOURCE, without the parts that are
// empty.
func (info *RequestInfo) QualifiedResource() string {
	text := schema.GroupResource{Group: info.Group, Resource: info.Resource}.String()
	if info.Subresource != "" {
		text += "/" + info.Subresource
	}
	return text
}

// IsCollection reports whether the request is for a collection.
func (info *RequestInfo) IsCollection() bool { return info.Resource != "" && info.Name == "" }

// IsReadOnly reports whether the verb is get, list or watch.
func (info *RequestInfo) IsReadOnly() bool {
	return info.Verb == Get || info.Verb == List || info.Verb == Watch
}

// IsLongRunning reports whether limits of time and of requests in flight do not apply to the
// request: watches, and the streams between a client and a container.
func (info *RequestInfo) IsLongRunning() bool {
	switch info.Subresource {
	case "attach", "exec", "log", "portforward", "proxy":
		return true
	}
	return info.Verb == Watch
}

// New parses r. It never fails. A path outside the API has no Resource.
func New(r *http.Request) RequestInfo {
	var query url.Values
	if mayWatch(r.Method, r.URL) {
		query = r.URL.Query()
	}
	info := Parse(r.Method, r.URL.Path, query)
	if strings.Contains(r.URL.RawQuery, "timeout=") && !info.IsLongRunning() {
		info.Timeout, info.TimeoutErr = parseTimeout(r.URL.Query().Get("timeout"))
	}
	return info
}

// parseTimeout returns the duration of a timeout parameter, or 0 if it is empty or not positive.
func parseTimeout(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	return max(d, 0), err
}

// Parse parses a method, a path and a query. The path is unescaped, as names have no slashes. Of
// the query it reads only the parameter watch. It never fails. A path outside the API has no
// Resource.
func Parse(method, path string, query url.Values) RequestInfo {
	info := RequestInfo{Path: path, Verb: lowerMethod(method)}
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
		info.Verb = verbOf(method, &info, query)
	}
	return info
}

// lowerMethod is strings.ToLower without an allocation for the usual methods.
func lowerMethod(method string) string {
	switch method {
	case "GET":
		return "get"
	case "POST":
		return "post"
	case "PUT":
		return "put"
	case "PATCH":
		return "patch"
	case "DELETE":
		return "delete"
	}
	return strings.ToLower(method)
}

// cutSegment returns the first segment of a path and the rest.
func cutSegment(path string) (segment, rest string) {
	segment, rest, _ = strings.Cut(path, "/")
	return segment, rest
}

// parseResource parses the path after the version. Empty segments are not removed: a path with an
// empty resource or name is not a resource path (HT-12).
func (info *RequestInfo) parseResource(path string) {
	resource, rest := cutSegment(path)
	if resource == "namespaces" && rest != "" {
		// namespaces/NS/status and namespaces/NS/finalize are subresources of the namespace. Any
		// other segment is a resource in the namespace.
		namespace, inside := cutSegment(rest)
		info.Namespace = namespace
		if inside != "" && !isNamespaceSubresource(inside) {
			info.HasNamespace = true
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

// verbOf returns the verb of a request for a resource, "" if the method has no meaning there. On a
// path with the prefix /watch/ it is watch, whatever the method.
func verbOf(method string, info *RequestInfo, query url.Values) string {
	if info.IsWatchPath {
		return Watch
	}
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

// isWatchQuery reports whether the parameter watch requests a watch. Every value except false and 0
// does, also one that is not a boolean (PV-09).
func isWatchQuery(query url.Values) bool {
	values, ok := query["watch"]
	return ok && BoolParam(values)
}

// mayWatch reports whether the request may be a watch, without parsing the query.
func mayWatch(method string, u *url.URL) bool {
	if method != "GET" && method != "HEAD" {
		return false
	}
	return strings.Contains(u.RawQuery, "watch") || strings.Contains(u.RawQuery, "%") || strings.Contains(u.Path, "/watch/")
}

// BoolParam parses a query parameter as the API server parses booleans. It is true if the first
// value is neither "false", in any case, nor "0".
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
