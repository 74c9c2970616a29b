package conformance_test

import (
	"net/http"
	"strings"
)

// documentFaults are about discovery, health, metrics, errors, HTTP and WebSockets.
var documentFaults = []faultyServer{
	// Discovery.
	{"has no core versions", changeBody(hasPathSuffix("/api"), replaceText(`"versions":["v1"]`, `"versions":[]`)), `^DI-01$`},
	{"has no apps", changeBody(hasPathSuffix("/apis"), replaceText(`{"name":"apps"`, `{"name":"snacks"`)), `^DI-02$`},
	{"has no document of a group", changePath(replaceText("/apis/apps", "/apis/snacks")), `^DI-02$`},
	{"prefers a version that there is not", changeBody(hasPathSuffix("/apis"), replaceText(`"preferredVersion":{"groupVersion":"`, `"preferredVersion":{"groupVersion":"x`)), `^DI-03$`},
	{"gives resources no singular", changeBody(hasPathSuffix("/api/v1"), replaceText(`"singularName":"secret"`, `"singularName":""`)), `^DI-04$`},
	{"has namespaces in namespaces", changeBody(hasPathSuffix("/api/v1"), replaceText(`"singularName":"namespace","namespaced":false`, `"singularName":"namespace","namespaced":true`)), `^DI-04$`},
	{"has no hashes of stored versions", changeBody(hasPathSuffix("/api/v1"), replaceText(`"storageVersionHash"`, `"storedHash"`)), `^DI-04$`},
	{"has all groups", changePath(func(p string) string { return strings.Replace(p, "absent.conformance.example.com", "apps", 1) }), `^(DI-05|ST-17)$`},
	{"tells of verbs that there are not", changeBody(hasPathSuffix("/api/v1"), replaceText(`"kind":"Binding","verbs":["create"]`, `"kind":"Binding","verbs":["create","list"]`)), `^DI-12$`},
	{"does not tell of verbs", changeBody(hasPathSuffix("/api/v1"), replaceText(`"kind":"Secret","verbs":["create","delete",`, `"kind":"Secret","verbs":["delete",`)), `^(DI-04|DI-12)$`},

	// Its aggregated form.
	{"has no aggregated form", changeRequest(func(r *http.Request) {
		if isAggregated(r) {
			r.Header.Set("Accept", "application/json")
		}
	}), `^DI-(06/form|06/anywhere|07/vary|09|10)$`},
	{"has no aggregated form of the core group", changeRequest(func(r *http.Request) {
		if isAggregated(r) && r.URL.Path == "/api" {
			r.Header.Set("Accept", "application/json")
		}
	}), `^DI-(06/form|07/etag|10)$`},
	{"does not look at the tag", changeRequest(func(r *http.Request) {
		if isAggregated(r) {
			r.Header.Del("If-None-Match")
		}
	}), `^DI-07/etag$`},
	{"knows any tag", changeResponse(func(r *http.Request) bool { return isAggregated(r) && r.Header.Get("If-None-Match") != "" }, func(r *http.Response) { r.StatusCode = 304 }), `^DI-07/etag$`},
	{"may be mixed up", changeResponse(isAggregated, func(r *http.Response) { r.Header.Del("Vary") }), `^DI-07/vary$`},
	{"has the beta form", changeRequest(func(r *http.Request) {
		r.Header.Set("Accept", strings.ReplaceAll(r.Header.Get("Accept"), "v2beta1", "v2"))
	}), `^DI-08$`},
	{"does not say whether it is fresh", changeBody(isAggregated, replaceText(`"freshness":"Current"`, `"freshness":""`)), `^DI-09$`},
	{"has no subresources", changeBody(isAggregated, replaceText(`"subresource":"status"`, `"subresource":""`)), `^DI-10$`},
	{"has no kinds of subresources", changeBody(isAggregated, replaceText(`"kind":"Namespace"`, `"kind":""`)), `^DI-10$`},
	{"has everything in namespaces", changeBody(isAggregated, replaceText(`"scope":"Cluster"`, `"scope":"Namespaced"`)), `^DI-10$`},

	// Version, health, metrics.
	{"does not tell its platform", changeBody(hasPathSuffix("/version"), replaceText(`"platform"`, `"stage"`)), `^DI-13$`},
	{"is not well", changeBody(isHealth, replaceText("ok", "no")), `^DI-(14|15|16/exclude|17)$`},
	{"is never verbose", ignoreParameter("verbose"), `^DI-(15|16/exclude|16/unknown|17)$`},
	{"does not say that all is passed", changeBody(isHealth, replaceText("check passed", "checked")), `^DI-(15|16/exclude|17)$`},
	{"excludes nothing", ignoreParameter("exclude"), `^DI-16/(exclude|unknown)$`},
	{"has no single checks", changePath(func(p string) string {
		if strings.HasPrefix(p, "/livez/") {
			return "/livez/conformance-none"
		}
		return p
	}), `^DI-17$`},
	{"has every check", changePath(replaceText("/conformance-none", "/ping")), `^DI-17$`},
	{"has no metrics", changePath(replaceText("/metrics", "/matrices")), `^DI-19$`},
	{"counts without labels", changeBody(hasPathSuffix("/metrics"), replaceText(`scope="resource",`, "")), `^DI-19$`},

	// Errors.
	{"adds to a Status", changeBody(isNotWatch, replaceText(`"status":"Failure"`, `"status":"Failure","extra":1`)), `^ST-01$`},
	{"says that all is well in errors", changeBody(isNotWatch, replaceText(`"status":"Failure"`, `"status":"Success"`)), `^ST-0(1|2|3)$`},
	{"has nothing but conflicts", changeBody(isNotWatch, replaceText(`"reason":"AlreadyExists"`, `"reason":"Conflict"`)), `^ST-(02|12)$`},
	{"takes all for too large", changeBody(isNotWatch, replaceText(`"reason":"UnsupportedMediaType"`, `"reason":"RequestEntityTooLarge"`)), `^ST-03$`},
	{"names kinds in place of resources", changeBody(isNotWatch, replaceText(`"kind":"secrets"`, `"kind":"Secret"`)), `^ST-12$`},
	{"gives no causes", changeBody(isNotWatch, replaceText(`"causes"`, `"reasons"`)), `^ST-13$`},
	{"deletes without success", changeBody(hasMethod(http.MethodDelete), replaceText(`"status":"Success"`, `"status":""`)), `^ST-15$`},
	{"puts one error in brackets", changeBody(hasMethod(http.MethodPost), replaceText(`is invalid: metadata`, `is invalid: [metadata`)), `^ST-16$`},
	{"has no brackets", changeBody(hasMethod(http.MethodPost), replaceText(`is invalid: [metadata`, `is invalid: metadata`)), `^ST-16$`},

	// HTTP.
	{"lets answers be kept", changeResponse(anyRequest, func(r *http.Response) { r.Header.Set("Cache-Control", "public") }), `^HT-01$`},
	{"allows OPTIONS", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodOptions {
			r.Method = http.MethodGet
		}
	}), `^HT-04$`},
	{"takes any method for GET", changeRequest(func(r *http.Request) {
		if r.Method == "CONFORM" {
			r.Method = http.MethodGet
		}
	}), `^HT-05$`},
	{"folds slashes", changePath(func(p string) string { return strings.ReplaceAll(p, "//", "/") }), `^HT-12$`},
	{"hangs up after errors", changeRequest(func(r *http.Request) { r.Close = strings.Contains(r.URL.Path, "conformance-absent") }), `^HT-14$`},
	{"tells how long a watch is", changeResponse(isWatch, func(r *http.Response) { r.Header.Set("Content-Length", "0"); r.ContentLength = 0 }), `^HT-15$`},
	{"has no WebSockets", changeRequest(func(r *http.Request) { r.Header.Del("Upgrade") }), `^WA-3(3|4)$`},
	{"does not mind the Origin", changeRequest(func(r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			r.Header.Set("Origin", "http://"+r.URL.Host)
		}
	}), `^WA-34$`},
	{"sends binary messages", changeRequest(func(r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			r.Header.Set("Accept", "application/vnd.kubernetes.protobuf")
		}
	}), `^WA-33$`},
	{"redirects", func(next http.RoundTripper) http.RoundTripper {
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
