package conformance_test

import (
	"net/http"
	"regexp"
	"strings"
)

// selectorFaults are about selectors.
var selectorFaults = []faultyServer{
	{"watches all namespaces", changeRequest(func(r *http.Request) {
		if isWatch(r) && strings.HasSuffix(r.URL.Path, "/secrets") {
			r.URL.Path = "/api/v1/secrets"
		}
	}), `^WA-28/name/typed$`},
	{"wants the label to be there", changeSelector("labelSelector", func(s string) string {
		return regexp.MustCompile(`(\w+)(!=| notin)`).ReplaceAllString(s, "$1,$1$2")
	}), `^SE-0[12]/typed$`},
	{"reads OR for AND", changeSelector("labelSelector", func(s string) string {
		first, _, _ := strings.Cut(s, ",")
		return first
	}), `^SE-0[12]/typed$`},
	{"selects nothing with an empty selector", changeSelector("labelSelector", func(s string) string {
		if s == "" {
			return "no=thing"
		}
		return s
	}), `^SE-09/typed$`},
	{"forgives what it cannot parse", changeRequest(func(r *http.Request) {
		q := r.URL.Query()
		for _, bad := range []string{"labelSelector", "fieldSelector"} {
			if regexp.MustCompile(`[( _]|^=|-k|v{9}|k{9}|garbage|a,b$|\\b$|=.*=`).MatchString(q.Get(bad)) {
				q.Del(bad)
			}
		}
		r.URL.RawQuery = q.Encode()
	}), `^(SE-(03|04/syntax|11)/typed)$`},
	{"selects by any field", changeSelector("fieldSelector", func(s string) string { return strings.Replace(s, "spec.foo", "metadata.name", 1) }), `^SE-06$`},
	{"mixes up fields", changeSelector("fieldSelector", func(s string) string { return strings.ReplaceAll(s, "metadata.namespace", "metadata.name") }), `^SE-05/typed$`},
	{"reads no escapes", changeSelector("fieldSelector", func(s string) string { return strings.ReplaceAll(s, `\`, "") }), `^SE-13/typed$`},
	{"hides objects from GET", changeRequest(func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/a") && r.URL.Query().Has("labelSelector") {
			r.URL.Path += "b"
		}
	}), `^SE-12/typed$`},
	{"deletes by label only", changeRequest(func(r *http.Request) {
		if q := r.URL.Query(); r.Method == http.MethodDelete && q.Has("fieldSelector") {
			q.Del("fieldSelector")
			r.URL.RawQuery = q.Encode()
		}
	}), `^SE-10/deletecollection/typed$`},
}

// changeSelector changes a selector where there is one, also an empty one.
func changeSelector(parameter string, change func(string) string) fault {
	return changeRequest(func(req *http.Request) {
		if q := req.URL.Query(); q.Has(parameter) {
			q.Set(parameter, change(q.Get(parameter)))
			req.URL.RawQuery = q.Encode()
		}
	})
}
