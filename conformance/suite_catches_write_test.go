package conformance_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// writeFaults break rules about concurrent writes and about creates.
var writeFaults = []faultyServer{
	// resourceVersions.
	{"returns one resourceVersion for patched objects", changeBody(hasMethod(http.MethodPatch), replacePattern(`"resourceVersion":"\d+"`, `"resourceVersion":"5"`)), `^OC-(01|13|18)/typed$`},
	{"answers 501 instead of 409 to writes", withoutCode(409), `^(OC-(02|06|09|10|12|13|14|16|19|20)|CR-20)/typed$`},
	{"changes the message of conflicts", changeBody(anyRequest, replaceText(`"message":"Operation cannot`, `"message":"Operation can not`)), `^OC-(02|09|10|13|14|16|19|20)/typed$`},
	{"leaves the details out of conflicts", changeBody(anyRequest, replaceText(`"details":`, `"about":`)), `^(OC-(02|05|06|12|19|20)/typed|OC-04/lease)$`},
	{"ignores the resourceVersion of PUT", dropMetadata(http.MethodPut, "resourceVersion"), `^OC-(02|07|13|14|16|19)/typed$`},
	{"ignores the resourceVersion of PATCH", dropMetadata(http.MethodPatch, "resourceVersion"), `^OC-(09|10|19)/typed$`},
	{"ignores the uid of PUT", dropMetadata(http.MethodPut, "uid"), `^OC-(06|19)/typed$`},
	{"ignores the uid of PATCH", dropMetadata(http.MethodPatch, "uid"), `^(OC-12|MD-05)/typed$`},
	{"increments the resourceVersion at every PUT", changeBody(hasMethod(http.MethodPut), addToNumber(`"resourceVersion":"`, 1)), `^OC-(01|03|17)/typed$`},
	{"answers 501 instead of 200 to PUT", changeResponse(hasMethod(http.MethodPut), replaceCode(200, 501)), `^(OC-(03|04|06|17)/typed)$`},
	{"answers 501 instead of 201 to PUT", changeResponse(hasMethod(http.MethodPut), replaceCode(201, 501)), `^OC-21$`},
	{"answers 201 to PUT of an absent object", changeResponse(hasMethod(http.MethodPut), replaceCode(404, 201)), `^OC-05/typed$`},
	{"answers 501 instead of 500 to an invalid resourceVersion", withoutCode(500), `^((OC-07|MD-12|CR-10)/typed|OC-21)$`},
	{"answers 409 to concurrent patches", failEveryNth(http.MethodPatch, 3), `^OC-08/typed$`},
	{"answers 409 to an apply that creates", changeResponse(hasMethod(http.MethodPatch), replaceCode(201, 409)), `^OC-(11|18)/typed$`},
	{"increments the resourceVersion at a repeated apply", countUp(hasMethod(http.MethodPatch)), `^OC-18/typed$`},
	{"writes in part what it rejects", writeAndReject, `^OC-15/typed$`},
	{"answers 200 to a failed precondition of DELETE", changeResponse(hasMethod(http.MethodDelete), replaceCode(409, 200)), `^OC-20/typed$`},
	{"answers 200 to a conflicting PUT", changeResponse(hasMethod(http.MethodPut), replaceCode(409, 200)), `^(OC-(02|06|13|14|15|16|19)/typed)$`},

	// Creates.
	{"answers 200 instead of 201", changeResponse(hasMethod(http.MethodPost), replaceCode(201, 200)), `^CR-(01|05|07|16|20)/typed$`},
	{"answers 501 to large chunked bodies", withoutCode(413), `^CR-09(/chunked)?/typed$`},
	{"leaves the annotations out of responses to POST", changeBody(hasMethod(http.MethodPost), replaceText(`"annotations":`, `"notes":`)), `^CR-01/typed$`},
	{"returns another type than the stored one", changeBody(hasMethod(http.MethodGet), replaceText(`"type":"Opaque"`, `"type":"opaque"`)), `^CR-15/typed$`},
	{"returns the first cause only", changeBody(hasMethod(http.MethodPost), replacePattern(`"causes":\[(\{[^}]*\}),.*?\]`, `"causes":[$1]`)), `^(CR-12|NM-22)/typed$`},
	{"answers 200 to GET of an absent object", changeResponse(hasMethod(http.MethodGet), replaceCode(404, 200)), `^CR-13/typed$`},
	{"answers 201 to bodies of a wrong kind", changeResponse(hasMethod(http.MethodPost), replaceCode(400, 201)), `^CR-((02|03|04|06|11|14)/typed|02/served)$`},
	{"requires a kind in bodies", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPost && !strings.Contains(readBody(r), `"kind":`) {
			setBody(r, "")
		}
	}), `^CR-05/typed$`},
	{"leaves the body out of decoding errors", changeBody(hasMethod(http.MethodPost), replacePattern(`unrecognized \(.*?\)`, `unrecognized`)), `^CR-06/typed$`},
	{"requires a Content-Type", changeRequest(func(r *http.Request) {
		if r.Header.Get("Content-Type") == "" {
			r.Header.Set("Content-Type", "text/plain")
		}
	}), `^CR-07/typed$`},
	{"reads any Content-Type as JSON", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPost {
			r.Header.Set("Content-Type", "application/json")
		}
	}), `^CR-(08|14)/typed$`},
	{"answers 501 instead of 413", withoutCode(413), `^CR-(09|14)/typed$`},
	{"validates options before the body size", changeRequest(func(r *http.Request) {
		if r.URL.Query().Has("dryRun") && r.ContentLength > 1<<20 {
			setBody(r, "{}")
		}
	}), `^CR-14/(typed|put/typed)$`},
	{"adds fields to created objects", changeBody(hasMethod(http.MethodPost), replaceText(`"metadata":{`, `"data":{},"metadata":{`)), `^CR-(01|16)/typed$`},
	{"answers 201 to the second create of a name", changeResponse(hasMethod(http.MethodPost), replaceCode(409, 201)), `^CR-20/typed$`},
	{"rejects large objects", changeRequest(func(r *http.Request) {
		if r.ContentLength > 500_000 {
			r.Method = "BREW"
		}
	}), `^CR-(09|10|18)/typed$`},
}

