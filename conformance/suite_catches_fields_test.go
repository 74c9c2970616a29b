package conformance_test

import (
	"net/http"
	"strings"
)

// fieldFaults break rules about field validation, dry runs and warnings.
var fieldFaults = []faultyServer{
	{"sends no warnings", changeResponse(anyRequest, func(r *http.Response) { r.Header.Del("Warning") }), `^(FV-(01|03|03/nested|03/yaml|04|10|10/apply)|WN-0[1-5])/typed$`},
	{"ignores fieldValidation=Strict", setParameter("fieldValidation", "Warn"), `^FV-(01|02|03/yaml|05|05/yaml|06|07|10/apply)/typed$`},
	{"reads every fieldValidation as Strict", setParameter("fieldValidation", "Strict"), `^FV-(01|02|07)/typed$`},
	{"reads a missing fieldValidation as Ignore", changeRequest(func(r *http.Request) {
		if q := r.URL.Query(); !q.Has("fieldValidation") {
			q.Set("fieldValidation", "Ignore")
			r.URL.RawQuery = q.Encode()
		}
	}), `^(FV-(01|03|04|10)|WN-0[1-4])/typed$`},
	{"returns unknown fields", changeBody(hasMethod(http.MethodGet), replaceText(`"metadata":{`, `"bogus":1,"metadata":{`)), `^FV-08/typed$`},
	{"stores the first of two values of a field", changeRequestBody(anyRequest, replaceText(`"k":"first","k":"last"`, `"k":"last","k":"first"`)), `^FV-(03|07|08)/typed$`},
	{"converts numbers to strings", changeRequestBody(anyRequest, replaceText(`{"k":5}`, `{"k":"5"}`)), `^FV-09/typed$`},
	{"answers 501 to field errors instead of 400", withoutCode(400), `^FV-(01|05|09)/typed$`},
	{"answers 501 to field errors instead of 422", withoutCode(422), `^(FV-0[26]|DR-(0[236]|02/case))/typed$`},
	{"sends no warnings with errors", changeResponse(anyRequest, func(r *http.Response) {
		if r.StatusCode >= http.StatusBadRequest {
			r.Header.Del("Warning")
		}
	}), `^(FV-04|WN-02|WN-05)/typed$`},

	{"ignores dryRun", ignoreParameter("dryRun"), `^(DR-(01|02|02/case|03|04|05|10)/typed|DR-09)$`},
	{"rejects dryRun=All", setParameter("dryRun", "nothing"), `^DR-(01|04|05|06|10)/typed$`},
	{"answers 200 to every dry run", changeResponse(isDryRun, func(r *http.Response) { r.StatusCode = http.StatusOK }), `^DR-(01|02|02/case|03|05|06)/typed$`},
	{"generates no uid in dry runs", changeBody(isDryRun, replaceText(`"uid":`, `"id":`)), `^DR-(05|10)/typed$`},
	{"reports failure for dry runs of DELETE", changeBody(isDryRun, replaceText(`"status":"Success"`, `"status":"Failure"`)), `^DR-10/typed$`},

	{"sends warnings with another code", changeWarnings(func(text string) string { return strings.Replace(text, "299", "199", 1) }), `^WN-01/typed$`},
	{"does not quote warnings", changeWarnings(func(text string) string { return strings.ReplaceAll(text, `\`, "") }), `^WN-01/typed$`},
	{"sends every warning twice", changeResponse(anyRequest, func(r *http.Response) { r.Header["Warning"] = append(r.Header["Warning"], r.Header["Warning"]...) }), `^(FV-03|WN-0[1-5])/typed$`},
	{"rejects every request that has a warning", changeResponse(anyRequest, func(r *http.Response) {
		if r.Header.Get("Warning") != "" {
			r.StatusCode = http.StatusBadRequest
		}
	}), `^(FV-(01|03|04|10)|WN-02)/typed$`},
	{"does not truncate warnings", changeWarnings(func(text string) string { return strings.Replace(text, "xxx", "xxxxxx", 1) }), `^WN-04/typed$`},
	{"leaves the replacement out of deprecation warnings", changeWarnings(func(text string) string { return strings.Replace(text, "use discovery", "use", 1) }), `^WN-05/typed$`},
}

func isDryRun(req *http.Request) bool { return req.URL.Query().Has("dryRun") }

// changeWarnings changes the Warning headers of responses.
func changeWarnings(change func(string) string) fault {
	return changeResponse(anyRequest, func(r *http.Response) {
		for i, text := range r.Header["Warning"] {
			r.Header["Warning"][i] = change(text)
		}
	})
}
