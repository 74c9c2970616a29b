package conformance_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// pageFaults break rules about lists in pages.
var pageFaults = []faultyServer{
	{"returns one item more than the limit", addToParameter("limit", 1), `^(CH-(01|05/count|07)/typed)$`},
	{"returns no continue token", changeBody(isList, removePattern(`"continue":"[^"]*",?`)), `^(CH-(01|02|07|08)/typed)$`},
	{"returns another resourceVersion on each page", changeBody(isLaterPage, replaceText(`"metadata":{"resourceVersion":"`, `"metadata":{"resourceVersion":"1`)), `^(CH-(03|23/metadata)/typed)$`},
	{"returns the newest state on later pages", changeLaterPages(func(q url.Values) { q.Set("continue", editToken(q.Get("continue"), `"rv":\d+`, `"rv":-1`)) }), `^CH-0[34]/typed$`},
	{"uses the limit of the first page for all pages", changeLaterPages(func(q url.Values) {
		if q.Has("limit") {
			q.Set("limit", "1")
		}
	}), `^CH-07/typed$`},
	{"limits all lists to one item", changeRequest(func(r *http.Request) {
		if q := r.URL.Query(); isList(r) && (q.Get("limit") == "" || q.Get("limit") == "0") {
			q.Set("limit", "1")
			r.URL.RawQuery = q.Encode()
		}
	}), `^CH-0[89]/typed$`},
	{"leaves out remainingItemCount", changeBody(isList, removePattern(`"remainingItemCount":\d+,?`)), `^(CH-(05/count|23/metadata)/typed)$`},
	{"returns remainingItemCount with selectors", changeBody(isList, replaceText(`"metadata":{"resourceVersion"`, `"metadata":{"remainingItemCount":7,"resourceVersion"`)), `^(CH-(05/selectors|06)/typed)$`},
	{"stores the selectors in continue tokens", storeSelectorsInTokens, `^CH-11/typed$`},
	{"pads continue tokens", changeBody(isList, replacePattern(`"continue":"([^"]+)"`, `"continue":"$1=="`)), `^CH-12/typed$`},
	{"accepts invalid continue tokens", changeLaterPages(func(q url.Values) {
		if raw := decodeToken(q.Get("continue")); raw == "" || !strings.Contains(raw, `"v":"meta.k8s.io/v1"`) || strings.Contains(raw, "..") || strings.Contains(raw, `"rv":0`) {
			q.Del("continue")
		}
	}), `^CH-1[3-6]/typed$`},
	{"returns no new token with Expired", changeBody(isLaterPage, removePattern(`"continue":"[^"]*"`)), `^(CH-(18|19)/typed)$`},
	{"lists from the start for the new token", changeLaterPages(func(q url.Values) {
		if strings.Contains(decodeToken(q.Get("continue")), `"rv":-1`) {
			q.Del("continue")
		}
	}), `^(CH-(19|20)/typed)$`},
	{"expires continue tokens after three minutes", expireTokensAfter(3 * time.Minute), `^CH-21/typed$`},
}

// isLaterPage reports whether a request continues a list.
func isLaterPage(req *http.Request) bool { return req.URL.Query().Get("continue") != "" }

// changeLaterPages changes the parameters of requests that continue a list.
func changeLaterPages(change func(url.Values)) fault {
	return changeRequest(func(req *http.Request) {
		if isLaterPage(req) {
			q := req.URL.Query()
			change(q)
			req.URL.RawQuery = q.Encode()
		}
	})
}

// removePattern removes what a regular expression matches.
func removePattern(pattern string) func(string) string { return replacePattern(pattern, "") }

// storeSelectorsInTokens continues lists with the selectors of the last first page.
func storeSelectorsInTokens(next http.RoundTripper) http.RoundTripper {
	selectors := url.Values{}
	return changeRequest(func(req *http.Request) {
		q := req.URL.Query()
		for _, parameter := range []string{"labelSelector", "fieldSelector"} {
			switch {
			case !isLaterPage(req):
				selectors[parameter] = q[parameter]
			case len(selectors[parameter]) > 0:
				q[parameter] = selectors[parameter]
			}
		}
		req.URL.RawQuery = q.Encode()
	})(next)
}

// expireTokensAfter rejects continue tokens as expired when this time has passed since the first
// list.
func expireTokensAfter(after time.Duration) fault {
	return func(next http.RoundTripper) http.RoundTripper {
		var first time.Time
		return changeRequest(func(req *http.Request) {
			switch {
			case !isList(req):
			case first.IsZero():
				first = time.Now()
			case isLaterPage(req) && time.Since(first) > after:
				q := req.URL.Query()
				q.Set("continue", editToken(q.Get("continue"), `"rv":\d+`, `"rv":1`))
				req.URL.RawQuery = q.Encode()
			}
		})(next)
	}
}

// decodeToken returns the content of a continue token, or "" if it is not base64.
func decodeToken(token string) string {
	plain, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return ""
	}
	return string(plain)
}

// editToken changes the content of a continue token.
func editToken(token, pattern, with string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(replacePattern(pattern, with)(decodeToken(token))))
}