// replaceCode replaces a code.
func replaceCode(code, instead int) func(*http.Response) {
	return func(r *http.Response) {
		if r.StatusCode == code {
			r.StatusCode = instead
		}
	}
}

// failEveryNth answers a Conflict to each nth request of a method.
func failEveryNth(method string, n int64) fault {
	var seen atomic.Int64
	return changeResponse(hasMethod(method), func(r *http.Response) {
		if seen.Add(1)%n == 0 {
			r.StatusCode = http.StatusConflict
		}
	})
}

// countUp increases the resourceVersion with each response to these requests.
func countUp(when func(*http.Request) bool) fault {
	var seen atomic.Int64
	return changeBody(when, func(s string) string { return addToNumber(`"resourceVersion":"`, int(seen.Add(1)))(s) })
}

// writeAndReject changes the object of a PUT and answers an error.
func writeAndReject(next http.RoundTripper) http.RoundTripper {
	return roundTripFunc(func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err != nil || req.Method != http.MethodPut || resp.StatusCode < 400 {
			return resp, err
		}
		patch := req.Clone(req.Context())
		patch.Method = http.MethodPatch
		patch.Header.Set("Content-Type", "application/merge-patch+json")
		setBody(patch, `{"metadata":{"annotations":{"half":"done"}}}`)
		modified, err := next.RoundTrip(patch)
		if err != nil {
			return nil, err
		}
		if _, err := io.Copy(io.Discard, modified.Body); err != nil {
			return nil, err
		}
		return resp, modified.Body.Close()
	})
}
