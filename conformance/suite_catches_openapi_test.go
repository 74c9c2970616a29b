package conformance_test

import (
	"net/http"
	"regexp"
	"strings"
)

// openAPIFaults break rules about the OpenAPI documents.
var openAPIFaults = []faultyServer{
	{"has no OpenAPI v3", changePath(replaceText("/openapi/v3", "/openapi/v9")), `^DI-18/(index|hash|unchanged|operations|schemas|protobuf|notAcceptable)$`},
	{"has no OpenAPI v2", changePath(replaceText("/openapi/v2", "/openapi/v9")), `^DI-18/(unchanged|secondVersion|protobuf|notAcceptable)$`},
	{"has no hashes in the index of OpenAPI", changeBody(isOpenAPI, func(s string) string {
		return regexp.MustCompile(`\?hash=\w+`).ReplaceAllString(s, "")
	}), `^DI-18/(index|hash)$`},
	{"does not allow caching of documents with a hash", changeResponse(isOpenAPI, func(r *http.Response) { r.Header.Set("Cache-Control", "no-cache, private") }), `^DI-18/hash$`},
	{"allows caching of documents without a hash", changeResponse(isOpenAPI, func(r *http.Response) { r.Header.Set("Cache-Control", "public, immutable") }), `^DI-18/hash$`},
	{"ignores the hash of a document", ignoreParameter("hash"), `^DI-18/hash$`},
	{"sets no ETag on documents", changeResponse(isOpenAPI, func(r *http.Response) { r.Header.Del("ETag") }), `^DI-18/(hash|unchanged)$`},
	{"ignores If-None-Match for documents", changeRequest(func(r *http.Request) { r.Header.Del("If-None-Match") }), `^DI-18/unchanged$`},
	{"answers 304 to any ETag of documents", changeResponse(func(r *http.Request) bool { return r.Header.Get("If-None-Match") != "" }, func(r *http.Response) { r.StatusCode = 304 }), `^DI-18/unchanged$`},
	{"leaves out x-kubernetes-action", changeBody(isOpenAPI, replaceText(`"x-kubernetes-action"`, `"x-kubernetes-axion"`)), `^DI-18/operations$`},
	{"leaves out x-kubernetes-group-version-kind", changeBody(isOpenAPI, replaceText(`"x-kubernetes-group-version-kind":{`, `"x-kubernetes-kind":{`)), `^DI-18/operations$`},
	{"leaves out the parameter fieldValidation", changeBody(isOpenAPI, replaceText(`"fieldValidation"`, `"validation"`)), `^DI-18/operations$`},
	{"refers to a schema that does not exist", changeBody(isOpenAPI, replaceText(`schemas/io.k8s.api.core.v1.ServicePort"`, `schemas/io.k8s.api.core.v1.Port"`)), `^DI-18/schemas$`},
	{"marks no fields as required", changeBody(isOpenAPI, replaceText(`"required":["`, `"required":["_`)), `^DI-18/schemas$`},
	{"leaves out the merge keys of lists", changeBody(isOpenAPI, replaceText(`"x-kubernetes-patch-merge-key"`, `"x-kubernetes-merge-key"`)), `^DI-18/schemas$`},
	{"describes all lists as atomic", changeBody(isOpenAPI, replaceText(`"x-kubernetes-list-type":"map"`, `"x-kubernetes-list-type":"atomic"`)), `^DI-18/schemas$`},
	{"leaves out the paths of OpenAPI v2", changeBody(isOpenAPI, replaceText(`"paths"`, `"roads"`)), `^DI-18/(secondVersion|operations|index)$`},
	{"leaves out the definitions of OpenAPI v2", changeBody(isOpenAPI, replaceText(`"definitions"`, `"guesses"`)), `^DI-18/secondVersion$`},
	{"has no OpenAPI in protobuf", changeRequest(func(r *http.Request) {
		if isOpenAPI(r) {
			r.Header.Set("Accept", "application/json")
		}
	}), `^DI-18/(protobuf|notAcceptable)$`},
	{"rejects the older media type of OpenAPI in protobuf", changeRequest(func(r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), "@") {
			r.Header.Set("Accept", "application/xml")
		}
	}), `^DI-18/protobuf$`},
}

func isOpenAPI(req *http.Request) bool { return strings.HasPrefix(req.URL.Path, "/openapi/") }
