package conformance_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
)

// metaFaults break rules about the metadata of objects.
var metaFaults = []faultyServer{
	// Fields that the server sets.
	{"leaves the kind out of responses to PATCH", changeBody(hasMethod(http.MethodPatch), replaceText(`"kind":"Secret",`, ``)), `^MD-01/typed$`},
	{"returns uids that are not UUIDs", changeBody(anyRequest, replacePattern(`"uid":"([0-9a-f]{8})-`, `"uid":"$1`)), `^MD-0[23]/typed$`},
	{"returns one uid for all objects", changeBody(anyRequest, replacePattern(`"uid":"[0-9a-f-]{36}"`, `"uid":"01234567-89ab-cdef-0123-456789abcdef"`)), `^MD-0[24]/typed$`},
	{"stores the uid of the client", reflectMetadata(http.MethodPost, "uid"), `^MD-03/typed$`},
	{"stores the creationTimestamp of a create", reflectMetadata(http.MethodPost, "creationTimestamp"), `^MD-06/typed$`},
	{"clears the creationTimestamp at a PUT without one", reflectMetadata(http.MethodPut, "creationTimestamp"), `^MD-07/typed$`},
	{"stores the creationTimestamp of a patch", reflectMetadata(http.MethodPatch, "creationTimestamp"), `^MD-07/typed$`},
	{"returns timestamps with fractions of seconds", changeBody(anyRequest, replacePattern(`(T\d\d:\d\d:\d\d)Z"`, `$1.5Z"`)), `^MD-08/typed$`},
	{"returns timestamps in another time zone", changeBody(anyRequest, replacePattern(`(T\d\d:\d\d:\d\d)Z"`, `$1+02:00"`)), `^MD-0[68]/typed$`},
	{"stores the deletionTimestamp of a create", reflectMetadata(http.MethodPost, "deletionTimestamp"), `^MD-09/typed$`},
	{"stores the deletionGracePeriodSeconds of a create", reflectMetadata(http.MethodPost, "deletionGracePeriodSeconds"), `^MD-09/typed$`},
	{"removes the deletionTimestamp by a patch", reflectMetadata(http.MethodPatch, "deletionTimestamp"), `^MD-10/typed$`},
	{"leaves the resourceVersion out of responses to PUT", changeBody(hasMethod(http.MethodPut), replaceText(`"resourceVersion":`, `"version":`)), `^(MD-11|OC-(01|03|17))/typed$`},
	{"ignores the resourceVersion of a create", dropMetadata(http.MethodPost, "resourceVersion"), `^MD-12/typed$`},
	{"returns the resourceVersion of the create request", reflectMetadata(http.MethodPost, "resourceVersion"), `^MD-13/typed$`},
	{"returns the selfLink of the client", reflectMetadata(http.MethodPost, "selfLink"), `^MD-24/typed$`},

	// The generation.
	{"starts the generation at 0", changeBody(anyRequest, addToNumber(`"generation":`, -1)), `^MD-(14|15|16|17)/typed$`},
	{"does not increment the generation", changeBody(anyRequest, replacePattern(`"generation":\d+`, `"generation":1`)), `^MD-(15|16)/typed$`},
	{"increments the generation at status changes", changeBody(hasPathSuffix("/status"), addToNumber(`"generation":`, 1)), `^MD-15/typed$`},
	{"stores the generation of a create", reflectMetadata(http.MethodPost, "generation"), `^MD-17/typed$`},
	{"stores the generation of a PUT", reflectMetadata(http.MethodPut, "generation"), `^MD-17/(typed|unused)$`},
	{"stores the generation of a patch", reflectMetadata(http.MethodPatch, "generation"), `^MD-17/(typed|unused)$`},
	{"ignores the generation of a create", dropMetadata(http.MethodPost, "generation"), `^MD-17/unused$`},

	// Fields that clients set.
	{"answers 501 instead of 422", withoutCode(422), `^((MD-(05|18|19|20|21|23|31|32|33)|CR-(12|13|14)|OC-15|NM-22)/typed|OC-04/lease)$`},
	{"answers 200 to invalid patches", changeResponse(hasMethod(http.MethodPatch), func(r *http.Response) {
		if r.StatusCode == 422 {
			r.StatusCode = 200
		}
	}), `^(MD-(05|18|19|23|31)|OC-15)/typed$`},
	{"returns wrong fields in causes", changeBody(anyRequest, replaceText(`"field":"metadata.`, `"field":"meta.`)), `^(MD-(05|18|19|20|21|23|31|32|33)|CR-12|NM-22)/typed$`},
	{"ignores annotations of a create", dropMetadata(http.MethodPost, "annotations"), `^(MD-19|CR-12)/typed$`},
	{"sends no warnings about owner references", changeResponse(anyRequest, func(r *http.Response) { r.Header.Del("Warning") }), `^MD-22/typed$`},
	{"stores duplicate owner references", reflectMetadata(http.MethodPatch, "ownerReferences"), `^MD-22/typed$`},
	{"matches field names without case", changeRequestBody(anyRequest, replaceText(`"Labels"`, `"labels"`)), `^MD-30/typed$`},

	// Syntax.
	{"returns no managedFields", changeBody(anyRequest, replaceText(`"managedFields":`, `"managers":`)), `^MD-25/(typed|status/typed)$`},
	{"merges the entries of two managers", changeRequest(func(r *http.Request) { r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "=two", "=one", 1) }), `^MD-25/(typed|status/typed)$`},
	{"leaves the subresource out of managedFields entries", changeBody(anyRequest, replaceText(`,"subresource":"status"`, ``)), `^MD-25/status/typed$`},
	{"returns null for missing labels", changeBody(hasMethod(http.MethodPost), replaceText(`"metadata":{`, `"metadata":{"labels":null,`)), `^MD-26/typed$`},
	{"returns empty maps for missing labels", changeBody(hasMethod(http.MethodPatch), func(s string) string {
		if strings.Contains(s, `"labels":`) {
			return s
		}
		return strings.Replace(s, `"metadata":{`, `"metadata":{"labels":{},`, 1)
	}), `^MD-26/typed$`},
	{"leaves the resourceVersion out of list items", changeBody(isList, replacePattern(`("name":"\w+".*?)"resourceVersion":`, `$1"version":`)), `^MD-27/typed$`},
	{"returns selfLink in lists", changeBody(isList, replaceText(`"metadata":{"resourceVersion"`, `"metadata":{"selfLink":"/","resourceVersion"`)), `^MD-29/typed$`},
}

