package conformance_test

import (
	"net/http"
	"strings"
)

// reasonLies are about the codes and causes of errors, and about rules that follow from others.
var reasonLies = []told{
	{"has another code for Expired", insteadOf(410), `^(ST-04|EX-02|EX-03)/typed$`},
	{"calls Expired Gone", body(always, swap(`"reason":"Expired"`, `"reason":"Gone"`)), `^(ST-04|EX-02)/typed$`},
	{"tells of the past in no stream", swapFrame(`"reason":"Expired"`, `"reason":"Gone"`), `^EX-03/typed$`},
	{"takes late for busy", insteadOf(504), `^ST-(08|14/future)/typed$`},
	{"has a reason for everything", body(always, swap(`"code":500`, `"reason":"InternalError","code":500`)), `^ST-11/typed$`},
	{"has no cause for reads from the future", body(always, swap(`"reason":"ResourceVersionTooLarge"`, `"reason":""`)), `^ST-14/future/typed$`},
	{"has no cause for conflicts", body(isPatch, swap(`"reason":"FieldManagerConflict"`, `"reason":"Conflict"`)), `^ST-14/conflict/typed$`},
	{"takes too many for invalid", body(always, swap(`"FieldValueTooMany"`, `"FieldValueInvalid"`)), `^ST-14/invalid$`},
	{"has lists of no kind", body(isList, swap(`List","apiVersion"`, `","apiVersion"`)), `^MD-28/typed$`},
	{"has null on a page", body(func(r *http.Request) bool { return isList(r) && r.URL.Query().Has("limit") }, swap(`"items":[]`, `"items":null`)), `^MD-28/typed$`},
	{"says no namespace", body(always, swap(`"namespace":`, `"room":`)), `^CR-19/typed$`},
	{"frees names early", insteadOf(409), `^DL-09/typed$`},
	{"gives uids twice", body(is(http.MethodPost), change(`"uid":"[^"]*"`, `"uid":"1"`)), `^DL-09/typed$`},
	{"applies nothing", reads("application/apply-patch+yaml", "application/x-nothing"), `^SA-37/typed$`},
	{"warns of apply", saying(isPatch, func(r *http.Response) { r.Header.Set("Warning", `299 - "alpha"`) }), `^SA-37/typed$`},

	// What custom resources have in common with others.
	{"has one namespace for custom objects", asking(func(r *http.Request) {
		if r.Method == http.MethodPost && isWidgets(r) {
			r.URL.Path = strings.TrimSuffix(r.URL.Path, "s") + "x"
		}
	}), `^NM-01/custom$`},
	{"keeps the namespace of custom objects", body(ending("/gears"), swap(`"name":"a"`, `"name":"a","namespace":"somewhere"`)), `^NM-19/custom$`},
	{"has no list where nothing is", body(isWidgets, swap(`"items":[]`, `"items":null`)), `^LS-03/custom$`},
	{"sees custom objects only once", frames(func(before []string, event string) []string {
		if len(before) == 1 {
			return nil
		}
		return []string{event}
	}), `^WA-28/custom$`},
	{"has no sockets for custom objects", insteadOf(http.StatusSwitchingProtocols), `^WA-33/custom$`},
	{"has no names of custom groups", body(isDocument, swap(`"kind":"APIGroup"`, `"kind":"Group"`)), `^DI-02/custom$`},
	{"has no hashes for custom resources", body(isDocument, swap(`"storageVersionHash"`, `"storedHash"`)), `^DI-04/custom$`},
	{"cannot delete a collection of custom objects", body(isDocument, swap(`"deletecollection",`, ``)), `^DI-(04|10)/custom$`},
	{"never is fresh", body(isAggregated, swap(`"freshness":"Current"`, `"freshness":"Stale"`)), `^DI-10/custom$`},
	{"has verbs that custom resources have not", asking(func(r *http.Request) {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/gears/") {
			r.Method = "BREW"
		}
	}), `^DI-12/custom$`},
	{"never looks at schemas again", body(isOpenAPI, swap(`"size":{"type":"string"}`, `"size":{"type":"integer"}`)), `^DI-18/custom$`},
}

func isWidgets(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/widgets") }
