package conformance_test

import (
	"net/http"
	"strings"
)

// reasonFaults are about the codes and causes of errors, and about rules that follow from others.
var reasonFaults = []faultyServer{
	{"has another code for Expired", withoutCode(410), `^(ST-04|EX-02|EX-03)/typed$`},
	{"calls Expired Gone", changeBody(anyRequest, replaceText(`"reason":"Expired"`, `"reason":"Gone"`)), `^(ST-04|EX-02)/typed$`},
	{"tells of the past in no stream", replaceInEvents(`"reason":"Expired"`, `"reason":"Gone"`), `^EX-03/typed$`},
	{"takes late for busy", withoutCode(504), `^ST-(08|14/future)/typed$`},
	{"has a reason for everything", changeBody(anyRequest, replaceText(`"code":500`, `"reason":"InternalError","code":500`)), `^ST-11/typed$`},
	{"has no cause for reads from the future", changeBody(anyRequest, replaceText(`"reason":"ResourceVersionTooLarge"`, `"reason":""`)), `^ST-14/future/typed$`},
	{"has no cause for conflicts", changeBody(isPatch, replaceText(`"reason":"FieldManagerConflict"`, `"reason":"Conflict"`)), `^ST-14/conflict/typed$`},
	{"takes too many for invalid", changeBody(anyRequest, replaceText(`"FieldValueTooMany"`, `"FieldValueInvalid"`)), `^ST-14/invalid$`},
	{"has lists of no kind", changeBody(isList, replaceText(`List","apiVersion"`, `","apiVersion"`)), `^MD-28/typed$`},
	{"has null on a page", changeBody(func(r *http.Request) bool { return isList(r) && r.URL.Query().Has("limit") }, replaceText(`"items":[]`, `"items":null`)), `^MD-28/typed$`},
	{"says no namespace", changeBody(anyRequest, replaceText(`"namespace":`, `"room":`)), `^CR-19/typed$`},
	{"frees names early", withoutCode(409), `^DL-09/typed$`},
	{"gives uids twice", changeBody(hasMethod(http.MethodPost), replacePattern(`"uid":"[^"]*"`, `"uid":"1"`)), `^DL-09/typed$`},
	{"applies nothing", replaceContentType("application/apply-patch+yaml", "application/x-nothing"), `^SA-37/typed$`},
	{"warns of apply", changeResponse(isPatch, func(r *http.Response) { r.Header.Set("Warning", `299 - "alpha"`) }), `^SA-37/typed$`},

	// What custom resources have in common with others.
	{"has one namespace for custom objects", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPost && isWidgets(r) {
			r.URL.Path = strings.TrimSuffix(r.URL.Path, "s") + "x"
		}
	}), `^NM-01/custom$`},
	{"keeps the namespace of custom objects", changeBody(hasPathSuffix("/gears"), replaceText(`"name":"a"`, `"name":"a","namespace":"somewhere"`)), `^NM-19/custom$`},
	{"has no list where nothing is", changeBody(isWidgets, replaceText(`"items":[]`, `"items":null`)), `^LS-03/custom$`},
	{"sees custom objects only once", changeEvents(func(before []string, event string) []string {
		if len(before) == 1 {
			return nil
		}
		return []string{event}
	}), `^WA-28/custom$`},
	{"has no sockets for custom objects", withoutCode(http.StatusSwitchingProtocols), `^WA-33/custom$`},
	{"has no names of custom groups", changeBody(isDocument, replaceText(`"kind":"APIGroup"`, `"kind":"Group"`)), `^DI-02/custom$`},
	{"has no hashes for custom resources", changeBody(isDocument, replaceText(`"storageVersionHash"`, `"storedHash"`)), `^DI-04/custom$`},
	{"cannot delete a collection of custom objects", changeBody(isDocument, replaceText(`"deletecollection",`, ``)), `^DI-(04|10)/custom$`},
	{"never is fresh", changeBody(isAggregated, replaceText(`"freshness":"Current"`, `"freshness":"Stale"`)), `^DI-10/custom$`},
	{"has verbs that custom resources have not", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/gears/") {
			r.Method = "BREW"
		}
	}), `^DI-12/custom$`},
	{"never looks at schemas again", changeBody(isOpenAPI, replaceText(`"size":{"type":"string"}`, `"size":{"type":"integer"}`)), `^DI-18/custom$`},
}

func isWidgets(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/widgets") }
