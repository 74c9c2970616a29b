package conformance_test

import (
	"net/http"
	"regexp"
	"strings"
)

// subresourceFaults are about subresources.
var subresourceFaults = []faultyServer{
	{"takes the status from anywhere", changeRequest(func(r *http.Request) {
		if isUpdate(r) && strings.HasSuffix(r.URL.Path, "/pods/a") {
			r.URL.Path += "/status"
		}
	}), `^SU-01/typed$`},
	{"takes the status for the object", changeRequest(func(r *http.Request) {
		if isUpdate(r) {
			r.URL.Path = strings.TrimSuffix(r.URL.Path, "/status")
		}
	}), `^SU-(02|03|03/unset|04|16)/typed$`},
	{"takes what is stale", changeRequestBody(hasMethod(http.MethodPut), func(s string) string {
		return regexp.MustCompile(`"resourceVersion":"\d+"`).ReplaceAllString(s, `"resourceVersion":""`)
	}), `^SU-(03|12/stale)/typed$`},
	{"lets nobody overwrite", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/status") {
			r.URL.Path += "es"
		}
	}), `^SU-(02|03|03/unset)/typed$`},
	{"counts every status", changeBody(hasMethod(http.MethodPatch), addToNumber(`"generation":`, 1)), `^SU-04/typed$`},
	{"shows the status alone", changeBody(hasPathSuffix("/status"), replaceText(`"spec":`, `"specs":`)), `^SU-0[26]/typed$`},
	{"allows anything on subresources", withoutCode(405), `^SU-07/typed$`},
	{"gives scales a uid", changeBody(hasPathSuffix("/scale"), replaceText(`"uid":"`, `"uid":"0`)), `^SU-08/typed$`},
	{"scales nothing", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/scale") {
			r.URL.RawQuery += "&dryRun=All"
		}
	}), `^SU-(09|11/zero|12/stale|12/unset|16/scale)/typed$`},
	{"takes any kind for a scale", withoutCode(400), `^SU-(10/typed|14/name)$`},
	{"scales below nothing", withoutCode(422), `^SU-12/negative/typed$`},
	{"makes nothing of actions", withoutCode(201), `^SU-(13/binds|13/bound|14/dry|14/evicts|14/pending)$`},
	{"evicts when it is told to try", ignoreParameter("dryRun"), `^SU-14/dry$`},
	{"binds twice", withoutCode(409), `^SU-(13/(bound|gated|stale|terminating)|14/options)$`},
	{"acts on what is not there", withoutCode(404), `^SU-(13|14)/absent$`},
	{"evicts without a word", changeBody(hasPathSuffix("/a"), replaceText(`"DisruptionTarget"`, `"Disrupted"`)), `^SU-14/condition$`},
	{"keeps no budgets", withoutCode(429), `^SU-14/blocked$`},
	{"keeps two budgets", withoutCode(500), `^SU-14/two$`},
	{"says which budget by another name", changeBody(hasMethod(http.MethodPost), replaceText(`"DisruptionBudget"`, `"Budget"`)), `^SU-14/blocked$`},
	{"lists no status", changeBody(hasPathSuffix("/api/v1"), replaceText(`"pods/status"`, `"pods/statuses"`)), `^SU-15/status$`},
	{"lists no actions", changeBody(hasPathSuffix("/v1"), replaceText(`"verbs":["create"]`, `"verbs":["get"]`)), `^SU-15/(binding|eviction|token)$`},
	{"lists no finalize", changeBody(hasPathSuffix("/api/v1"), replaceText(`"namespaces/finalize"`, `"namespaces/end"`)), `^SU-15/finalize$`},
	{"lists scales as what they scale", changeBody(hasPathSuffix("/v1"), replaceText(`"kind":"Scale"`, `"kind":"Scaled"`)), `^SU-15/(scale/.*|custom)$`},
	{"minds nobody's name", ignoreParameter("fieldManager"), `^SU-16(/scale)?/typed$`},
}

// isUpdate says whether a request changes an object that is there.
func isUpdate(r *http.Request) bool {
	return r.Method == http.MethodPut || r.Method == http.MethodPatch
}
