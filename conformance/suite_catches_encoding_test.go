package conformance_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

const protobufMedia = "application/vnd.kubernetes.protobuf"

// encodingFaults break rules about encodings and their negotiation.
var encodingFaults = []faultyServer{
	{"answers JSON to requests for protobuf and YAML", changeAccept(func(accept string) string {
		if strings.Contains(accept, "protobuf") || strings.Contains(accept, "yaml") {
			return "application/json"
		}
		return accept
	}), `^(PB-0[126]|CN-0[245678])$`},
	{"reads protobuf as JSON", changeRequest(func(r *http.Request) {
		if r.Header.Get("Content-Type") == protobufMedia {
			r.Header.Set("Content-Type", "application/json")
		}
	}), `^(PB-0[17]|CN-07)$`},
	{"answers 201 to malformed bodies", changeResponse(hasMethod(http.MethodPost), replaceCode(400, 201)), `^(PB-07(/kind)?|CN-02/document)$`},
	{"prefers YAML to JSON", changeAccept(func(accept string) string {
		if accept == "" || strings.Contains(accept, "*/*") {
			return "application/yaml"
		}
		return accept
	}), `^CN-0[14]$`},
	{"answers 501 instead of 406 to any Accept", withoutCode(406), `^(CB-01|CN-03|CN-08)$`},
	{"answers 501 instead of 415 to any Content-Type", withoutCode(415), `^CB-01$`},
	{"sets the Content-Type of CBOR on JSON", changeResponse(anyRequest, func(r *http.Response) {
		if strings.Contains(r.Request.Header.Get("Accept"), "cbor") {
			r.Header.Set("Content-Type", "application/cbor")
		}
	}), `^CB-04$`},
	{"reads only the first media type of Accept", changeAccept(func(accept string) string {
		first, _, _ := strings.Cut(accept, ",")
		return first
	}), `^CN-04$`},
	{"ignores pretty", ignoreParameter("pretty"), `^CN-05$`},
	{"indents all responses", changeRequest(func(r *http.Request) { r.URL.RawQuery += "&pretty=1" }), `^CN-05$`},
	{"answers in the media type of the request body", changeRequest(func(r *http.Request) {
		if sent := r.Header.Get("Content-Type"); r.Method == http.MethodPost && sent != "" {
			r.Header.Set("Accept", sent)
		}
	}), `^CN-07$`},
	{"does not compress responses", changeRequest(func(r *http.Request) { r.Header.Set("Accept-Encoding", "identity") }), `^(HT-02|SI-17/gzip/typed)$`},
	{"sets no Vary on compressed responses", changeResponse(isNotWatch, func(r *http.Response) { r.Header.Del("Vary") }), `^HT-02$`},
	{"sets Content-Encoding gzip on all responses", changeResponse(isNotWatch, func(r *http.Response) { r.Header.Set("Content-Encoding", "gzip") }), `^HT-0[23]$`},
	{"sets a wrong Content-Length", changeResponse(isNotWatch, func(r *http.Response) { r.Header.Set("Content-Length", "7") }), `^HT-13$`},
}

// cborFaults break rules of servers with CBOR.
var cborFaults = []faultyServer{
	{"leaves the CBOR tag out", changeBody(anyRequest, func(s string) string { return strings.TrimPrefix(s, "\xd9\xd9\xf7") }), `^CB-0[34]$`},
	{"answers JSON to requests for CBOR", changeAccept(func(accept string) string { return strings.ReplaceAll(accept, "application/cbor", "application/json") }), `^CB-0(2|2/watch|3)$`},
	{"answers 501 instead of 200 to requests in CBOR", withoutCode(200), `^CB-02$`},
	{"sets application/cbor on watches in CBOR", changeResponse(isWatch, func(r *http.Response) { r.Header.Set("Content-Type", "application/cbor") }), `^CB-02/watch$`},
}

// changeAccept changes the Accept header.
func changeAccept(change func(string) string) fault {
	return changeRequest(func(r *http.Request) {
		if changed := change(r.Header.Get("Accept")); changed != "" {
			r.Header.Set("Accept", changed)
		}
	})
}

// TestCBOR runs the cases about encodings against a correct server with CBOR and against each
// faulty one.
func TestCBOR(t *testing.T) {
	run := func(t *testing.T, cases string, tell fault) conformance.Report {
		c := configInMemory(t, fakeapi.WithFeature(fakeapi.CBOR, true))
		c.Client = &http.Client{Transport: tell(c.Client.Transport)}
		c.Run = regexp.MustCompile(cases)
		report, err := conformance.Execute(t.Context(), c)
		require.NoError(t, err)
		require.NotEmpty(t, report.Results)
		return report
	}
	synctest.Test(t, func(t *testing.T) {
		report := run(t, `^(CB|PB|CN)-`, func(next http.RoundTripper) http.RoundTripper { return next })
		require.NoError(t, report.Err())
		for _, result := range report.Results {
			if strings.HasPrefix(result.Case.ID, "CB-") && result.Case.ID != "CB-01" {
				require.Equal(t, conformance.Passed, result.Outcome, "%s %s", result.Case.ID, result.Reason)
			}
		}
	})
	for _, one := range cborFaults {
		t.Run(one.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, result := range run(t, one.failing, one.fault).Results {
					require.Equal(t, conformance.Failed, result.Outcome, "%s %s", result.Case.ID, result.Reason)
				}
			})
		})
	}
}
