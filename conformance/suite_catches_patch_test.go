package conformance_test

import (
	"net/http"
	"strings"
)

// patchFaults are about patches.
var patchFaults = []faultyServer{
	{"knows no merge patches", replaceContentType("application/merge-patch+json", "application/x-nothing"), `^PA-(01|04|06|16|17|23)/typed$`},
	{"knows no JSON patches", replaceContentType("application/json-patch+json", "application/x-nothing"), `^PA-(01|04|07|08|09|10|11|17)/typed$`},
	{"knows no strategic merge patches", replaceContentType("application/strategic-merge-patch+json", "application/x-nothing"), `^(PA-(01|03)/typed|PA-(19|20/.*|21))$`},
	{"reads strategic merge patches as merge patches", replaceContentType("application/strategic-merge-patch+json", "application/merge-patch+json"), `^PA-(19|20/(delete|replace|order|primitives)|21)$`},
	{"minds parameters of media types", changeRequest(func(r *http.Request) {
		if strings.Contains(r.Header.Get("Content-Type"), ";") {
			r.Header.Set("Content-Type", "application/x-nothing")
		}
	}), `^PA-04/typed$`},
	{"takes any patch for a merge patch", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPatch && !strings.Contains(r.Header.Get("Content-Type"), "patch+json") {
			r.Header.Set("Content-Type", "application/merge-patch+json")
		}
	}), `^PA-(02|05)/typed$`},
	{"has no 404 for patches", withoutCode(404), `^PA-15/(first/)?typed$`},
	{"has no 400 for patches", withoutCode(400), `^PA-(09|10)/typed$`},
	{"has no 413 for patches", withoutCode(413), `^PA-11/typed$`},
	{"has no 415 for patches", withoutCode(415), `^PA-0[25]/typed$`},
	{"has no 422 for patches", withoutCode(422), `^PA-(07/atomic|08|12|13|13/kind|18|23)/typed$`},
	{"has no 500 for patches", withoutCode(500), `^PA-21$`},
	{"moves by copying", changeRequestBody(isPatch, replaceText(`"op":"move"`, `"op":"copy"`)), `^PA-07/typed$`},
	{"takes a test for done", changeRequestBody(isPatch, replaceText(`"op":"test"`, `"op":"add"`)), `^PA-(07/atomic|08)/typed$`},
	{"stores null", changeRequestBody(isPatch, replaceText(`:null`, `:""`)), `^PA-06/typed$`},
	{"does not copy", changeRequestBody(isPatch, replaceText(`"op":"copy"`, `"op":"move"`)), `^PA-(07|12)/typed$`},
	{"shows half of what it patched", changeBody(isPatch, replaceText(`"labels":`, `"lables":`)), `^PA-(06|07|16)/typed$`},
	{"counts every patch", changeBody(isPatch, addToNumber(`"resourceVersion":"`, 1)), `^PA-(16|17)/typed$`},
	{"carries out half of a patch", changeRequestBody(isPatch, replaceText(`{"op":"test","path":"/data/k","value":"1"}]`, `{"op":"test","path":"/data/k","value":"2"}]`)), `^PA-(07/atomic|11)/typed$`},
	{"knows no directives", changeRequestBody(isPatch, replaceText(`"$`, `"_`)), `^PA-(20/.*|21)$`},
	{"has no status apart", changePath(replaceText("/status", "")), `^PA-22/typed$`},
}

// replaceContentType is a server that takes one media type for another.
func replaceContentType(mediaType, as string) fault {
	return changeRequest(func(req *http.Request) {
		if sent := req.Header.Get("Content-Type"); strings.HasPrefix(sent, mediaType) {
			req.Header.Set("Content-Type", as+strings.TrimPrefix(sent, mediaType))
		}
	})
}

func isPatch(req *http.Request) bool { return req.Method == http.MethodPatch }

func isApply(req *http.Request) bool {
	return isPatch(req) && req.Header.Get("Content-Type") == "application/apply-patch+yaml"
}
