package conformance_test

import (
	"net/http"
	"regexp"
	"strings"
)

// subresourceFaults break rules about subresources.
var subresourceFaults = []faultyServer{
	{"writes the status by the main path", changeRequest(func(r *http.Request) {
		if isUpdate(r) && strings.HasSuffix(r.URL.Path, "/pods/a") {
			r.URL.Path += "/status"
		}
	}), `^SU-01/typed$`},
	{"writes the main object by the status path", changeRequest(func(r *http.Request) {
		if isUpdate(r) {
			r.URL.Path = strings.TrimSuffix(r.URL.Path, "/status")
		}
	}), `^SU-(02|03|03/unset|04|16)/typed$`},
	{"ignores the resourceVersion of a PUT", changeRequestBody(hasMethod(http.MethodPut), func(s string) string {
		return regexp.MustCompile(`"resourceVersion":"\d+"`).ReplaceAllString(s, `"resourceVersion":""`)
	}), `^SU-(03|12/stale)/typed$`},
	{"rejects PUT of the status", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/status") {
			r.URL.Path += "es"
		}
	}), `^SU-(02|03|03/unset)/typed$`},
	{"increments the generation at every PATCH", changeBody(hasMethod(http.MethodPatch), addToNumber(`"generation":`, 1)), `^SU-04/typed$`},
	{"returns the status without the spec", changeBody(hasPathSuffix("/status"), replaceText(`"spec":`, `"specs":`)), `^SU-0[26]/typed$`},
	{"answers 501 instead of 405 for subresources", withoutCode(405), `^SU-07/typed$`},
	{"returns another uid in Scales", changeBody(hasPathSuffix("/scale"), replaceText(`"uid":"`, `"uid":"0`)), `^SU-08/typed$`},
	{"scales in a dry run only", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/scale") {
			r.URL.RawQuery += "&dryRun=All"
		}
	}), `^SU-(09|11/zero|12/stale|12/unset|16/scale)/typed$`},
	{"answers 501 to bodies of a wrong kind", withoutCode(400), `^SU-(10/typed|14/name)$`},
	{"requires kind and apiVersion in a Scale", changeRequestBody(hasPathSuffix("/scale"), func(s string) string {
		if strings.Contains(s, `"kind"`) {
			return s
		}
		return "{"
	}), `^SU-10/typed$`},
	{"answers 501 to negative replicas", withoutCode(422), `^SU-12/negative/typed$`},
	{"answers 501 to bindings and evictions", withoutCode(201), `^SU-(13/binds|13/bound|14/dry|14/evicts|14/pending)$`},
	{"ignores dryRun of evictions", ignoreParameter("dryRun"), `^SU-14/dry$`},
	{"answers 501 to conflicting bindings", withoutCode(409), `^SU-(13/(bound|gated|stale|terminating)|14/options)$`},
	{"answers 501 for subresources of absent pods", withoutCode(404), `^SU-(13|14)/absent$`},
	{"does not set the condition DisruptionTarget", changeBody(hasPathSuffix("/a"), replaceText(`"DisruptionTarget"`, `"Disrupted"`)), `^SU-14/condition$`},
	{"answers 501 to blocked evictions", withoutCode(429), `^SU-14/blocked$`},
	{"answers 501 to evictions with two budgets", withoutCode(500), `^SU-14/two$`},
	{"uses another cause than DisruptionBudget", changeBody(hasMethod(http.MethodPost), replaceText(`"DisruptionBudget"`, `"Budget"`)), `^SU-14/blocked$`},
	{"leaves the status subresource out of discovery", changeBody(hasPathSuffix("/api/v1"), replaceText(`"pods/status"`, `"pods/statuses"`)), `^SU-15/status$`},
	{"lists wrong verbs of bindings and evictions", changeBody(hasPathSuffix("/v1"), replaceText(`"verbs":["create"]`, `"verbs":["get"]`)), `^SU-15/(binding|eviction|token)$`},
	{"leaves namespaces/finalize out of discovery", changeBody(hasPathSuffix("/api/v1"), replaceText(`"namespaces/finalize"`, `"namespaces/end"`)), `^SU-15/finalize$`},
	{"lists another kind than Scale", changeBody(hasPathSuffix("/v1"), replaceText(`"kind":"Scale"`, `"kind":"Scaled"`)), `^SU-15/(scale/.*|custom)$`},
	{"ignores fieldManager for subresources", ignoreParameter("fieldManager"), `^SU-16(/scale)?/typed$`},
}

// isUpdate reports whether a request changes an existing object.
func isUpdate(r *http.Request) bool {
	return r.Method == http.MethodPut || r.Method == http.MethodPatch
}
