package conformance_test

import (
	"net/http"
	"regexp"
)

// accessFaults are about whose a request is and what that user may do.
var accessFaults = []faultyServer{
	{"knows everybody", changeRequest(func(r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer conformance-no-such-token" {
			r.Header.Set("Authorization", "Bearer unprivileged")
		}
	}), `^AU-01$`},
	{"takes wrong tokens for missing rights", changeResponse(anyRequest, func(r *http.Response) {
		if r.StatusCode == http.StatusUnauthorized {
			r.StatusCode = http.StatusForbidden
		}
	}), `^AU-01$`},
	{"lets everybody do everything", authorizeAll, `^AU-(02|02/group|02/path|03|04|08|09|10)$`},
	{"lets everybody apply", authorizeAll, `^SA-30$`},
	{"lets everybody try", authorizeAll, `^DR-08$`},
	{"does not say who", changeBody(anyRequest, replaceText(`User \"`, `Somebody \"`)), `^AU-(02|02/group|02/path|03|04|08|09|10)$`},
	{"lets browsers guess", changeResponse(anyRequest, func(r *http.Response) { r.Header.Del("X-Content-Type-Options") }), `^AU-(02|02/group|02/path|03|04|07|08|09|10)$`},
	{"tells what is not there", changeResponse(func(r *http.Request) bool {
		return regexp.MustCompile(`-absent/|nothing\.example\.com`).MatchString(r.URL.Path)
	}, func(r *http.Response) { r.StatusCode = http.StatusNotFound }), `^AU-03$`},
	{"denies everything in a namespace", changeBody(anyRequest, replaceText("at the cluster scope", `in the namespace \"\"`)), `^AU-04$`},
	{"audits nothing", changeResponse(anyRequest, func(r *http.Response) { r.Header.Del("Audit-Id") }), `^AU-06$`},
	{"has audit ids of its own", changeRequest(func(r *http.Request) { r.Header.Del("Audit-Id") }), `^AU-06$`},
	{"has groups without users", changeRequest(func(r *http.Request) { r.Header.Del("Impersonate-Group") }), `^AU-07$`},
	{"has extras without users", changeRequest(func(r *http.Request) { r.Header.Del("Impersonate-Extra-Scope") }), `^AU-07$`},
	{"does not impersonate", changeRequest(func(r *http.Request) { r.Header.Del("Impersonate-User") }), `^AU-08$`},
	{"lists and watches all or nothing", changeRequest(func(r *http.Request) {
		if q := r.URL.Query(); q.Has("fieldSelector") {
			q.Del("fieldSelector")
			r.URL.RawQuery = q.Encode()
		}
	}), `^AU-09$`},
	{"deletes collections one by one", changeBody(anyRequest, replaceText("cannot deletecollection", "cannot delete")), `^AU-10$`},
}

// authorizeAll takes everybody for the administrator.
var authorizeAll = changeRequest(func(r *http.Request) {
	if r.Header.Get("Authorization") == "" { // that of the client comes behind
		r.Header.Set("Authorization", "Bearer admin")
	}
})
