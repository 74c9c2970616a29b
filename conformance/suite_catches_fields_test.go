package conformance_test

import (
	"net/http"
	"strings"
)

// fieldFaults are about field validation, dry runs and warnings.
var fieldFaults = []faultyServer{
	{"never warns", changeResponse(anyRequest, func(r *http.Response) { r.Header.Del("Warning") }), `^(FV-(01|03|03/nested|03/yaml|04|10|10/apply)|WN-0[1-5])/typed$`},
	{"is never strict", setParameter("fieldValidation", "Warn"), `^FV-(01|02|03/yaml|05|05/yaml|06|07|10/apply)/typed$`},
	{"is always strict", setParameter("fieldValidation", "Strict"), `^FV-(01|02|07)/typed$`},
	{"ignores what it does not know", changeRequest(func(r *http.Request) {
		if q := r.URL.Query(); !q.Has("fieldValidation") {
			q.Set("fieldValidation", "Ignore")
			r.URL.RawQuery = q.Encode()
		}
	}), `^(FV-(01|03|04|10)|WN-0[1-4])/typed$`},
	{"stores what it does not know", changeBody(hasMethod(http.MethodGet), replaceText(`"metadata":{`, `"bogus":1,"metadata":{`)), `^FV-08/typed$`},
	{"stores the first of two values", changeRequestBody(anyRequest, replaceText(`"k":"first","k":"last"`, `"k":"last","k":"first"`)), `^FV-(03|07|08)/typed$`},
	{"takes any type", changeRequestBody(anyRequest, replaceText(`{"k":5}`, `{"k":"5"}`)), `^FV-09/typed$`},
	{"has no 400 for fields", withoutCode(400), `^FV-(01|05|09)/typed$`},
	{"has no 422 for fields", withoutCode(422), `^(FV-0[26]|DR-(0[236]|02/case))/typed$`},
	{"forgets warnings of refusals", changeResponse(anyRequest, func(r *http.Response) {
		if r.StatusCode >= http.StatusBadRequest {
			r.Header.Del("Warning")
		}
	}), `^(FV-04|WN-02|WN-05)/typed$`},

	{"does what should be tried", ignoreParameter("dryRun"), `^(DR-(01|02|02/case|03|04|05|10)/typed|DR-09)$`},
	{"knows no dryRun", setParameter("dryRun", "nothing"), `^DR-(01|04|05|06|10)/typed$`},
	{"agrees to all that is tried", changeResponse(isDryRun, func(r *http.Response) { r.StatusCode = http.StatusOK }), `^DR-(01|02|02/case|03|05|06)/typed$`},
	{"makes nothing up for a try", changeBody(isDryRun, replaceText(`"uid":`, `"id":`)), `^DR-(05|10)/typed$`},
	{"tells how a try would have ended", changeBody(isDryRun, replaceText(`"status":"Success"`, `"status":"Failure"`)), `^DR-10/typed$`},

	{"warns in words of its own", changeWarnings(func(text string) string { return strings.Replace(text, "299", "199", 1) }), `^WN-01/typed$`},
	{"does not quote", changeWarnings(func(text string) string { return strings.ReplaceAll(text, `\`, "") }), `^WN-01/typed$`},
	{"warns twice", changeResponse(anyRequest, func(r *http.Response) { r.Header["Warning"] = append(r.Header["Warning"], r.Header["Warning"]...) }), `^(FV-03|WN-0[1-5])/typed$`},
	{"refuses with a warning", changeResponse(anyRequest, func(r *http.Response) {
		if r.Header.Get("Warning") != "" {
			r.StatusCode = http.StatusBadRequest
		}
	}), `^(FV-(01|03|04|10)|WN-02)/typed$`},
	{"does not cut warnings", changeWarnings(func(text string) string { return strings.Replace(text, "xxx", "xxxxxx", 1) }), `^WN-04/typed$`},
	{"does not name what comes next", changeWarnings(func(text string) string { return strings.Replace(text, "use discovery", "use", 1) }), `^WN-05/typed$`},
}

func isDryRun(req *http.Request) bool { return req.URL.Query().Has("dryRun") }

// changeWarnings changes the Warning headers of answers.
func changeWarnings(change func(string) string) fault {
	return changeResponse(anyRequest, func(r *http.Response) {
		for i, text := range r.Header["Warning"] {
			r.Header["Warning"][i] = change(text)
		}
	})
}
