package conformance_test

import (
	"net/http"
	"regexp"
	"strings"
)

// selectorFaults break rules about selectors.
var selectorFaults = []faultyServer{
	{"sends events of all namespaces", changeRequest(func(r *http.Request) {
		if isWatch(r) && strings.HasSuffix(r.URL.Path, "/secrets") {
			r.URL.Path = "/api/v1/secrets"
		}
	}), `^WA-28/name/typed$`},
	{"requires the label for != and notin", changeSelector("labelSelector", func(s string) string {
		return regexp.MustCompile(`(\w+)(!=| notin)`).ReplaceAllString(s, "$1,$1$2")
	}), `^SE-0[12]/typed$`},
	{"reads the first requirement of a label selector only", changeSelector("labelSelector", func(s string) string {
		first, _, _ := strings.Cut(s, ",")
		return first
	}), `^SE-0[12]/typed$`},
	{"matches nothing with an empty selector", changeSelector("labelSelector", func(s string) string {
		if s == "" {
			return "no=thing"
		}
		return s
	}), `^SE-09/typed$`},
	{"accepts malformed selectors", changeRequest(func(r *http.Request) {
		q := r.URL.Query()
		for _, bad := range []string{"labelSelector", "fieldSelector"} {
			if regexp.MustCompile(`[( _]|^=|-k|v{9}|k{9}|garbage|a,b$|\\b$|=.*=`).MatchString(q.Get(bad)) {
				q.Del(bad)
			}
		}
		r.URL.RawQuery = q.Encode()
	}), `^(SE-(03|04/syntax|11)/typed)$`},
	{"accepts unknown fields in selectors", changeSelector("fieldSelector", func(s string) string { return strings.Replace(s, "spec.foo", "metadata.name", 1) }), `^SE-06$`},
	{"matches metadata.name for metadata.namespace", changeSelector("fieldSelector", func(s string) string { return strings.ReplaceAll(s, "metadata.namespace", "metadata.name") }), `^SE-05/typed$`},
	{"ignores escapes in field selectors", changeSelector("fieldSelector", func(s string) string { return strings.ReplaceAll(s, `\`, "") }), `^SE-13/typed$`},
	{"applies label selectors to GET of an object", changeRequest(func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/a") && r.URL.Query().Has("labelSelector") {
			r.URL.Path += "b"
		}
	}), `^SE-12/typed$`},
	{"ignores the field selector of DELETE", changeRequest(func(r *http.Request) {
		if q := r.URL.Query(); r.Method == http.MethodDelete && q.Has("fieldSelector") {
			q.Del("fieldSelector")
			r.URL.RawQuery = q.Encode()
		}
	}), `^SE-10/deletecollection/typed$`},
}

// changeSelector changes a selector in requests that have one, even if it is empty.
func changeSelector(parameter string, change func(string) string) fault {
	return changeRequest(func(req *http.Request) {
		if q := req.URL.Query(); q.Has(parameter) {
			q.Set(parameter, change(q.Get(parameter)))
			req.URL.RawQuery = q.Encode()
		}
	})
}
