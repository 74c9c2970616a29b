package conformance_test

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// watchFaults break rules about watches and consistent lists in ways that the other faulty servers
// do not.
var watchFaults = []faultyServer{
	// The events of a watch.
	{"leaves managedFields out of DELETED events", changeEvents(func(_ []string, event string) []string {
		if strings.Contains(event, `"type":"DELETED"`) {
			event = strings.Replace(event, `"managedFields":`, `"managers":`, 1)
		}
		return []string{event}
	}), `^WA-(09|10|13)/typed$`},
	{"sends full objects in MODIFIED events", changeEvents(func(_ []string, event string) []string {
		if strings.Contains(event, `"type":"MODIFIED"`) {
			event = strings.Replace(event, `"kind":"PartialObjectMetadata"`, `"kind":"Secret"`, 1)
		}
		return []string{event}
	}), `^WA-36/typed$`},
	{"changes an object at every apply", changeAtEveryApply, `^WA-15/typed$`},
	{"ignores dryRun of apply", ignoreDryRun(isApply), `^WA-15/typed$`},
	{"ignores dryRun of PUT", ignoreDryRun(hasMethod(http.MethodPut)), `^WA-15/typed$`},
	{"ignores dryRun of deletecollection", ignoreDryRun(func(r *http.Request) bool {
		return r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/secrets")
	}), `^WA-15/typed$`},
	{"forgets the events of more than a minute ago", skipOldEvents(time.Minute), `^WA-25/window$`},

	// The parameters of a watch and of other reads.
	{"reads Exact on watches as NotOlderThan", changeRequest(func(r *http.Request) {
		if isWatch(r) {
			r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "=Exact", "=NotOlderThan", 1)
		}
	}), `^(WA-23|SI-06)/typed$`},
	{"reads an unknown match of a streaming list as NotOlderThan", changeRequest(func(r *http.Request) {
		r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "=Nonsense", "=NotOlderThan", 1)
	}), `^SI-06/typed$`},
	{"ignores an unknown match with sendInitialEvents=false", changeRequest(func(r *http.Request) {
		if r.URL.Query().Get("sendInitialEvents") == "false" {
			r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "=Exact", "=NotOlderThan", 1)
		}
	}), `^SI-06/typed$`},
	{"ignores the sign of a resourceVersion", changeRequest(func(r *http.Request) {
		r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "resourceVersion=%2B", "resourceVersion=", 1)
	}), `^(GT-06|RS-01/list|WA-22)/typed$`},
	{"rejects leading zeros of the resourceVersion of a watch", changeRequest(func(r *http.Request) {
		if isWatch(r) {
			r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "resourceVersion=00", "resourceVersion=0x", 1)
		}
	}), `^RS-01/zeros/typed$`},
	{"rejects leading zeros of the resourceVersion of an object", changeRequest(func(r *http.Request) {
		if !isWatch(r) && !isList(r) {
			r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "resourceVersion=00", "resourceVersion=0x", 1)
		}
	}), `^RS-01/zeros/typed$`},

	// Bookmarks and streaming lists.
	{"sends bookmarks with allowWatchBookmarks=false", setParameter("allowWatchBookmarks", "true"), `^BM-01/typed$`},
	{"sends no events after the initial ones", changeEvents(func(before []string, event string) []string {
		if len(before) > 0 && isBookmark(before[len(before)-1]) {
			return []string{strings.Replace(event, `"type":"MODIFIED"`, `"type":"BOOKMARK"`, 1)}
		}
		return []string{event}
	}), `^SI-(01|10)/typed$`},

	// Lists.
	{"lists an older state after a PATCH", repeatListAfter(http.MethodPatch), `^RS-29/typed$`},
	{"lists an older state after a DELETE", repeatListAfter(http.MethodDelete), `^RS-29/typed$`},
	{"begins the message of an expired token in another way", changeBody(isLaterPage, replaceText(`"The provided continue`, `"Sorry. The provided continue`)), `^CH-18/typed$`},
	{"returns a token of the state after the last patch with Expired", fixNewTokens, `^CH-19/typed$`},
}

// changeAtEveryApply adds a label to applied objects that is different each time.
func changeAtEveryApply(next http.RoundTripper) http.RoundTripper {
	applied := 0
	return changeRequestBody(isApply, func(s string) string {
		applied++
		return strings.Replace(s, `"labels":{`, `"labels":{"applied":"`+strconv.Itoa(applied)+`",`, 1)
	})(next)
}

// ignoreDryRun ignores dryRun in requests that meet a condition.
func ignoreDryRun(when func(*http.Request) bool) fault {
	return changeRequest(func(req *http.Request) {
		if when(req) {
			q := req.URL.Query()
			q.Del("dryRun")
			req.URL.RawQuery = q.Encode()
		}
	})
}

// skipOldEvents starts watches at the current state that begin this time after the first watch.
func skipOldEvents(after time.Duration) fault {
	return func(next http.RoundTripper) http.RoundTripper {
		var first time.Time
		return changeRequest(func(req *http.Request) {
			switch {
			case !isWatch(req):
			case first.IsZero():
				first = time.Now()
			case time.Since(first) > after:
				req.URL.RawQuery = "watch=true&timeoutSeconds=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan"
			}
		})(next)
	}
}

// repeatListAfter answers the first list after a request with this method like the list before.
func repeatListAfter(method string) fault {
	return func(next http.RoundTripper) http.RoundTripper {
		var last string
		stale := false
		replay := changeBody(isList, func(s string) string {
			if stale {
				stale = false
				return last
			}
			last = s
			return s
		})(next)
		return roundTripFunc(func(req *http.Request) (*http.Response, error) {
			stale = stale || req.Method == method
			return replay.RoundTrip(req)
		})
	}
}

// fixNewTokens replaces the tokens that continue at the latest state by those of the state after
// the last patch.
func fixNewTokens(next http.RoundTripper) http.RoundTripper {
	patched := ""
	remember := changeBody(hasMethod(http.MethodPatch), func(s string) string {
		if found := versionPattern.FindStringSubmatch(s); found != nil {
			patched = found[1]
		}
		return s
	})
	return changeBody(isLaterPage, func(s string) string {
		return tokenPattern.ReplaceAllStringFunc(s, func(found string) string {
			return `"continue":"` + editToken(tokenPattern.FindStringSubmatch(found)[1], `"rv":-1`, `"rv":`+patched) + `"`
		})
	})(remember(next))
}

var (
	versionPattern = regexp.MustCompile(`"resourceVersion":"(\d+)"`)
	tokenPattern   = regexp.MustCompile(`"continue":"([^"]+)"`)
)
