package conformance_test

import (
	"net/http"
	"strings"
)

// documentFaults break rules about discovery, health, metrics, errors, HTTP and WebSockets.
var documentFaults = []faultyServer{
	// Discovery.
	{"lists no versions of the core group", changeBody(hasPathSuffix("/api"), replaceText(`"versions":["v1"]`, `"versions":[]`)), `^DI-01$`},
	{"lists no group apps", changeBody(hasPathSuffix("/apis"), replaceText(`{"name":"apps"`, `{"name":"snacks"`)), `^DI-02$`},
	{"has no document of the group apps", changePath(replaceText("/apis/apps", "/apis/snacks")), `^DI-02$`},
	{"prefers a version that is not served", changeBody(hasPathSuffix("/apis"), replaceText(`"preferredVersion":{"groupVersion":"`, `"preferredVersion":{"groupVersion":"x`)), `^DI-03$`},
	{"leaves out the singular names of resources", changeBody(hasPathSuffix("/api/v1"), replaceText(`"singularName":"secret"`, `"singularName":""`)), `^DI-04$`},
	{"describes namespaces as namespaced", changeBody(hasPathSuffix("/api/v1"), replaceText(`"singularName":"namespace","namespaced":false`, `"singularName":"namespace","namespaced":true`)), `^DI-04$`},
	{"leaves out the hashes of storage versions", changeBody(hasPathSuffix("/api/v1"), replaceText(`"storageVersionHash"`, `"storedHash"`)), `^DI-04$`},
	{"answers for groups that do not exist", changePath(func(p string) string { return strings.Replace(p, "absent.conformance.example.com", "apps", 1) }), `^(DI-05|ST-17)$`},
	{"lists verbs that are not supported", changeBody(hasPathSuffix("/api/v1"), replaceText(`"kind":"Binding","verbs":["create"]`, `"kind":"Binding","verbs":["create","list"]`)), `^DI-12$`},
	{"leaves out verbs that are supported", changeBody(hasPathSuffix("/api/v1"), replaceText(`"kind":"Secret","verbs":["create","delete",`, `"kind":"Secret","verbs":["delete",`)), `^(DI-04|DI-12)$`},
	{"leaves out the verb get", changeBody(hasPathSuffix("/api/v1"), replaceText(`"deletecollection","get",`, `"deletecollection",`)), `^DI-12$`},
	{"leaves out the verb deletecollection", changeBody(hasPathSuffix("/api/v1"), replaceText(`"deletecollection",`, ``)), `^DI-12$`},
	{"leaves out the verb watch", changeBody(hasPathSuffix("/api/v1"), replaceText(`,"watch"]`, `]`)), `^DI-12$`},

	// Aggregated discovery.
	{"has no aggregated discovery", changeRequest(func(r *http.Request) {
		if isAggregated(r) {
			r.Header.Set("Accept", "application/json")
		}
	}), `^DI-(06/form|06/anywhere|07/vary|09|10)$`},
	{"has no aggregated discovery of the core group", changeRequest(func(r *http.Request) {
		if isAggregated(r) && r.URL.Path == "/api" {
			r.Header.Set("Accept", "application/json")
		}
	}), `^DI-(06/form|07/etag|10)$`},
	{"ignores If-None-Match for aggregated discovery", changeRequest(func(r *http.Request) {
		if isAggregated(r) {
			r.Header.Del("If-None-Match")
		}
	}), `^DI-07/etag$`},
	{"answers 304 to any ETag", changeResponse(func(r *http.Request) bool { return isAggregated(r) && r.Header.Get("If-None-Match") != "" }, func(r *http.Response) { r.StatusCode = 304 }), `^DI-07/etag$`},
	{"answers 304 to a list of ETags", changeRequest(func(r *http.Request) {
		if isAggregated(r) {
			r.Header.Set("If-None-Match", strings.TrimSuffix(r.Header.Get("If-None-Match"), `, "other"`))
		}
	}), `^DI-07/etag$`},
	{"answers 304 to a weak ETag", changeRequest(func(r *http.Request) {
		if isAggregated(r) {
			r.Header.Set("If-None-Match", strings.TrimPrefix(r.Header.Get("If-None-Match"), "W/"))
		}
	}), `^DI-07/etag$`},
	{"sets no Cache-Control for aggregated discovery", changeResponse(isAggregated, func(r *http.Response) { r.Header.Del("Cache-Control") }), `^DI-07/vary$`},
	{"sets no Vary for aggregated discovery", changeResponse(isAggregated, func(r *http.Response) { r.Header.Del("Vary") }), `^DI-07/vary$`},
	{"serves v2beta1 of aggregated discovery", changeRequest(func(r *http.Request) {
		r.Header.Set("Accept", strings.ReplaceAll(r.Header.Get("Accept"), "v2beta1", "v2"))
	}), `^DI-08$`},
	{"leaves out the freshness of versions", changeBody(isAggregated, replaceText(`"freshness":"Current"`, `"freshness":""`)), `^DI-09$`},
	{"leaves the versions out of aggregated discovery", changeBody(isAggregated, replaceText(`"versions"`, `"releases"`)), `^DI-(09|10)$`},
	{"leaves subresources out of aggregated discovery", changeBody(isAggregated, replaceText(`"subresource":"status"`, `"subresource":""`)), `^DI-10$`},
	{"leaves out the kinds of subresources", changeBody(isAggregated, replaceText(`"kind":"Namespace"`, `"kind":""`)), `^DI-10$`},
	{"describes all resources as namespaced", changeBody(isAggregated, replaceText(`"scope":"Cluster"`, `"scope":"Namespaced"`)), `^DI-10$`},

	// Version, health, metrics.
	{"leaves out the platform of the version", changeBody(hasPathSuffix("/version"), replaceText(`"platform"`, `"stage"`)), `^DI-13$`},
	{"returns the version in any media type", changeRequest(func(r *http.Request) {
		if r.URL.Path == "/version" {
			r.Header.Del("Accept")
		}
	}), `^DI-13$`},
	{"reports failed health checks", changeBody(isHealth, replaceText("ok", "no")), `^DI-(14|15|16/exclude|17)$`},
	{"ignores verbose of health checks", ignoreParameter("verbose"), `^DI-(15|16/exclude|16/unknown|17)$`},
	{"leaves out that the health checks passed", changeBody(isHealth, replaceText("check passed", "checked")), `^DI-(15|16/exclude|17)$`},
	{"ignores exclude of health checks", ignoreParameter("exclude"), `^DI-16/(exclude|unknown)$`},
	{"has no paths for single health checks", changePath(func(p string) string {
		if strings.HasPrefix(p, "/livez/") {
			return "/livez/conformance-none"
		}
		return p
	}), `^DI-17$`},
	{"has a path for the first health check only", changePath(func(p string) string {
		if p == "/livez/etcd" {
			return "/livez/conformance-none"
		}
		return p
	}), `^DI-17$`},
	{"has a path for any health check", changePath(replaceText("/conformance-none", "/ping")), `^DI-17$`},
	{"has no metrics", changePath(replaceText("/metrics", "/matrices")), `^DI-19$`},
	{"leaves out the label scope of metrics", changeBody(hasPathSuffix("/metrics"), replaceText(`scope="resource",`, "")), `^DI-19$`},

	// Errors.
	{"adds a field to Status objects", changeBody(isNotWatch, replaceText(`"status":"Failure"`, `"status":"Failure","extra":1`)), `^ST-01$`},
	{"sets Success in Status objects of errors", changeBody(isNotWatch, replaceText(`"status":"Failure"`, `"status":"Success"`)), `^ST-0(1|2|3)$`},
	{"uses the reason Conflict instead of AlreadyExists", changeBody(isNotWatch, replaceText(`"reason":"AlreadyExists"`, `"reason":"Conflict"`)), `^ST-(02|12)$`},
	{"uses the reason RequestEntityTooLarge instead of UnsupportedMediaType", changeBody(isNotWatch, replaceText(`"reason":"UnsupportedMediaType"`, `"reason":"RequestEntityTooLarge"`)), `^ST-03$`},
	{"names the kind instead of the resource in details", changeBody(isNotWatch, replaceText(`"kind":"secrets"`, `"kind":"Secret"`)), `^ST-12$`},
	{"leaves the causes out of Status objects", changeBody(isNotWatch, replaceText(`"causes"`, `"reasons"`)), `^ST-13$`},
	{"leaves Success out of responses to DELETE", changeBody(hasMethod(http.MethodDelete), replaceText(`"status":"Success"`, `"status":""`)), `^ST-15$`},
	{"puts one validation error in brackets", changeBody(hasMethod(http.MethodPost), replaceText(`is invalid: metadata`, `is invalid: [metadata`)), `^ST-16$`},
	{"puts several validation errors in no brackets", changeBody(hasMethod(http.MethodPost), replaceText(`is invalid: [metadata`, `is invalid: metadata`)), `^ST-16$`},

	// HTTP.
	{"allows shared caching of responses", changeResponse(anyRequest, func(r *http.Response) { r.Header.Set("Cache-Control", "public") }), `^HT-01$`},
	{"answers OPTIONS as GET", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodOptions {
			r.Method = http.MethodGet
		}
	}), `^HT-04$`},
	{"answers unknown methods as GET", changeRequest(func(r *http.Request) {
		if r.Method == "CONFORM" {
			r.Method = http.MethodGet
		}
	}), `^HT-05$`},
	{"merges double slashes of paths", changePath(func(p string) string { return strings.ReplaceAll(p, "//", "/") }), `^HT-12$`},
	{"closes the connection after errors", changeRequest(func(r *http.Request) { r.Close = strings.Contains(r.URL.Path, "conformance-absent") }), `^HT-14$`},
	{"sets a Content-Length on watches", changeResponse(isWatch, func(r *http.Response) { r.Header.Set("Content-Length", "0"); r.ContentLength = 0 }), `^HT-15$`},
	{"ignores Upgrade", changeRequest(func(r *http.Request) { r.Header.Del("Upgrade") }), `^WA-3(3|3/protobuf|3/protocol|4)$`},
	{"ignores the Origin of WebSocket requests", changeRequest(func(r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			r.Header.Set("Origin", "http://"+r.URL.Host)
		}
	}), `^WA-34$`},
	{"accepts the Origin null of WebSocket requests", changeRequest(func(r *http.Request) {
		if r.Header.Get("Origin") == "null" {
			r.Header.Set("Origin", "http://"+r.URL.Host)
		}
	}), `^WA-34$`},
	{"uses the first of several subprotocols", changeRequest(func(r *http.Request) {
		if first, _, several := strings.Cut(r.Header.Get("Sec-WebSocket-Protocol"), ","); several {
			r.Header.Set("Sec-WebSocket-Protocol", first)
		}
	}), `^WA-34$`},
	{"ignores the subprotocol", changeRequest(func(r *http.Request) { r.Header.Del("Sec-WebSocket-Protocol") }), `^WA-33/protocol$`},
	{"sends JSON over all WebSockets", changeRequest(func(r *http.Request) { r.Header.Set("Accept", "application/json") }), `^WA-33/protobuf$`},
	{"sends the length before events in binary messages", changeBody(isWatch, addLengths), `^WA-33/protobuf$`},
	{"sends binary WebSocket messages", changeRequest(func(r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			r.Header.Set("Accept", "application/vnd.kubernetes.protobuf")
		}
	}), `^WA-33$`},
	{"redirects to the path without a trailing slash", func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(r *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(r)
			if err == nil && r.URL.Path == "/apis/" {
				resp.StatusCode = http.StatusTemporaryRedirect
				resp.Header.Set("Location", "/apis")
			}
			return resp, err
		})
	}, `^HT-16$`},
}

func isAggregated(req *http.Request) bool {
	return strings.Contains(req.Header.Get("Accept"), "v=v2;as=APIGroupDiscoveryList")
}

func isHealth(req *http.Request) bool {
	return strings.HasPrefix(req.URL.Path, "/livez") || strings.HasPrefix(req.URL.Path, "/readyz") || strings.HasPrefix(req.URL.Path, "/healthz")
}

// addLengths puts the length of four bytes before each message in the binary frames of a WebSocket.
func addLengths(frames string) string {
	var out strings.Builder
	for len(frames) >= 2 && frames[0] == 0x82 {
		size, head := int(frames[1]), 2
		if size == 126 {
			size, head = int(frames[2])<<8|int(frames[3]), 4
		}
		longer := size + 4
		out.Write([]byte{0x82, 126, byte(longer >> 8), byte(longer), 0, 0, byte(size >> 8), byte(size)})
		out.WriteString(frames[head : head+size])
		frames = frames[head+size:]
	}
	out.WriteString(frames)
	return out.String()
}
