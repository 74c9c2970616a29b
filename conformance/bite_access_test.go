package conformance_test

import (
	"net/http"
	"regexp"
)

// accessLies are about whose a request is and what that user may do.
var accessLies = []told{
	{"knows everybody", asking(func(r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer conformance-no-such-token" {
			r.Header.Set("Authorization", "Bearer nobody")
		}
	}), `^AU-01$`},
	{"takes wrong tokens for missing rights", saying(always, func(r *http.Response) {
		if r.StatusCode == http.StatusUnauthorized {
			r.StatusCode = http.StatusForbidden
		}
	}), `^AU-01$`},
	{"lets everybody do everything", administers, `^AU-(02|02/group|02/path|03|04|08|09|10)$`},
	{"lets everybody apply", administers, `^SA-30$`},
	{"lets everybody try", administers, `^DR-08$`},
	{"does not say who", body(always, swap(`User \"`, `Somebody \"`)), `^AU-(02|02/group|02/path|03|04|08|09|10)$`},
	{"lets browsers guess", saying(always, func(r *http.Response) { r.Header.Del("X-Content-Type-Options") }), `^AU-(02|02/group|02/path|03|04|07|08|09|10)$`},
	{"tells what is not there", saying(func(r *http.Request) bool {
		return regexp.MustCompile(`-absent/|nothing\.example\.com`).MatchString(r.URL.Path)
	}, func(r *http.Response) { r.StatusCode = http.StatusNotFound }), `^AU-03$`},
	{"denies everything in a namespace", body(always, swap("at the cluster scope", `in the namespace \"\"`)), `^AU-04$`},
	{"audits nothing", saying(always, func(r *http.Response) { r.Header.Del("Audit-Id") }), `^AU-06$`},
	{"has audit ids of its own", asking(func(r *http.Request) { r.Header.Del("Audit-Id") }), `^AU-06$`},
	{"has groups without users", asking(func(r *http.Request) { r.Header.Del("Impersonate-Group") }), `^AU-07$`},
	{"has extras without users", asking(func(r *http.Request) { r.Header.Del("Impersonate-Extra-Scope") }), `^AU-07$`},
	{"does not impersonate", asking(func(r *http.Request) { r.Header.Del("Impersonate-User") }), `^AU-08$`},
	{"lists and watches all or nothing", asking(func(r *http.Request) {
		if q := r.URL.Query(); q.Has("fieldSelector") {
			q.Del("fieldSelector")
			r.URL.RawQuery = q.Encode()
		}
	}), `^AU-09$`},
	{"deletes collections one by one", body(always, swap("cannot deletecollection", "cannot delete")), `^AU-10$`},
}

// administers takes everybody for the administrator.
var administers = asking(func(r *http.Request) {
	if r.Header.Get("Authorization") == "" { // that of the client comes behind
		r.Header.Set("Authorization", "Bearer admin")
	}
})
