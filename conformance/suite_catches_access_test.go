package conformance_test

import (
	"net/http"
	"regexp"
)

// accessFaults break rules about users and their rights.
var accessFaults = []faultyServer{
	{"authenticates an unknown token", changeRequest(func(r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer conformance-no-such-token" {
			r.Header.Set("Authorization", "Bearer unprivileged")
		}
	}), `^AU-01$`},
	{"authenticates an unknown token for discovery", changeRequest(func(r *http.Request) {
		if r.URL.Path == "/apis" {
			r.Header.Del("Authorization")
		}
	}), `^AU-01$`},
	{"answers 403 to an unknown token", changeResponse(anyRequest, func(r *http.Response) {
		if r.StatusCode == http.StatusUnauthorized {
			r.StatusCode = http.StatusForbidden
		}
	}), `^AU-01$`},
	{"authorizes every request as an administrator", authorizeAll, `^AU-(02|02/group|02/path|03|04|08|09|10)$`},
	{"authorizes every apply", authorizeAll, `^SA-30$`},
	{"authorizes every dry run", authorizeAll, `^DR-08$`},
	{"leaves the user out of denials", changeBody(anyRequest, replaceText(`User \"`, `Somebody \"`)), `^AU-(02|02/group|02/path|03|04|08|09|10)$`},
	{"does not set X-Content-Type-Options", changeResponse(anyRequest, func(r *http.Response) { r.Header.Del("X-Content-Type-Options") }), `^AU-(02|02/group|02/path|03|04|07|08|09|10)$`},
	{"answers 404 to a denied request for an absent resource", changeResponse(func(r *http.Request) bool {
		return regexp.MustCompile(`-absent/|nothing\.example\.com`).MatchString(r.URL.Path)
	}, func(r *http.Response) { r.StatusCode = http.StatusNotFound }), `^AU-03$`},
	{"denies cluster-scoped requests in a namespace", changeBody(anyRequest, replaceText("at the cluster scope", `in the namespace \"\"`)), `^AU-04$`},
	{"sets no Audit-Id", changeResponse(anyRequest, func(r *http.Response) { r.Header.Del("Audit-Id") }), `^AU-06$`},
	{"ignores the Audit-Id of the request", changeRequest(func(r *http.Request) { r.Header.Del("Audit-Id") }), `^AU-06$`},
	{"ignores Impersonate-Group without a user", changeRequest(func(r *http.Request) { r.Header.Del("Impersonate-Group") }), `^AU-07$`},
	{"ignores Impersonate-Extra without a user", changeRequest(func(r *http.Request) { r.Header.Del("Impersonate-Extra-Scope") }), `^AU-07$`},
	{"ignores Impersonate-User", changeRequest(func(r *http.Request) { r.Header.Del("Impersonate-User") }), `^AU-08$`},
	{"ignores the field selector in authorization", changeRequest(func(r *http.Request) {
		if q := r.URL.Query(); q.Has("fieldSelector") {
			q.Del("fieldSelector")
			r.URL.RawQuery = q.Encode()
		}
	}), `^AU-09$`},
	{"names the verb delete in denials of deletecollection", changeBody(anyRequest, replaceText("cannot deletecollection", "cannot delete")), `^AU-10$`},
}

// authorizeAll sends the requests without credentials as the administrator.
var authorizeAll = changeRequest(func(r *http.Request) {
	if r.Header.Get("Authorization") == "" { // the client adds its credentials later
		r.Header.Set("Authorization", "Bearer admin")
	}
})
