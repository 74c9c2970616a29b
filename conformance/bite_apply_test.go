package conformance_test

import (
	"net/http"
	"regexp"
	"strings"
)

// applyLies are about server-side apply.
var applyLies = []told{
	{"knows no apply", reads("application/apply-patch+yaml", "application/x-nothing"), `^SA-(0[1-9]|1[0-9]|22|23|26|31|3[2-6]|38)/typed$`},
	{"applies by merging", reads("application/apply-patch+yaml", "application/merge-patch+json"), `^SA-(01|02|03|05|06|07|08|09|10|12|13|14|15|16|17|18|19/set|19/atomic|35)/typed$`},
	{"always forces", asking(func(r *http.Request) {
		if q := r.URL.Query(); isApply(r) {
			q.Set("force", "true")
			r.URL.RawQuery = q.Encode()
		}
	}), `^SA-(05|06|06/many|07|19/atomic|21|23|34|35|38)/typed$`},
	{"never forces", deaf("force"), `^SA-(07|11|19/atomic|38)/typed$`},
	{"has one manager only", manager(func(string) string { return "m1" }), `^SA-(05|06/many|08|10|11|18|19/.*|25|36)/typed$`},
	{"has managers by version", asking(func(r *http.Request) {
		if strings.Contains(r.URL.Path, "/autoscaling/v1/") {
			r.URL.RawQuery += "1"
		}
	}), `^SA-34/typed$`},
	{"does not know kubectl", manager(func(name string) string { return strings.Replace(name, "kubectl", "ctl", 1) }), `^SA-35/typed$`},
	{"has no 201 for apply", insteadOf(201), `^SA-(02|15/yaml)/typed$`},
	{"has no 400 for apply", insteadOf(400), `^(SA-(12|13|14|15)/typed|SA-13/version)$`},
	{"has no 404 for apply", insteadOf(404), `^SA-22/typed$`},
	{"has no 409 for apply", insteadOf(409), `^SA-(05|06|06/many|07|19/atomic|21|23|34|35|38)/typed$`},
	{"has no 422 for apply", insteadOf(422), `^SA-(01|26|33)/typed$`},
	{"has no 500 for apply", insteadOf(500), `^SA-1[67]/typed$`},
	{"calls every write an update", body(isPatch, swap(`"operation":"Apply"`, `"operation":"Update"`)), `^SA-(03|08|09|21|22|31|32)/typed$`},
	{"gives no causes of conflicts", body(isPatch, swap(`"causes":`, `"reasons":`)), `^SA-(05|06|06/many)/typed$`},
	{"has no times", body(isPatch, func(s string) string {
		return regexp.MustCompile(`"time":"[^"]*",`).ReplaceAllString(s, "")
	}), `^SA-0[34]/typed$`},
	{"counts every apply", body(isPatch, swapNumber(`"resourceVersion":"`, 1)), `^SA-04/typed$`},
	{"applies JSON only", sending(isApply, func(s string) string {
		if strings.HasPrefix(s, "{") {
			return s
		}
		return "{}"
	}), `^SA-15/(typed|yaml/typed)$`},
	{"keeps its managedFields to itself", sending(always, swap(`"managedFields"`, `"managed"`)), `^SA-(12|23|27|28|29|36)/typed$`},
	{"drops managedFields that it cannot read", sending(isPatch, func(s string) string {
		if strings.Contains(s, "FieldsV2") {
			return `{"metadata":{"managedFields":[{}]}}`
		}
		return s
	}), `^SA-29/typed$`},
	{"has no ancient changes", body(always, swap(`"ancient-changes"`, `"u00"`)), `^SA-24/typed$`},
	{"knows nothing before the first apply", body(always, swap(`"before-first-apply"`, `"unknown"`)), `^SA-(23|36|36/empty)/typed$`},
	{"asks nobody's name", asking(func(r *http.Request) { r.Header.Set("User-Agent", "somebody/1") }), `^SA-25/typed$`},
	{"lets names be owned", body(isPatch, swap(`"f:labels":`, `"f:name":{},"f:labels":`)), `^SA-(03|31)/typed$`},
	{"tells no subresources", body(isPatch, swap(`,"subresource":"status"`, ``)), `^SA-22/typed$`},
	{"conflicts with no subresources", body(isPatch, swap(` with subresource \"status\"`, ``)), `^SA-06/subresource/typed$`},
	{"applies the status with the object", body(isPatch, swap(`"status":{"loadBalancer":{}}`, `"status":{"loadBalancer":{"ingress":[]}}`)), `^SA-32/typed$`},
	{"only tries to try", deaf("dryRun"), `^SA-38/typed$`},
}

// manager changes the names of field managers.
func manager(change func(string) string) lie {
	return asking(func(req *http.Request) {
		if q := req.URL.Query(); q.Has("fieldManager") {
			q.Set("fieldManager", change(q.Get("fieldManager")))
			req.URL.RawQuery = q.Encode()
		}
	})
}
