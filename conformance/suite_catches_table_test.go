package conformance_test

import (
	"net/http"
	"regexp"
	"strings"
)

// tableFaults break rules about Tables and metadata-only objects.
var tableFaults = []faultyServer{
	{"serves no Tables", replaceAccept("as=Table;", ""), `^(TB-(01|02|03|04|05|06|09|11|12)/typed|TB-08|WA-35/typed|(CH-23|SI-16)/table/typed)$`},
	{"serves Tables in v1 only", replaceAccept("v=v1beta1", "v=v1"), `^(TB-02|PM-01)/typed$`},
	{"serves any version of Tables as v1", replaceAccept("v=v9", "v=v1"), `^TB-03/typed$`},
	{"leaves the format out of columns", changeBody(isNotWatch, replaceText(`"format":`, `"shape":`)), `^TB-04/typed$`},
	{"ignores includeObject", ignoreParameter("includeObject"), `^TB-0[56]/typed$`},
	{"includes full objects in Tables by default", changeRequest(func(r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), "as=Table") && !strings.Contains(r.URL.RawQuery, "includeObject") {
			r.URL.RawQuery += "&includeObject=Object"
		}
	}), `^(TB-0[125]/typed|SI-16/table/typed|WA-35/typed)$`},
	{"prints the column Age for types without a printer", changeBody(isNotWatch, replaceText("Created At", "Age")), `^TB-08$`},
	{"prints an age instead of a time", changeBody(isNotWatch, func(s string) string {
		return regexp.MustCompile(`("cells":\["[^"]*",)"[^"]*"`).ReplaceAllString(s, `$1"5m"`)
	}), `^TB-08$`},
	{"leaves remainingItemCount out of Tables", changeBody(isNotWatch, func(s string) string {
		if strings.Contains(s, `"columnDefinitions"`) {
			s = replaceText(`"remainingItemCount"`, `"left"`)(s)
		}
		return s
	}), `^(TB-09|CH-23/table)/typed$`},
	{"answers 200 instead of an error for Tables", changeResponse(isNotWatch, func(r *http.Response) {
		if strings.Contains(r.Request.Header.Get("Accept"), "as=Table") && r.StatusCode >= http.StatusNotFound {
			r.StatusCode = http.StatusOK
		}
	}), `^TB-1[01]/typed$`},
	{"answers protobuf to requests for Tables in protobuf", changeRequest(func(r *http.Request) {
		if accept := r.Header.Get("Accept"); strings.Contains(accept, "protobuf;as=Table") {
			r.Header.Set("Accept", "application/vnd.kubernetes.protobuf")
		}
	}), `^TB-11/typed$`},
	{"serves watches in YAML", changeRequest(func(r *http.Request) {
		if isWatch(r) {
			r.Header.Set("Accept", strings.Replace(r.Header.Get("Accept"), "yaml", "json", 1))
		}
	}), `^TB-12/typed$`},
	{"sends columns with every event", replaceInEvents(`"columnDefinitions":null`, `"columnDefinitions":[{"name":"Name"}]`), `^WA-35/typed$`},
	{"sends no columns", replaceInEvents(`"columnDefinitions":[`, `"columns":[`), `^WA-35/typed$`},

	{"adds a field to PartialObjectMetadata", changeBody(isNotWatch, replaceText(`"apiVersion":"meta.k8s.io/v1",`, `"apiVersion":"meta.k8s.io/v1","type":"Opaque",`)), `^PM-0[16]/typed$`},
	{"lists full objects instead of metadata", replaceAccept("as=PartialObjectMetadataList;", "as="), `^PM-0[24]/typed$`},
	{"returns a list instead of an object", replaceAccept("as=PartialObjectMetadata;", "as=PartialObjectMetadataList;"), `^PM-0[1367]/typed$`},
	{"serves PartialObjectMetadata in JSON only", changeRequest(func(r *http.Request) {
		if accept := r.Header.Get("Accept"); strings.Contains(accept, "as=Partial") {
			r.Header.Set("Accept", strings.Replace(accept, "vnd.kubernetes.protobuf", "json", 1))
		}
	}), `^PM-05/typed$`},
	{"answers writes with full objects", changeRequest(func(r *http.Request) {
		if r.Method != http.MethodGet {
			r.Header.Set("Accept", "application/json")
		}
	}), `^PM-06/typed$`},
	{"leaves the annotations out of PartialObjectMetadata", changeBody(isNotWatch, func(s string) string {
		if strings.Contains(s, `"kind":"PartialObjectMetadata"`) {
			s = replaceText(`"annotations"`, `"notes"`)(s)
		}
		return s
	}), `^PM-07/typed$`},
}

// replaceAccept replaces text in the Accept header. "as=" without a value means no alternative
// form.
func replaceAccept(old, with string) fault {
	return changeRequest(func(r *http.Request) {
		accept := strings.ReplaceAll(r.Header.Get("Accept"), old, with)
		if accept != r.Header.Get("Accept") && !strings.Contains(accept, "as=P") && !strings.Contains(accept, "as=T") {
			accept = strings.TrimSuffix(strings.Split(accept, ";")[0], ",")
		}
		r.Header.Set("Accept", accept)
	})
}
