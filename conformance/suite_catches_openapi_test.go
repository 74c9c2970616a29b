package conformance_test

import (
	"net/http"
	"regexp"
	"strings"
)

// openAPIFaults are about the OpenAPI documents.
var openAPIFaults = []faultyServer{
	{"has no OpenAPI v3", changePath(replaceText("/openapi/v3", "/openapi/v9")), `^DI-18/(index|hash|unchanged|operations|schemas|protobuf|notAcceptable)$`},
	{"has no OpenAPI v2", changePath(replaceText("/openapi/v2", "/openapi/v9")), `^DI-18/(unchanged|secondVersion|protobuf|notAcceptable)$`},
	{"has no hashes", changeBody(isOpenAPI, func(s string) string {
		return regexp.MustCompile(`\?hash=\w+`).ReplaceAllString(s, "")
	}), `^DI-18/(index|hash)$`},
	{"has no documents to keep", changeResponse(isOpenAPI, func(r *http.Response) { r.Header.Set("Cache-Control", "no-cache, private") }), `^DI-18/hash$`},
	{"lets all documents be kept", changeResponse(isOpenAPI, func(r *http.Response) { r.Header.Set("Cache-Control", "public, immutable") }), `^DI-18/hash$`},
	{"answers to any hash", ignoreParameter("hash"), `^DI-18/hash$`},
	{"has no ETags", changeResponse(isOpenAPI, func(r *http.Response) { r.Header.Del("ETag") }), `^DI-18/(hash|unchanged)$`},
	{"sends what the client has", changeRequest(func(r *http.Request) { r.Header.Del("If-None-Match") }), `^DI-18/unchanged$`},
	{"says unchanged to everyone", changeResponse(func(r *http.Request) bool { return r.Header.Get("If-None-Match") != "" }, func(r *http.Response) { r.StatusCode = 304 }), `^DI-18/unchanged$`},
	{"names no actions", changeBody(isOpenAPI, replaceText(`"x-kubernetes-action"`, `"x-kubernetes-axion"`)), `^DI-18/operations$`},
	{"names no kinds", changeBody(isOpenAPI, replaceText(`"x-kubernetes-group-version-kind":{`, `"x-kubernetes-kind":{`)), `^DI-18/operations$`},
	{"does not tell of fieldValidation", changeBody(isOpenAPI, replaceText(`"fieldValidation"`, `"validation"`)), `^DI-18/operations$`},
	{"refers to nothing", changeBody(isOpenAPI, replaceText(`schemas/io.k8s.api.core.v1.ServicePort"`, `schemas/io.k8s.api.core.v1.Port"`)), `^DI-18/schemas$`},
	{"needs no fields", changeBody(isOpenAPI, replaceText(`"required":["`, `"required":["_`)), `^DI-18/schemas$`},
	{"merges no lists", changeBody(isOpenAPI, replaceText(`"x-kubernetes-patch-merge-key"`, `"x-kubernetes-merge-key"`)), `^DI-18/schemas$`},
	{"has no keys for lists", changeBody(isOpenAPI, replaceText(`"x-kubernetes-list-type":"map"`, `"x-kubernetes-list-type":"atomic"`)), `^DI-18/schemas$`},
	{"has no paths in v2", changeBody(isOpenAPI, replaceText(`"paths"`, `"roads"`)), `^DI-18/(secondVersion|operations|index)$`},
	{"has no definitions", changeBody(isOpenAPI, replaceText(`"definitions"`, `"guesses"`)), `^DI-18/secondVersion$`},
	{"has no OpenAPI in protobuf", changeRequest(func(r *http.Request) {
		if isOpenAPI(r) {
			r.Header.Set("Accept", "application/json")
		}
	}), `^DI-18/(protobuf|notAcceptable)$`},
	{"does not know the older name", changeRequest(func(r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), "@") {
			r.Header.Set("Accept", "application/xml")
		}
	}), `^DI-18/protobuf$`},
}

func isOpenAPI(req *http.Request) bool { return strings.HasPrefix(req.URL.Path, "/openapi/") }
