package conformance_test

import (
	"net/http"
	"regexp"
	"strings"
)

// applyFaults are about server-side apply.
var applyFaults = []faultyServer{
	{"knows no apply", replaceContentType("application/apply-patch+yaml", "application/x-nothing"), `^SA-(0[1-9]|1[0-9]|22|23|26|31|3[2-6]|38)/typed$`},
	{"applies by merging", replaceContentType("application/apply-patch+yaml", "application/merge-patch+json"), `^SA-(01|02|03|05|06|07|08|09|10|12|13|14|15|16|17|18|19/set|19/atomic|35)/typed$`},
	{"always forces", changeRequest(func(r *http.Request) {
		if q := r.URL.Query(); isApply(r) {
			q.Set("force", "true")
			r.URL.RawQuery = q.Encode()
		}
	}), `^SA-(05|06|06/many|07|19/atomic|21|23|34|35|38)/typed$`},
	{"never forces", ignoreParameter("force"), `^SA-(07|11|19/atomic|38)/typed$`},
	{"has one manager only", changeManager(func(string) string { return "m1" }), `^SA-(05|06/many|08|10|11|18|19/.*|25|36)/typed$`},
	{"has managers by version", changeRequest(func(r *http.Request) {
		if strings.Contains(r.URL.Path, "/autoscaling/v1/") {
			r.URL.RawQuery += "1"
		}
	}), `^SA-34/typed$`},
	{"does not know kubectl", changeManager(func(name string) string { return strings.Replace(name, "kubectl", "ctl", 1) }), `^SA-35/typed$`},
	{"has no 201 for apply", withoutCode(201), `^SA-(02|15/yaml)/typed$`},
	{"has no 400 for apply", withoutCode(400), `^(SA-(12|13|14|15)/typed|SA-13/version)$`},
	{"has no 404 for apply", withoutCode(404), `^SA-22/typed$`},
	{"has no 409 for apply", withoutCode(409), `^SA-(05|06|06/many|07|19/atomic|21|23|34|35|38)/typed$`},
	{"has no 422 for apply", withoutCode(422), `^SA-(01|26|33)/typed$`},
	{"has no 500 for apply", withoutCode(500), `^SA-1[67]/typed$`},
	{"calls every write an update", changeBody(isPatch, replaceText(`"operation":"Apply"`, `"operation":"Update"`)), `^SA-(03|08|09|21|22|31|32)/typed$`},
	{"gives no causes of conflicts", changeBody(isPatch, replaceText(`"causes":`, `"reasons":`)), `^SA-(05|06|06/many)/typed$`},
	{"has no times", changeBody(isPatch, func(s string) string {
		return regexp.MustCompile(`"time":"[^"]*",`).ReplaceAllString(s, "")
	}), `^SA-0[34]/typed$`},
	{"counts every apply", changeBody(isPatch, addToNumber(`"resourceVersion":"`, 1)), `^SA-04/typed$`},
	{"applies JSON only", changeRequestBody(isApply, func(s string) string {
		if strings.HasPrefix(s, "{") {
			return s
		}
		return "{}"
	}), `^SA-15/(typed|yaml/typed)$`},
	{"keeps its managedFields to itself", changeRequestBody(anyRequest, replaceText(`"managedFields"`, `"managed"`)), `^SA-(12|23|27|28|29|36)/typed$`},
	{"drops managedFields that it cannot read", changeRequestBody(isPatch, func(s string) string {
		if strings.Contains(s, "FieldsV2") {
			return `{"metadata":{"managedFields":[{}]}}`
		}
		return s
	}), `^SA-29/typed$`},
	{"has no ancient changes", changeBody(anyRequest, replaceText(`"ancient-changes"`, `"u00"`)), `^SA-24/typed$`},
	{"knows nothing before the first apply", changeBody(anyRequest, replaceText(`"before-first-apply"`, `"unknown"`)), `^SA-(23|36|36/empty)/typed$`},
	{"asks nobody's name", changeRequest(func(r *http.Request) { r.Header.Set("User-Agent", "somebody/1") }), `^SA-25/typed$`},
	{"lets names be owned", changeBody(isPatch, replaceText(`"f:labels":`, `"f:name":{},"f:labels":`)), `^SA-(03|31)/typed$`},
	{"tells no subresources", changeBody(isPatch, replaceText(`,"subresource":"status"`, ``)), `^SA-22/typed$`},
	{"conflicts with no subresources", changeBody(isPatch, replaceText(` with subresource \"status\"`, ``)), `^SA-06/subresource/typed$`},
	{"applies the status with the object", changeBody(isPatch, replaceText(`"status":{"loadBalancer":{}}`, `"status":{"loadBalancer":{"ingress":[]}}`)), `^SA-32/typed$`},
	{"only tries to try", ignoreParameter("dryRun"), `^SA-38/typed$`},
}

// changeManager changes the names of field managers.
func changeManager(change func(string) string) fault {
	return changeRequest(func(req *http.Request) {
		if q := req.URL.Query(); q.Has("fieldManager") {
			q.Set("fieldManager", change(q.Get("fieldManager")))
			req.URL.RawQuery = q.Encode()
		}
	})
}
