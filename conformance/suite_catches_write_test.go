package conformance_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// writeFaults are about writers that meet, and about what a create takes.
var writeFaults = []faultyServer{
	// Versions.
	{"has one version for a patched object", changeBody(hasMethod(http.MethodPatch), replacePattern(`"resourceVersion":"\d+"`, `"resourceVersion":"5"`)), `^OC-(01|13|18)/typed$`},
	{"knows no conflicts", withoutCode(409), `^(OC-(02|06|09|10|12|13|14|16|19|20)|CR-20)/typed$`},
	{"has its own words for conflicts", changeBody(anyRequest, replaceText(`"message":"Operation cannot`, `"message":"Operation can not`)), `^OC-(02|09|10|13|14|16|19|20)/typed$`},
	{"does not say what is in conflict", changeBody(anyRequest, replaceText(`"details":`, `"about":`)), `^(OC-(02|05|06|12|19|20)/typed|OC-04/lease)$`},
	{"overwrites", dropMetadata(http.MethodPut, "resourceVersion"), `^OC-(02|07|13|14|16|19)/typed$`},
	{"overwrites by patch", dropMetadata(http.MethodPatch, "resourceVersion"), `^OC-(09|10|19)/typed$`},
	{"updates whatever uid", dropMetadata(http.MethodPut, "uid"), `^OC-(06|19)/typed$`},
	{"applies whatever uid", dropMetadata(http.MethodPatch, "uid"), `^(OC-12|MD-05)/typed$`},
	{"writes what changes nothing", changeBody(hasMethod(http.MethodPut), addToNumber(`"resourceVersion":"`, 1)), `^OC-(01|03|17)/typed$`},
	{"does not update at all", changeResponse(hasMethod(http.MethodPut), replaceCode(200, 501)), `^(OC-(03|04|06|17)/typed)$`},
	{"does not create by update", changeResponse(hasMethod(http.MethodPut), replaceCode(201, 501)), `^OC-21$`},
	{"creates by any update", changeResponse(hasMethod(http.MethodPut), replaceCode(404, 201)), `^OC-05/typed$`},
	{"does not mind what is no version", withoutCode(500), `^((OC-07|MD-12|CR-10)/typed|OC-21)$`},
	{"lets patches fail that meet", failEveryNth(http.MethodPatch, 3), `^OC-08/typed$`},
	{"does not create by apply", changeResponse(hasMethod(http.MethodPatch), replaceCode(201, 409)), `^OC-(11|18)/typed$`},
	{"applies again", countUp(hasMethod(http.MethodPatch)), `^OC-18/typed$`},
	{"writes half of what it refuses", writeAndReject, `^OC-15/typed$`},
	{"deletes whatever version", changeResponse(hasMethod(http.MethodDelete), replaceCode(409, 200)), `^OC-20/typed$`},
	{"loses updates", changeResponse(hasMethod(http.MethodPut), replaceCode(409, 200)), `^(OC-(02|06|13|14|15|16|19)/typed)$`},

	// Creates.
	{"creates with 200", changeResponse(hasMethod(http.MethodPost), replaceCode(201, 200)), `^CR-(01|05|07|16|20)/typed$`},
	{"reads to the end", withoutCode(413), `^CR-09(/chunked)?/typed$`},
	{"answers what was sent", changeBody(hasMethod(http.MethodPost), replaceText(`"annotations":`, `"notes":`)), `^CR-01/typed$`},
	{"stores what was sent", changeBody(hasMethod(http.MethodGet), replaceText(`"type":"Opaque"`, `"type":"opaque"`)), `^CR-15/typed$`},
	{"mentions one mistake", changeBody(hasMethod(http.MethodPost), replacePattern(`"causes":\[(\{[^}]*\}),.*?\]`, `"causes":[$1]`)), `^(CR-12|NM-22)/typed$`},
	{"refuses and stores", changeResponse(hasMethod(http.MethodGet), replaceCode(404, 200)), `^CR-13/typed$`},
	{"takes bodies of any kind", changeResponse(hasMethod(http.MethodPost), replaceCode(400, 201)), `^CR-((02|03|04|06|11|14)/typed|02/served)$`},
	{"wants to be told the kind", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPost && !strings.Contains(readBody(r), `"kind":`) {
			setBody(r, "")
		}
	}), `^CR-05/typed$`},
	{"shows no broken bodies", changeBody(hasMethod(http.MethodPost), replacePattern(`unrecognized \(.*?\)`, `unrecognized`)), `^CR-06/typed$`},
	{"wants a Content-Type", changeRequest(func(r *http.Request) {
		if r.Header.Get("Content-Type") == "" {
			r.Header.Set("Content-Type", "text/plain")
		}
	}), `^CR-07/typed$`},
	{"reads any Content-Type as JSON", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPost {
			r.Header.Set("Content-Type", "application/json")
		}
	}), `^CR-(08|14)/typed$`},
	{"reads bodies of any size", withoutCode(413), `^CR-(09|14)/typed$`},
	{"reads the options first", changeRequest(func(r *http.Request) {
		if r.URL.Query().Has("dryRun") && r.ContentLength > 1<<20 {
			setBody(r, "{}")
		}
	}), `^CR-14/(typed|put/typed)$`},
	{"adds what was not sent", changeBody(hasMethod(http.MethodPost), replaceText(`"metadata":{`, `"data":{},"metadata":{`)), `^CR-(01|16)/typed$`},
	{"makes one object of two", changeResponse(hasMethod(http.MethodPost), replaceCode(409, 201)), `^CR-20/typed$`},
	{"stores no large objects", changeRequest(func(r *http.Request) {
		if r.ContentLength > 500_000 {
			r.Method = "BREW"
		}
	}), `^CR-(09|10|18)/typed$`},
}

// replaceCode gives one code instead of another.
func replaceCode(code, instead int) func(*http.Response) {
	return func(r *http.Response) {
		if r.StatusCode == code {
			r.StatusCode = instead
		}
	}
}

// failEveryNth is a server that refuses each nth request of a method as a Conflict.
func failEveryNth(method string, n int64) fault {
	var seen atomic.Int64
	return changeResponse(hasMethod(method), func(r *http.Response) {
		if seen.Add(1)%n == 0 {
			r.StatusCode = http.StatusConflict
		}
	})
}

// countUp is a server whose answers to these requests have ever later versions.
func countUp(when func(*http.Request) bool) fault {
	var seen atomic.Int64
	return changeBody(when, func(s string) string { return addToNumber(`"resourceVersion":"`, int(seen.Add(1)))(s) })
}

// writeAndReject is a server that refuses a PUT and leaves its mark on the object all the same.
func writeAndReject(next http.RoundTripper) http.RoundTripper {
	return roundTripFunc(func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err != nil || req.Method != http.MethodPut || resp.StatusCode < 400 {
			return resp, err
		}
		mark := req.Clone(req.Context())
		mark.Method = http.MethodPatch
		mark.Header.Set("Content-Type", "application/merge-patch+json")
		setBody(mark, `{"metadata":{"annotations":{"half":"done"}}}`)
		marked, err := next.RoundTrip(mark)
		if err != nil {
			return nil, err
		}
		if _, err := io.Copy(io.Discard, marked.Body); err != nil {
			return nil, err
		}
		return resp, marked.Body.Close()
	})
}
