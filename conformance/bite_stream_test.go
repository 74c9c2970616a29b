package conformance_test

import (
	"net/http"
	"strings"
)

// streamLies are about bookmarks, and about lists that come as a watch.
var streamLies = []told{
	{"sends bookmarks unasked", asking(func(r *http.Request) {
		if isWatch(r) {
			r.URL.RawQuery += "&allowWatchBookmarks=true"
		}
	}), `^$`},
	{"sends no bookmarks", deaf("allowWatchBookmarks"), `^$`},
	{"sends no bookmarks but the first", frames(func(_ []string, event string) []string {
		if isBookmark(event) && !strings.Contains(event, "initial-events-end") {
			return nil
		}
		return []string{event}
	}), `^$`},
	{"names its bookmarks", inBookmarks(swap(`"metadata":{`, `"metadata":{"name":"bookmark",`)), `^$`},
	{"puts more into bookmarks", inBookmarks(swap(`"metadata":{`, `"type":"Opaque","metadata":{`)), `^$`},
	{"promises what it has not sent", frames(func(_ []string, event string) []string {
		if strings.HasPrefix(event, `{"type":"MODIFIED"`) {
			return []string{`{"type":"BOOKMARK","object":{"kind":"Secret","apiVersion":"v1","metadata":{"resourceVersion":"999999999"}}}` + "\n", event}
		}
		return []string{event}
	}), `^$`},
	{"promises less than it has sent", inBookmarks(swapNumber(`"resourceVersion":"`, -1)), `^$`},
	{"promises more than it has sent", inBookmarks(swapNumber(`"resourceVersion":"`, 1)), `^$`},
	{"misses a change after a bookmark", moved("resourceVersion", 1), `^$`},
	{"does not say where the state ends", swapFrame(`k8s.io/initial-events-end`, `k8s.io/initial-events`), `^$`},
	{"says twice where the state ends", frames(func(_ []string, event string) []string {
		if isBookmark(event) && !strings.Contains(event, "annotations") {
			event = strings.Replace(event, `"metadata":{`, `"metadata":{"annotations":{"k8s.io/initial-events-end":"true"},`, 1)
		}
		return []string{event}
	}), `^$`},
	{"always sends the state", asked("sendInitialEvents", "true"), `^$`},
	{"never sends the state", asked("sendInitialEvents", "false"), `^$`},
	{"sends changes in the state", swapFrame(`{"type":"ADDED"`, `{"type":"MODIFIED"`), `^$`},
	{"calls the future gone", swapFrame(`"reason":"Timeout"`, `"reason":"Gone"`), `^$`},
	{"says in a header when to watch again", saying(isWatch, func(r *http.Response) { r.Header.Set("Retry-After", "1") }), `^$`},
	{"sends whole objects", asking(func(r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), "as=") {
			r.Header.Set("Accept", "application/json")
		}
	}), `^$`},
	{"compresses for everyone", saying(isWatch, func(r *http.Response) { r.Header.Set("Content-Encoding", "gzip") }), `^$`},
	{"calls what is forgotten gone", body(isPlain, swap(`"reason":"Expired"`, `"reason":"Gone"`)), `^$`},
	{"says when to retry without being asked", saying(isPlain, func(r *http.Response) { r.Header.Set("Retry-After", "1") }), `^$`},
}

func isBookmark(event string) bool { return strings.HasPrefix(event, `{"type":"BOOKMARK"`) }

// inBookmarks changes bookmarks.
func inBookmarks(change func(string) string) lie {
	return frames(func(_ []string, event string) []string {
		if isBookmark(event) {
			event = change(event)
		}
		return []string{event}
	})
}
