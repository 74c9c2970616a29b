package conformance_test

import (
	"net/http"
	"regexp"
	"strings"
)

// applyFaults break rules about server-side apply.
var applyFaults = []faultyServer{
	{"rejects apply patches as unsupported", replaceContentType("application/apply-patch+yaml", "application/x-nothing"), `^SA-(0[1-9]|1[0-9]|22|23|26|31|3[2-6]|38)/typed$`},
	{"reads apply patches as merge patches", replaceContentType("application/apply-patch+yaml", "application/merge-patch+json"), `^SA-(01|02|03|05|06|07|08|09|10|12|13|14|15|16|17|18|19/set|19/atomic|35)/typed$`},
	{"applies with force=true always", changeRequest(func(r *http.Request) {
		if q := r.URL.Query(); isApply(r) {
			q.Set("force", "true")
			r.URL.RawQuery = q.Encode()
		}
	}), `^SA-(05|06|06/many|07|19/atomic|21|23|34|35|38)/typed$`},
	{"ignores force", ignoreParameter("force"), `^SA-(07|11|19/atomic|38)/typed$`},
	{"uses one field manager for all", changeManager(func(string) string { return "m1" }), `^SA-(05|06/many|08|10|11|18|19/.*|25|36)/typed$`},
	{"uses another field manager for each version", changeRequest(func(r *http.Request) {
		if strings.Contains(r.URL.Path, "/autoscaling/v1/") {
			r.URL.RawQuery += "1"
		}
	}), `^SA-34/typed$`},
	{"does not migrate kubectl's client-side apply", changeManager(func(name string) string { return strings.Replace(name, "kubectl", "ctl", 1) }), `^SA-35/typed$`},
	{"answers 501 to apply instead of 201", withoutCode(201), `^SA-(02|15/yaml)/typed$`},
	{"answers 501 to apply instead of 400", withoutCode(400), `^(SA-(12|13|14|15)/typed|SA-13/version)$`},
	{"answers 501 to apply instead of 404", withoutCode(404), `^SA-22/typed$`},
	{"answers 501 to apply instead of 409", withoutCode(409), `^SA-(05|06|06/many|07|19/atomic|21|23|34|35|38)/typed$`},
	{"answers 501 to apply instead of 422", withoutCode(422), `^SA-(01|26|33)/typed$`},
	{"answers 501 to apply instead of 500", withoutCode(500), `^SA-(1[67]/typed|34/schema|41/custom)$`},
	{"removes what an apply sets to null", changeRequest(func(r *http.Request) {
		if isApply(r) && strings.Contains(readBody(r), ":null") {
			r.Header.Set("Content-Type", "application/merge-patch+json")
		}
	}), `^SA-39/(scalar|merged)/custom$`},
	{"returns the empty labels of an apply", changeBody(isApply, replaceText(`"metadata":{`, `"metadata":{"labels":{},`)), `^SA-39/metadata/custom$`},
	{"accepts escapes of JSON that YAML does not have", changeRequestBody(isApply, replaceText(`\/`, `/`)), `^SA-40/custom$`},
	{"records the operation Update for apply", changeBody(isPatch, replaceText(`"operation":"Apply"`, `"operation":"Update"`)), `^SA-(03|08|09|21|22|31|32)/typed$`},
	{"leaves the causes out of conflicts", changeBody(isPatch, replaceText(`"causes":`, `"reasons":`)), `^SA-(05|06|06/many)/typed$`},
	{"leaves the times out of managedFields", changeBody(isPatch, func(s string) string {
		return regexp.MustCompile(`"time":"[^"]*",`).ReplaceAllString(s, "")
	}), `^SA-0[34]/typed$`},
	{"increments the resourceVersion at every apply", changeBody(isPatch, addToNumber(`"resourceVersion":"`, 1)), `^SA-04/typed$`},
	{"reads apply patches in JSON only", changeRequestBody(isApply, func(s string) string {
		if strings.HasPrefix(s, "{") {
			return s
		}
		return "{}"
	}), `^SA-15/(typed|yaml/typed)$`},
	{"ignores managedFields in requests", changeRequestBody(anyRequest, replaceText(`"managedFields"`, `"managed"`)), `^SA-(12|23|27|28|29|36)/typed$`},
	{"clears managedFields that it cannot decode", changeRequestBody(isPatch, func(s string) string {
		if strings.Contains(s, "FieldsV2") {
			return `{"metadata":{"managedFields":[{}]}}`
		}
		return s
	}), `^SA-29/typed$`},
	{"drops managedFields that it cannot decode and stores the others", changeRequestBody(isPatch,
		replacePattern(`\{[^{}]*"fieldsV1":\{"f:data":\{"f:k":\{\}\}\},"manager":"x","operation":"Nothing"\},`, "")), `^SA-29/typed$`},
	{"keeps the existing managedFields instead of entries of an unknown version", changeRequestBody(isPatch,
		replaceText(`"absent.conformance.example.com/v1"`, `""`)), `^SA-29/typed$`},
	{"stores entries of an unknown version", changeRequestBody(isPatch, replaceText(`"absent.conformance.example.com/v1"`, `"v1"`)), `^SA-29/typed$`},
	{"keeps the existing managedFields instead of entries without fields", changeRequestBody(isPatch,
		replaceText(`"fieldsV1":{},`, `"fieldsV1":{},"apiVersion":"",`)), `^SA-29/typed$`},
	{"does not merge old managers into ancient-changes", changeBody(anyRequest, replaceText(`"ancient-changes"`, `"u00"`)), `^SA-24/typed$`},
	{"merges a recent manager into ancient-changes", changeBody(hasMethod(http.MethodGet),
		strings.NewReplacer(`"manager":"u11"`, `"manager":"u02"`, `"f:k11"`, `"f:k2"`, `"f:k2"`, `"f:k11"`).Replace), `^SA-24/typed$`},
	{"has no manager before-first-apply", changeBody(anyRequest, replaceText(`"before-first-apply"`, `"unknown"`)), `^SA-(23|36|36/empty)/typed$`},
	{"ignores the User-Agent of the client", changeRequest(func(r *http.Request) { r.Header.Set("User-Agent", "other/1") }), `^SA-25/typed$`},
	{"records metadata.name as an owned field", changeBody(isPatch, replaceText(`"f:labels":`, `"f:name":{},"f:labels":`)), `^SA-(03|31)/typed$`},
	{"leaves the subresource out of managedFields", changeBody(isPatch, replaceText(`,"subresource":"status"`, ``)), `^SA-22/typed$`},
	{"leaves the subresource out of conflicts", changeBody(isPatch, replaceText(` with subresource \"status\"`, ``)), `^SA-06/subresource/typed$`},
	{"stores the status of an apply to the main path", changeBody(isPatch, replaceText(`"status":{"loadBalancer":{}}`, `"status":{"loadBalancer":{"ingress":[]}}`)), `^SA-32/typed$`},
	{"ignores dryRun of apply", ignoreParameter("dryRun"), `^SA-38/typed$`},
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