// replacePattern replaces what a regular expression matches.
func replacePattern(pattern, with string) func(string) string {
	compiled := regexp.MustCompile(pattern)
	return func(s string) string { return compiled.ReplaceAllString(s, with) }
}

func readBody(req *http.Request) string {
	if req.Body == nil {
		return ""
	}
	read, err := io.ReadAll(req.Body)
	if err != nil {
		panic(err) // the body is that of the suite
	}
	setBody(req, string(read))
	return string(read)
}

func setBody(req *http.Request, body string) {
	if req.Body == nil {
		return
	}
	req.Body, req.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
}

// metadataOf returns a metadata field of a document, and whether it exists.
func metadataOf(document, field string) (json.RawMessage, bool) {
	var o struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
	}
	if json.Unmarshal([]byte(document), &o) != nil {
		return nil, false
	}
	value, found := o.Metadata[field]
	return value, found
}

// withMetadata sets a metadata field of a document, or removes it if the value is nil or null.
func withMetadata(document, field string, value json.RawMessage) string {
	var o, m map[string]json.RawMessage
	if json.Unmarshal([]byte(document), &o) != nil || json.Unmarshal(o["metadata"], &m) != nil {
		return document
	}
	if m[field] = value; value == nil || bytes.Equal(value, []byte("null")) {
		delete(m, field)
	}
	o["metadata"], _ = json.Marshal(m)
	out, _ := json.Marshal(o)
	return string(out)
}

// dropMetadata removes a metadata field from requests.
func dropMetadata(method, field string) fault {
	return changeRequest(func(req *http.Request) {
		if req.Method == method {
			setBody(req, withMetadata(readBody(req), field, nil))
		}
	})
}

// reflectMetadata returns a metadata field as it was in the request. PUT requests without it get no
// value.
func reflectMetadata(method, field string) fault {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(req *http.Request) (*http.Response, error) {
			if req.Method != method {
				return next.RoundTrip(req)
			}
			value, found := metadataOf(readBody(req), field)
			if !found && method != http.MethodPut {
				return next.RoundTrip(req)
			}
			return changeBody(anyRequest, func(s string) string { return withMetadata(s, field, value) })(next).RoundTrip(req)
		})
	}
}
