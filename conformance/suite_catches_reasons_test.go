package conformance_test

import (
	"net/http"
	"strings"
)

// reasonFaults break rules about the codes and causes of errors, and rules that follow from others.
var reasonFaults = []faultyServer{
	{"answers 501 instead of 410", withoutCode(410), `^(ST-04|EX-02|EX-03)/typed$`},
	{"uses the reason Gone instead of Expired", changeBody(anyRequest, replaceText(`"reason":"Expired"`, `"reason":"Gone"`)), `^(ST-04|EX-02)/typed$`},
	{"uses the reason Gone in watches", replaceInEvents(`"reason":"Expired"`, `"reason":"Gone"`), `^EX-03/typed$`},
	{"answers 501 instead of 504", withoutCode(504), `^ST-(08|14/future)/typed$`},
	{"sets a reason on unclassified errors", changeBody(anyRequest, replaceText(`"code":500`, `"reason":"InternalError","code":500`)), `^ST-11/typed$`},
	{"leaves the cause ResourceVersionTooLarge out", changeBody(anyRequest, replaceText(`"reason":"ResourceVersionTooLarge"`, `"reason":""`)), `^ST-14/future/typed$`},
	{"leaves the cause FieldManagerConflict out", changeBody(isPatch, replaceText(`"reason":"FieldManagerConflict"`, `"reason":"Conflict"`)), `^ST-14/conflict/typed$`},
	{"uses the cause FieldValueInvalid instead of FieldValueTooMany", changeBody(anyRequest, replaceText(`"FieldValueTooMany"`, `"FieldValueInvalid"`)), `^ST-14/invalid$`},
	{"returns lists whose kind does not end in List", changeBody(isList, replaceText(`List","apiVersion"`, `","apiVersion"`)), `^MD-28/typed$`},
	{"returns null items on a page", changeBody(func(r *http.Request) bool { return isList(r) && r.URL.Query().Has("limit") }, replaceText(`"items":[]`, `"items":null`)), `^MD-28/typed$`},
	{"leaves the namespace out of responses", changeBody(anyRequest, replaceText(`"namespace":`, `"room":`)), `^CR-19/typed$`},
	{"answers 501 to a create under the name of a terminating object", withoutCode(409), `^DL-09/typed$`},
	{"returns the same uid for all created objects", changeBody(hasMethod(http.MethodPost), replacePattern(`"uid":"[^"]*"`, `"uid":"1"`)), `^DL-09/typed$`},
	{"rejects apply as an unsupported patch", replaceContentType("application/apply-patch+yaml", "application/x-nothing"), `^SA-37/typed$`},
	{"sends a warning with every patch", changeResponse(isPatch, func(r *http.Response) { r.Header.Set("Warning", `299 - "alpha"`) }), `^SA-37/typed$`},

	// Custom resources.
	{"rejects custom objects in a second namespace", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPost && isWidgets(r) {
			r.URL.Path = strings.TrimSuffix(r.URL.Path, "s") + "x"
		}
	}), `^NM-01/custom$`},
	{"returns a namespace for cluster-scoped custom objects", changeBody(hasPathSuffix("/gears"), replaceText(`"name":"a"`, `"name":"a","namespace":"somewhere"`)), `^NM-19/custom$`},
	{"returns null items for an absent namespace", changeBody(isWidgets, replaceText(`"items":[]`, `"items":null`)), `^LS-03/custom$`},
	{"sends one event of custom objects only", changeEvents(func(before []string, event string) []string {
		if len(before) == 1 {
			return nil
		}
		return []string{event}
	}), `^WA-28/custom$`},
	{"answers 501 to WebSockets for custom objects", withoutCode(http.StatusSwitchingProtocols), `^WA-33/custom$`},
	{"returns another kind than APIGroup", changeBody(isDocument, replaceText(`"kind":"APIGroup"`, `"kind":"Group"`)), `^DI-02/custom$`},
	{"leaves out the storage hashes of custom resources", changeBody(isDocument, replaceText(`"storageVersionHash"`, `"storedHash"`)), `^DI-04/custom$`},
	{"leaves out the verb deletecollection of custom resources", changeBody(isDocument, replaceText(`"deletecollection",`, ``)), `^DI-(04|10)/custom$`},
	{"describes custom versions as Stale", changeBody(isAggregated, replaceText(`"freshness":"Current"`, `"freshness":"Stale"`)), `^DI-10/custom$`},
	{"rejects PUT of custom objects", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/gears/") {
			r.Method = "BREW"
		}
	}), `^DI-12/custom$`},
	{"does not update OpenAPI after a schema change", changeBody(isOpenAPI, replaceText(`"size":{"type":"string"}`, `"size":{"type":"integer"}`)), `^DI-18/custom$`},
}

func isWidgets(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/widgets") }
