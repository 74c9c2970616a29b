package conformance_test

import (
	"net/http"
	"strings"
)

// customFaults are about custom resources and their definitions.
var customFaults = []faultyServer{
	// The definitions.
	{"finds nothing invalid in custom resources", withoutCode(422), `^(CD-04(/.*)?|CD-05(/.*)?|CD-09(/absent|/forbidden|/preserveUnknownFields|/embedded/invalid|/preserve|/intOrString)?|CD-10(/(type|number|string|sizes|required|many|combined|set|map|keys|status|name|later))?|CD-11/invalid|CD-12(/.*)?|CD-13(/(create|items|rules|transition|required))?|CD-15/invalid|FV-09/required/custom|PA-14/custom)$`},
	{"never says that a definition is Established", changeBody(isDefinition, replaceText(`"type":"Established"`, `"type":"Settled"`)), `^CD-(01|01/status|03|04/immutable|14(/.*)?)$`},
	{"accepts names in silence", changeBody(isDefinition, replaceText(`"type":"NamesAccepted"`, `"type":"NamesSeen"`)), `^CD-(01|14(/.*)?)$`},
	{"does not count changes of definitions", changeBody(isDefinition, replacePattern(`"generation":\d+`, `"generation":1`)), `^CD-01/generation$`},
	{"has no strategy of conversion", changeBody(isDefinition, replaceText(`"strategy":"None"`, `"strategy":""`)), `^CD-01/defaults$`},
	{"has no short names", changeBody(isDocument, replaceText(`"shortNames"`, `"names"`)), `^CD-01/names$`},
	{"has no preferred version", changeBody(isDocument, replaceText(`"preferredVersion"`, `"version"`)), `^CD-06/order$`},
	{"serves all versions", changeRequestBody(isDefinition, replaceText(`"served":false`, `"served":true`)), `^CD-02$`},
	{"only tries to change definitions", dryRunOnly(http.MethodPatch), `^CD-(02/later|05/storedVersions|08/change|09/read|09/again|10/status|10/name|10/later|11/read|11/stored|12/root|13(/(create|items|rules|required))?|14/later|15/stored)$`},
	{"only tries to delete definitions", dryRunOnly(http.MethodDelete), `^CD-(07|07/writes|08|08/finalizers|08/again|08/discovery|14/release)$`},
	{"lets definitions go in silence", changeEvents(func(_ []string, event string) []string {
		if strings.Contains(event, `"type":"DELETED"`) {
			return nil
		}
		return []string{event}
	}), `^CD-08/watch$`},
	{"has no cluster", changeRequestBody(isDefinition, replaceText(`"scope":"Cluster"`, `"scope":"Namespaced"`)), `^CD-06/cluster$`},
	{"has no namespaces", changeRequestBody(isDefinition, replaceText(`"scope":"Namespaced"`, `"scope":"Cluster"`)), `^CD-06$`},

	// Their schemas.
	{"keeps what is unknown", changeRequestBody(isDefinition, replaceText(`"type":"object"`, `"type":"object","x-kubernetes-preserve-unknown-fields":true`)), `^CD-(09/(write|read|again|nested|metadata|status)|15/schema)$`},
	{"keeps nothing that is unknown", changeRequestBody(isDefinition, replaceText(`"x-kubernetes-preserve-unknown-fields":true`, `"description":"x"`)), `^(CD-09/preserve|FV-08/preserved/custom)$`},
	{"embeds nothing", changeRequestBody(isDefinition, replaceText(`"x-kubernetes-embedded-resource":true`, `"description":"x"`)), `^CD-09/embedded$`},
	{"allows no null", changeRequestBody(isDefinition, replaceText(`"nullable":true`, `"nullable":false`)), `^CD-(10/nullable|11/null)$`},
	{"has no defaults in schemas", changeRequestBody(isDefinition, replaceText(`"default":`, `"example":`)), `^(CD-11(/(read|stored|nested|null|required|owner))?|SA-33/defaults/custom|PA-06/default/custom|SA-09/default/custom)$`},
	{"does not know what is stored in another version", changeBody(isNotWatch, replacePattern(`\.example\.com/v2"`, `.example.com/v1"`)), `^CD-15(/(write|watch|stored))?$`},
	{"hides that a converter failed", withoutCode(500), `^(CD-15/webhook|SU-11/unset/custom)$`},

	// What their objects have of their own.
	{"has no widgets in discovery", changeBody(isDocument, replaceText(`"widgets"`, `"gidgets"`)), `^DI-11/custom$`},
	{"leaves out that there is no more", changeBody(isNotWatch, replaceText(`"continue":"",`, ``)), `^LS-06$`},
	{"has all in protobuf", withoutCode(406), `^PB-03$`},
	{"calls JSON something else", changeResponse(anyRequest, func(r *http.Response) { r.Header.Set("Content-Type", "application/yaml") }), `^PB-05$`},
	{"refuses nothing by method", changeResponse(anyRequest, func(r *http.Response) {
		if r.StatusCode == 405 || r.StatusCode == 201 && strings.HasSuffix(r.Request.URL.Path, "/a") {
			r.StatusCode = 501
		}
	}), `^PV-15$`},
	{"gives each version of a custom object a uid", changeBody(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/v1beta1/") }, replaceText(`"uid":"`, `"uid":"0`)), `^PV-29/custom$`},
	{"finds no request of custom resources bad", withoutCode(400), `^(PV-31/customwatch|SE-07)$`},
	{"selects no custom resources by field", ignoreParameter("fieldSelector"), `^(SE-08|SE-13/value)$`},
	{"has no conflicts about custom resources", withoutCode(409), `^SA-20/custom$`},
	{"takes the status for the object", changeRequest(func(r *http.Request) { r.URL.Path = strings.TrimSuffix(r.URL.Path, "/status") }), `^SU-02/metadata/custom$`},
	{"has a status everywhere", withoutCode(404), `^SU-05$`},
	{"scales without a selector", changeBody(hasPathSuffix("/scale"), replaceText(`"selector":`, `"selects":`)), `^SU-08/status/custom$`},
	{"scales nothing", changeBody(hasPathSuffix("/scale"), replaceText(`"replicas":`, `"replica":`)), `^PA-22/scale/custom$`},
	{"has no columns", changeBody(isNotWatch, replaceText(`"columnDefinitions"`, `"columns"`)), `^TB-07/(columns|plain)$`},
}

// isDefinition says whether a request is about definitions of custom resources.
func isDefinition(r *http.Request) bool {
	return strings.Contains(r.URL.Path, "/customresourcedefinitions") && !isWatch(r)
}

// isDocument says whether a request is for a document of discovery.
func isDocument(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/apis") && strings.Count(r.URL.Path, "/") < 4
}

// dryRunOnly is a server that only tries to do this to definitions.
func dryRunOnly(method string) fault {
	return changeRequest(func(r *http.Request) {
		if r.Method == method && isDefinition(r) {
			q := r.URL.Query()
			q.Set("dryRun", "All")
			r.URL.RawQuery = q.Encode()
		}
	})
}
