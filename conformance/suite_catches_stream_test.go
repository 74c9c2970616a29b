package conformance_test

import (
	"net/http"
	"strconv"
	"strings"
)

// streamFaults break rules about bookmarks and streaming lists.
var streamFaults = []faultyServer{
	{"sends bookmarks without allowWatchBookmarks", changeRequest(func(r *http.Request) {
		if isWatch(r) {
			r.URL.RawQuery += "&allowWatchBookmarks=true"
		}
	}), `^(BM-(01|10)/typed)$`},
	{"sends no bookmarks", ignoreParameter("allowWatchBookmarks"), `^(BM-(06|08/deadline)/typed|SI-(01|08|10)/typed)$`},
	{"sends only the bookmark of the initial events", changeEvents(func(_ []string, event string) []string {
		if isBookmark(event) && !strings.Contains(event, "initial-events-end") {
			return nil
		}
		return []string{event}
	}), `^BM-08/(deadline/typed|minute)$`},
	{"sends a bookmark only after an event", changeEvents(func(_ []string, event string) []string {
		if isBookmark(event) {
			return nil
		}
		return []string{event, strings.Replace(event, `{"type":"ADDED"`, `{"type":"BOOKMARK"`, 1)}
	}), `^BM-08/deadline/typed$`},
	{"ignores the timeout of requests", ignoreParameter("timeout"), `^EX-08/typed$`},
	{"sets a name in bookmarks", changeBookmarks(replaceText(`"metadata":{`, `"metadata":{"name":"bookmark",`)), `^BM-02/typed$`},
	{"adds fields to bookmarks", changeBookmarks(replaceText(`"metadata":{`, `"type":"Opaque","metadata":{`)), `^BM-02/typed$`},
	{"sends a bookmark before the events that it covers", changeEvents(func(_ []string, event string) []string {
		if strings.HasPrefix(event, `{"type":"MODIFIED"`) {
			return []string{`{"type":"BOOKMARK","object":{"kind":"Secret","apiVersion":"v1","metadata":{"resourceVersion":"999999999"}}}` + "\n", event}
		}
		return []string{event}
	}), `^(BM-(03|09)/typed)$`},
	{"sends bookmarks with an older resourceVersion", changeBookmarks(addToNumber(`"resourceVersion":"`, -1000)), `^(BM-(04|08/deadline)/typed|SI-(02|04|14)/typed)$`},
	{"sends bookmarks with a later resourceVersion", changeBookmarks(addToNumber(`"resourceVersion":"`, 1000)), `^(BM-(04|09|09/ahead)/typed|SI-14/typed)$`},
	{"skips the first change after a bookmark", addToParameter("resourceVersion", 1), `^BM-04/typed$`},
	{"leaves the annotation out of the bookmark", replaceInEvents(`k8s.io/initial-events-end`, `k8s.io/initial-events`), `^(BM-06/typed|SI-(01|02|03|04|08|10|11|13|16/metadata)/typed)$`},
	{"annotates all bookmarks with initial-events-end", changeEvents(func(_ []string, event string) []string {
		if isBookmark(event) && !strings.Contains(event, "annotations") {
			event = strings.Replace(event, `"metadata":{`, `"metadata":{"annotations":{"k8s.io/initial-events-end":"true"},`, 1)
		}
		return []string{event}
	}), `^BM-(07|08/deadline)/typed$`},
	{"sends initial events with sendInitialEvents=false", setParameter("sendInitialEvents", "true"), `^SI-07/typed$`},
	{"sends no initial events with sendInitialEvents=true", setParameter("sendInitialEvents", "false"), `^(BM-10/typed|SI-(01|03|04|11|13|15)/typed)$`},
	{"sends MODIFIED for initial events", replaceInEvents(`{"type":"ADDED"`, `{"type":"MODIFIED"`), `^(SI-(01|03|10|15)/typed|SI-16/protobuf)$`},
	{"ends watches after a minute", changeRequest(func(r *http.Request) {
		q := r.URL.Query()
		if n, err := strconv.Atoi(q.Get("timeoutSeconds")); err == nil && n > 60 {
			q.Set("timeoutSeconds", "60")
			r.URL.RawQuery = q.Encode()
		}
	}), `^WA-38$`},
	{"answers a watch with a list", setParameter("watch", "false"), `^WA-29$`},
	{"uses the reason Gone instead of Timeout in streams", replaceInEvents(`"reason":"Timeout"`, `"reason":"Gone"`), `^SI-09/typed$`},
	{"sets Retry-After on watches", changeResponse(isWatch, func(r *http.Response) { r.Header.Set("Retry-After", "1") }), `^EX-11/typed$`},
	{"sends full objects instead of metadata", changeRequest(func(r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), "as=") {
			r.Header.Set("Accept", "application/json")
		}
	}), `^(CH-23|SI-16)/metadata/typed$`},
	{"sets Content-Encoding gzip on all watches", changeResponse(isWatch, func(r *http.Response) { r.Header.Set("Content-Encoding", "gzip") }), `^SI-17/(other|plain)/typed$`},
	{"compresses watches from a resourceVersion", changeResponse(func(r *http.Request) bool {
		return isWatch(r) && r.URL.Query().Has("resourceVersion")
	}, func(r *http.Response) { r.Header.Set("Content-Encoding", "gzip") }), `^SI-17/other/typed$`},
	{"uses the reason Gone instead of Expired in lists", changeBody(isNotWatch, replaceText(`"reason":"Expired"`, `"reason":"Gone"`)), `^(CH-18|EX-01)/typed$`},
	{"has a retry delay for absent objects", func(next http.RoundTripper) http.RoundTripper {
		isAbsent := hasPathSuffix("/absent")
		return changeBody(isAbsent, replaceText(`"details":{`, `"details":{"retryAfterSeconds":5,`))(
			changeResponse(isAbsent, func(r *http.Response) { r.Header.Set("Retry-After", "5") })(next))
	}, `^EX-06/typed$`},
	{"sets Retry-After on all responses", changeResponse(isNotWatch, func(r *http.Response) { r.Header.Set("Retry-After", "1") }), `^EX-06/typed$`},
}

func isBookmark(event string) bool { return strings.HasPrefix(event, `{"type":"BOOKMARK"`) }

// changeBookmarks changes bookmarks.
func changeBookmarks(change func(string) string) fault {
	return changeEvents(func(_ []string, event string) []string {
		if isBookmark(event) {
			event = change(event)
		}
		return []string{event}
	})
}
