package conformance_test

import (
	"net/http"
	"strings"
)

// customFaults break rules about custom resources and their definitions.
var customFaults = []faultyServer{
	// Definitions.
	{"answers 501 instead of 422 for custom resources", withoutCode(422), `^(CD-04(/.*)?|CD-05(/.*)?|CD-09(/absent|/forbidden|/preserveUnknownFields|/embedded/invalid|/preserve|/intOrString)?|CD-10(/(type|number|string|sizes|required|many|combined|set|map|keys|status|name|later))?|CD-11/invalid|CD-12(/.*)?|CD-13(/(create|items|rules|transition|required))?|CD-15/invalid|FV-09/required/custom|PA-14/custom)$`},
	{"never sets the condition Established", changeBody(isDefinition, replaceText(`"type":"Established"`, `"type":"Settled"`)), `^CD-(01|01/status|03|04/immutable|14(/.*)?)$`},
	{"never sets the condition NamesAccepted", changeBody(isDefinition, replaceText(`"type":"NamesAccepted"`, `"type":"NamesSeen"`)), `^CD-(01|14(/.*)?)$`},
	{"does not increment the generation of a CRD", changeBody(isDefinition, replacePattern(`"generation":\d+`, `"generation":1`)), `^CD-01/generation$`},
	{"sets no conversion strategy", changeBody(isDefinition, replaceText(`"strategy":"None"`, `"strategy":""`)), `^CD-01/defaults$`},
	{"leaves the short names out of discovery", changeBody(isDocument, replaceText(`"shortNames"`, `"names"`)), `^CD-01/names$`},
	{"leaves the preferred version out of discovery", changeBody(isDocument, replaceText(`"preferredVersion"`, `"version"`)), `^CD-06/order$`},
	{"serves all versions of a CRD", changeRequestBody(isDefinition, replaceText(`"served":false`, `"served":true`)), `^CD-02$`},
	{"changes CRDs in a dry run only", dryRunOnly(http.MethodPatch), `^CD-(02/later|05/storedVersions|08/(change|expired)|09/read|09/again|10/status|10/name|10/later|11/read|11/stored|12/root|13(/(create|items|rules|required))?|14/later|15/stored)$`},
	{"deletes CRDs in a dry run only", dryRunOnly(http.MethodDelete), `^CD-(07|07/writes|08|08/finalizers|08/again|08/discovery|14/release)$`},
	{"sends no DELETED events for custom objects", changeEvents(func(_ []string, event string) []string {
		if strings.Contains(event, `"type":"DELETED"`) {
			return nil
		}
		return []string{event}
	}), `^CD-08/watch$`},
	{"reads scope Cluster as Namespaced", changeRequestBody(isDefinition, replaceText(`"scope":"Cluster"`, `"scope":"Namespaced"`)), `^CD-06/cluster$`},
	{"reads scope Namespaced as Cluster", changeRequestBody(isDefinition, replaceText(`"scope":"Namespaced"`, `"scope":"Cluster"`)), `^CD-06$`},

	// Schemas.
	{"stores unknown fields", changeRequestBody(isDefinition, replaceText(`"type":"object"`, `"type":"object","x-kubernetes-preserve-unknown-fields":true`)), `^CD-(09/(write|read|again|nested|metadata|status)|15/schema)$`},
	{"prunes fields that x-kubernetes-preserve-unknown-fields covers", changeRequestBody(isDefinition, replaceText(`"x-kubernetes-preserve-unknown-fields":true`, `"description":"x"`)), `^(CD-09/preserve|FV-08/preserved/custom)$`},
	{"ignores x-kubernetes-embedded-resource", changeRequestBody(isDefinition, replaceText(`"x-kubernetes-embedded-resource":true`, `"description":"x"`)), `^CD-09/embedded$`},
	{"ignores nullable", changeRequestBody(isDefinition, replaceText(`"nullable":true`, `"nullable":false`)), `^CD-(10/nullable|11/null)$`},
	{"ignores the defaults of a schema", changeRequestBody(isDefinition, replaceText(`"default":`, `"example":`)), `^(CD-11(/(read|stored|nested|null|required|owner|status|scale))?|SA-33/defaults/custom|PA-06/default/custom|SA-09/default/custom)$`},
	{"answers with the apiVersion of the first version only", changeBody(isNotWatch, replacePattern(`\.example\.com/v2"`, `.example.com/v1"`)), `^CD-15(/(write|watch|stored))?$`},
	{"answers 501 when the conversion webhook fails", withoutCode(500), `^(CD-15/webhook|SU-11/unset/custom)$`},

	{"labels an object with every PUT", changeRequestBody(hasMethod(http.MethodPut), replaceText(`"generation":`, `"labels":{"a":"b"},"generation":`)), `^CD-10/whole$`},

	// Objects.
	{"leaves custom resources out of discovery", changeBody(isDocument, replaceText(`"widgets"`, `"gidgets"`)), `^DI-11/custom$`},
	{"leaves the empty continue out of lists", changeBody(isNotWatch, replaceText(`"continue":"",`, ``)), `^LS-06$`},
	{"answers 501 to protobuf requests for custom resources", withoutCode(406), `^PB-03$`},
	{"sets a wrong Content-Type for JSON", changeResponse(anyRequest, func(r *http.Response) { r.Header.Set("Content-Type", "application/yaml") }), `^PB-05$`},
	{"answers 501 to POST of a custom item", changeResponse(anyRequest, func(r *http.Response) {
		if r.StatusCode == 405 || r.StatusCode == 201 && strings.HasSuffix(r.Request.URL.Path, "/a") {
			r.StatusCode = 501
		}
	}), `^PV-15$`},
	{"has another uid in each version of a custom object", changeBody(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/v1beta1/") }, replaceText(`"uid":"`, `"uid":"0`)), `^PV-29/custom$`},
	{"answers 501 instead of 400 for custom resources", withoutCode(400), `^(PV-31/customwatch|SE-07)$`},
	{"ignores field selectors of custom resources", ignoreParameter("fieldSelector"), `^(SE-08|SE-13/value)$`},
	{"answers 501 instead of 409 for custom resources", withoutCode(409), `^SA-20/custom$`},
	{"writes the main path in requests for the status", changeRequest(func(r *http.Request) { r.URL.Path = strings.TrimSuffix(r.URL.Path, "/status") }), `^SU-02/metadata/custom$`},
	{"answers 501 instead of 404 for an absent status subresource", withoutCode(404), `^SU-05$`},
	{"leaves the selector out of Scales of custom resources", changeBody(hasPathSuffix("/scale"), replaceText(`"selector":`, `"selects":`)), `^SU-08/(status/custom|typed)$`},
	{"leaves the replicas out of Scales", changeBody(hasPathSuffix("/scale"), replaceText(`"replicas":`, `"replica":`)), `^PA-22/scale/custom$`},
	{"leaves the column definitions out of Tables", changeBody(isNotWatch, replaceText(`"columnDefinitions"`, `"columns"`)), `^TB-07/(columns|plain)$`},
}

// isDefinition reports whether a request is about definitions of custom resources.
func isDefinition(r *http.Request) bool {
	return strings.Contains(r.URL.Path, "/customresourcedefinitions") && !isWatch(r)
}

// isDocument reports whether a request is for a discovery document.
func isDocument(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/apis") && strings.Count(r.URL.Path, "/") < 4
}

// dryRunOnly makes requests of this method for definitions dry runs.
func dryRunOnly(method string) fault {
	return changeRequest(func(r *http.Request) {
		if r.Method == method && isDefinition(r) {
			q := r.URL.Query()
			q.Set("dryRun", "All")
			r.URL.RawQuery = q.Encode()
		}
	})
}
