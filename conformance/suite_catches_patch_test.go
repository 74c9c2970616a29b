package conformance_test

import (
	"net/http"
	"strings"
)

// patchFaults break rules about patches.
var patchFaults = []faultyServer{
	{"cannot decode an apply patch in CBOR, but accepts its media type", changeResponse(func(r *http.Request) bool {
		return strings.Contains(r.Header.Get("Content-Type"), "cbor")
	}, func(r *http.Response) { r.StatusCode = http.StatusBadRequest }), `^PA-05/typed$`},
	{"rejects merge patches as unsupported", replaceContentType("application/merge-patch+json", "application/x-nothing"), `^PA-(01|04|06|16|17|23)/typed$`},
	{"rejects JSON patches as unsupported", replaceContentType("application/json-patch+json", "application/x-nothing"), `^PA-(01|04|07|08|09|10|11|17)/typed$`},
	{"rejects strategic merge patches as unsupported", replaceContentType("application/strategic-merge-patch+json", "application/x-nothing"), `^(PA-(01|03)/typed|PA-(19|20/.*|21))$`},
	{"reads strategic merge patches as merge patches", replaceContentType("application/strategic-merge-patch+json", "application/merge-patch+json"), `^PA-(19|20/(delete|replace|order|primitives)|21)$`},
	{"rejects parameters of patch media types", changeRequest(func(r *http.Request) {
		if strings.Contains(r.Header.Get("Content-Type"), ";") {
			r.Header.Set("Content-Type", "application/x-nothing")
		}
	}), `^PA-04/typed$`},
	{"reads unknown patch types as merge patches", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPatch && !strings.Contains(r.Header.Get("Content-Type"), "patch+json") {
			r.Header.Set("Content-Type", "application/merge-patch+json")
		}
	}), `^PA-(02|05)/typed$`},
	{"answers 501 to patches instead of 404", withoutCode(404), `^PA-15/(first/)?typed$`},
	{"answers 501 to patches instead of 400", withoutCode(400), `^PA-(09|10)/typed$`},
	{"answers 501 to patches instead of 413", withoutCode(413), `^PA-11/typed$`},
	{"answers 501 to patches instead of 415", withoutCode(415), `^PA-0[25]/typed$`},
	{"answers 501 to patches instead of 422", withoutCode(422), `^PA-(07/atomic|08|12|13|13/kind|18|23)/typed$`},
	{"answers 501 to patches instead of 500", withoutCode(500), `^PA-21$`},
	{"copies instead of moving", changeRequestBody(isPatch, replaceText(`"op":"move"`, `"op":"copy"`)), `^PA-07/typed$`},
	{"ignores failed tests of JSON patches", changeRequestBody(isPatch, replaceText(`"op":"test"`, `"op":"add"`)), `^PA-(07/atomic|08)/typed$`},
	{"stores empty strings for null", changeRequestBody(isPatch, replaceText(`:null`, `:""`)), `^PA-06/typed$`},
	{"moves instead of copying", changeRequestBody(isPatch, replaceText(`"op":"copy"`, `"op":"move"`)), `^PA-(07|12)/typed$`},
	{"leaves the labels out of responses to PATCH", changeBody(isPatch, replaceText(`"labels":`, `"lables":`)), `^PA-(06|07|16)/typed$`},
	{"increments the resourceVersion at every PATCH", changeBody(isPatch, addToNumber(`"resourceVersion":"`, 1)), `^PA-(16|17)/typed$`},
	{"fails the last test of a JSON patch", changeRequestBody(isPatch, replaceText(`{"op":"test","path":"/data/k","value":"1"}]`, `{"op":"test","path":"/data/k","value":"2"}]`)), `^PA-(07/atomic|11)/typed$`},
	{"ignores strategic merge directives", changeRequestBody(isPatch, replaceText(`"$`, `"_`)), `^PA-(20/.*|21)$`},
	{"applies patches of the status to the main path", changePath(replaceText("/status", "")), `^PA-22/typed$`},
}

// replaceContentType replaces a Content-Type.
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
