package conformance_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// pageLies are about lists in pages.
var pageLies = []told{
	{"gives one item too many", moved("limit", 1), `^$`},
	{"ends its pages too early", body(isList, lose(`"continue":"[^"]*",?`)), `^$`},
	{"says the resourceVersion of each page", body(isLaterPage, swap(`"metadata":{"resourceVersion":"`, `"metadata":{"resourceVersion":"1`)), `^$`},
	{"shows the present on later pages", laterPages(func(q url.Values) { q.Set("continue", retoken(q.Get("continue"), `"rv":\d+`, `"rv":-1`)) }), `^$`},
	{"keeps to the first limit", laterPages(func(q url.Values) {
		if q.Has("limit") {
			q.Set("limit", "1")
		}
	}), `^$`},
	{"has a limit of its own", asking(func(r *http.Request) {
		if q := r.URL.Query(); isList(r) && (q.Get("limit") == "" || q.Get("limit") == "0") {
			q.Set("limit", "1")
			r.URL.RawQuery = q.Encode()
		}
	}), `^$`},
	{"has no negative limits", asked("limit", "-2"), `^$`},
	{"counts nothing", body(always, lose(`"remainingItemCount":\d+,?`)), `^$`},
	{"counts what it cannot know", body(always, swap(`"metadata":{"resourceVersion"`, `"metadata":{"remainingItemCount":7,"resourceVersion"`)), `^$`},
	{"keeps selectors in its tokens", keepSelectors, `^$`},
	{"pads its tokens", body(isList, swapPattern(`"continue":"([^"]+)"`, `"continue":"$1=="`)), `^$`},
	{"takes any token", laterPages(func(q url.Values) {
		if raw := plainToken(q.Get("continue")); raw == "" || !strings.Contains(raw, `"v":"meta.k8s.io/v1"`) || strings.Contains(raw, "..") || strings.Contains(raw, `"rv":0`) {
			q.Del("continue")
		}
	}), `^$`},
	{"offers no new token", body(always, lose(`"continue":"[^"]*"`)), `^$`},
	{"starts over with the new token", laterPages(func(q url.Values) {
		if strings.Contains(plainToken(q.Get("continue")), `"rv":-1`) {
			q.Del("continue")
		}
	}), `^$`},
	{"forgets tokens after three minutes", forgetful(3 * time.Minute), `^$`},
}

// isLaterPage is true of requests that go on behind a page.
func isLaterPage(req *http.Request) bool { return req.URL.Query().Get("continue") != "" }

// laterPages changes the parameters of requests that go on behind a page.
func laterPages(change func(url.Values)) lie {
	return asking(func(req *http.Request) {
		if isLaterPage(req) {
			q := req.URL.Query()
			change(q)
			req.URL.RawQuery = q.Encode()
		}
	})
}

// swapPattern replaces what a regular expression finds.
func swapPattern(pattern, with string) func(string) string {
	found := regexp.MustCompile(pattern)
	return func(s string) string { return found.ReplaceAllString(s, with) }
}

// lose removes what a regular expression finds.
func lose(pattern string) func(string) string { return swapPattern(pattern, "") }

// keepSelectors is a server that goes on with the selectors of the last first page.
func keepSelectors(next http.RoundTripper) http.RoundTripper {
	kept := url.Values{}
	return asking(func(req *http.Request) {
		q := req.URL.Query()
		for _, parameter := range []string{"labelSelector", "fieldSelector"} {
			switch {
			case !isLaterPage(req):
				kept[parameter] = q[parameter]
			case len(kept[parameter]) > 0:
				q[parameter] = kept[parameter]
			}
		}
		req.URL.RawQuery = q.Encode()
	})(next)
}

// forgetful is a server that has forgotten its past this long after the first list.
func forgetful(after time.Duration) lie {
	var first time.Time
	return asking(func(req *http.Request) {
		switch {
		case !isList(req):
		case first.IsZero():
			first = time.Now()
		case isLaterPage(req) && time.Since(first) > after:
			q := req.URL.Query()
			q.Set("continue", retoken(q.Get("continue"), `"rv":\d+`, `"rv":1`))
			req.URL.RawQuery = q.Encode()
		}
	})
}

// plainToken is what a continue token says, or "" if it cannot be read.
func plainToken(token string) string {
	plain, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return ""
	}
	return string(plain)
}

// retoken changes what a continue token says.
func retoken(token, pattern, with string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(swapPattern(pattern, with)(plainToken(token))))
}
