package conformance_test

import (
	"net/http"
	"regexp"
	"strings"
)

// subresourceLies are about subresources.
var subresourceLies = []told{
	{"takes the status from anywhere", asking(func(r *http.Request) {
		if isChange(r) && strings.HasSuffix(r.URL.Path, "/pods/a") {
			r.URL.Path += "/status"
		}
	}), `^SU-01/typed$`},
	{"takes the status for the object", asking(func(r *http.Request) {
		if isChange(r) {
			r.URL.Path = strings.TrimSuffix(r.URL.Path, "/status")
		}
	}), `^SU-(02|03|03/unset|04|16)/typed$`},
	{"takes what is stale", sending(is(http.MethodPut), func(s string) string {
		return regexp.MustCompile(`"resourceVersion":"\d+"`).ReplaceAllString(s, `"resourceVersion":""`)
	}), `^SU-(03|12/stale)/typed$`},
	{"lets nobody overwrite", asking(func(r *http.Request) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/status") {
			r.URL.Path += "es"
		}
	}), `^SU-(02|03|03/unset)/typed$`},
	{"counts every status", body(is(http.MethodPatch), swapNumber(`"generation":`, 1)), `^SU-04/typed$`},
	{"shows the status alone", body(ending("/status"), swap(`"spec":`, `"specs":`)), `^SU-0[26]/typed$`},
	{"allows anything on subresources", insteadOf(405), `^SU-07/typed$`},
	{"gives scales a uid", body(ending("/scale"), swap(`"uid":"`, `"uid":"0`)), `^SU-08/typed$`},
	{"scales nothing", asking(func(r *http.Request) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/scale") {
			r.URL.RawQuery += "&dryRun=All"
		}
	}), `^SU-(09|11/zero|12/stale|12/unset|16/scale)/typed$`},
	{"takes any kind for a scale", insteadOf(400), `^SU-(10/typed|14/name)$`},
	{"scales below nothing", insteadOf(422), `^SU-12/negative/typed$`},
	{"makes nothing of actions", insteadOf(201), `^SU-(13/binds|13/bound|14/dry|14/evicts|14/pending)$`},
	{"evicts when it is told to try", deaf("dryRun"), `^SU-14/dry$`},
	{"binds twice", insteadOf(409), `^SU-(13/(bound|gated|stale|terminating)|14/options)$`},
	{"acts on what is not there", insteadOf(404), `^SU-(13|14)/absent$`},
	{"evicts without a word", body(ending("/a"), swap(`"DisruptionTarget"`, `"Disrupted"`)), `^SU-14/condition$`},
	{"keeps no budgets", insteadOf(429), `^SU-14/blocked$`},
	{"keeps two budgets", insteadOf(500), `^SU-14/two$`},
	{"says which budget by another name", body(is(http.MethodPost), swap(`"DisruptionBudget"`, `"Budget"`)), `^SU-14/blocked$`},
	{"lists no status", body(ending("/api/v1"), swap(`"pods/status"`, `"pods/statuses"`)), `^SU-15/status$`},
	{"lists no actions", body(ending("/v1"), swap(`"verbs":["create"]`, `"verbs":["get"]`)), `^SU-15/(binding|eviction|token)$`},
	{"lists no finalize", body(ending("/api/v1"), swap(`"namespaces/finalize"`, `"namespaces/end"`)), `^SU-15/finalize$`},
	{"lists scales as what they scale", body(ending("/v1"), swap(`"kind":"Scale"`, `"kind":"Scaled"`)), `^SU-15/(scale/.*|custom)$`},
	{"minds nobody's name", deaf("fieldManager"), `^SU-16(/scale)?/typed$`},
}

// isChange says whether a request changes an object that is there.
func isChange(r *http.Request) bool {
	return r.Method == http.MethodPut || r.Method == http.MethodPatch
}
