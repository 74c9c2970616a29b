package conformance_test

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// ruleFaults break single rules in ways that the other faulty servers do not.
var ruleFaults = []faultyServer{
	// Names and metadata.
	{"answers 201 to a create under a used name", changeResponse(hasMethod(http.MethodPost), replaceCode(http.StatusConflict, http.StatusCreated)), `^NM-0[239]/typed$`},
	{"does not report that the object of a used name is terminating", changeBody(hasMethod(http.MethodPost), replaceText("object is being deleted: ", "")), `^(NM-03|DL-09)/typed$`},
	{"uses generateName as the name", changeBody(hasMethod(http.MethodPost), replacePattern(`"name":"base-[^"]*"`, `"name":"base-"`)), `^NM-05/typed$`},
	{"uses the name of the path for the name of a PUT body", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPut {
			name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
			setBody(r, withMetadata(readBody(r), "name", json.RawMessage(strconv.Quote(name))))
		}
	}), `^NM-15/typed$`},
	{"ignores the namespace of a created object", dropMetadata(http.MethodPost, "namespace"), `^NM-17/typed$`},
	{"increments the generation at metadata changes", changeBodyAfter(func(r *http.Request, sent string) bool {
		return r.Method == http.MethodPatch && strings.Contains(sent, `"labels"`) && !strings.Contains(sent, `"spec"`)
	}, addToNumber(`"generation":`, 1)), `^MD-15/typed$`},
	{"names the resource instead of the kind in failed preconditions", changeBody(hasMethod(http.MethodDelete), replaceText(`"kind":"Secret"`, `"kind":"secrets"`)), `^(OC-20|DL-1[01])/typed$`},
	{"accepts PUT without a resourceVersion", changeResponse(hasMethod(http.MethodPut), replaceCode(http.StatusUnprocessableEntity, http.StatusOK)), `^OC-04/lease$`},
	{"stores objects of any size", changeResponse(hasMethod(http.MethodPost), replaceCode(http.StatusInternalServerError, http.StatusCreated)), `^CR-10/typed$`},
	{"has one error for all objects that are too large", changeBody(hasMethod(http.MethodPost),
		replacePattern(`rpc error: code = ResourceExhausted [^"]*`, "etcdserver: request is too large")), `^CR-10/typed$`},
	{"limits the size of objects in dry runs", changeResponse(func(r *http.Request) bool {
		return r.URL.Query().Has("dryRun")
	}, replaceCode(http.StatusCreated, http.StatusInternalServerError)), `^CR-10/typed$`},

	// Lists.
	{"leaves kind and apiVersion out of custom list items", changeBody(isWidgets, removeItemTypes), `^LS-02/custom$`},
	{"lists the objects of all namespaces", changeRequest(func(r *http.Request) {
		if isList(r) && strings.HasSuffix(r.URL.Path, "/secrets") {
			r.URL.Path = "/api/v1/secrets"
		}
	}), `^(DL-28|SE-05)/typed$`},
	{"skips the first item of a later page", changeBody(isLaterPage, editItems(func(items []json.RawMessage) []json.RawMessage {
		return items[min(1, len(items)):]
	})), `^CH-0[24]/typed$`},
	{"repeats an item on a later page", changeBody(isLaterPage, editItems(func(items []json.RawMessage) []json.RawMessage {
		return append(items[:min(1, len(items)):1], items...)
	})), `^CH-0[24]/typed$`},
	{"counts one remaining item too many", changeBody(isList, addToNumber(`"remainingItemCount":`, 1)), `^CH-(05/count|23/metadata)/typed$`},
	{"returns the count of the first page on all pages", changeBody(isLaterPage, replacePattern(`"remainingItemCount":\d+`, `"remainingItemCount":3`)), `^CH-05/count/typed$`},
	{"does not store labels with an empty value", changeRequestBody(hasMethod(http.MethodPost), replaceText(`"labels":{"role":""}`, `"labels":{}`)), `^SE-01/empty/typed$`},

	// Watches.
	{"sends the second event before the first", changeEvents(func(before []string, event string) []string {
		switch len(before) {
		case 0:
			return nil
		case 1:
			return []string{event, before[0]}
		}
		return []string{event}
	}), `^WA-0[34]/typed$`},
	{"sends no initial events without resourceVersion", changeRequest(func(r *http.Request) {
		if q := r.URL.Query(); isWatch(r) && !q.Has("resourceVersion") {
			q.Set("sendInitialEvents", "false")
			q.Set("resourceVersionMatch", "NotOlderThan")
			r.URL.RawQuery = q.Encode()
		}
	}), `^WA-0[58]/typed$`},
	{"sends DELETED with the previous resourceVersion", changeEvents(func(before []string, event string) []string {
		version := regexp.MustCompile(`"resourceVersion":"\d+"`)
		if strings.Contains(event, `"type":"DELETED"`) && len(before) > 0 {
			event = version.ReplaceAllString(event, version.FindString(before[len(before)-1]))
		}
		return []string{event}
	}), `^WA-(09|10)/typed$`},
	{"sends MODIFIED for an object that begins to match", replaceInEvents(`{"type":"ADDED"`, `{"type":"MODIFIED"`), `^WA-12/typed$`},
	{"sends no ERROR events", changeEvents(func(_ []string, event string) []string {
		if strings.HasPrefix(event, `{"type":"ERROR"`) {
			return nil
		}
		return []string{event}
	}), `^((WA-(18/after|19|20)|EX-0[13])/typed|CD-08/expired)$`},
	{"does not end streams", keepStreamsOpen, `^(CD-08/(change|expired|watch)|WA-1[69]/typed)$`},
	{"sends the end of the initial events first", changeEvents(func(before []string, event string) []string {
		if len(before) == 0 {
			return []string{`{"type":"BOOKMARK","object":{"kind":"Secret","apiVersion":"v1","metadata":{"resourceVersion":"1","annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n", event}
		}
		return []string{event}
	}), `^(BM-06|SI-(01|14))/typed$`},
	{"leaves retryAfterSeconds out of ERROR events", replaceInEvents(`"retryAfterSeconds":1`, `"retryAfterSeconds":0`), `^SI-09/typed$`},
	{"answers 500 after the timeout of a request", changeResponse(anyRequest, replaceCode(http.StatusGatewayTimeout, http.StatusInternalServerError)), `^EX-08/typed$`},

	// Writes.
	{"names itself in warnings", changeWarnings(func(text string) string { return strings.Replace(text, "299 -", "299 server", 1) }), `^WN-01/typed$`},
	{"drops other managers at an apply", changeBody(isApply, editManagedFields(func(entries []map[string]any) []map[string]any {
		return entries[:min(1, len(entries))]
	})), `^SA-(08|18)/typed$`},
	{"does not track updates in managedFields", changeBody(anyRequest, editManagedFields(func(entries []map[string]any) []map[string]any {
		var left []map[string]any
		for _, entry := range entries {
			if entry["operation"] != "Update" {
				left = append(left, entry)
			}
		}
		return left
	})), `^(SA-11|MD-25)/typed$`},
	{"names the manager by the User-Agent only", ignoreParameter("fieldManager"), `^SA-25/typed$`},
	{"ignores finalizers", dropMetadata(http.MethodPost, "finalizers"), `^DL-0[3458]/typed$`},
	{"ignores gracePeriodSeconds=0", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodDelete {
			setBody(r, strings.ReplaceAll(readBody(r), `"gracePeriodSeconds":0`, `"gracePeriodSeconds":45`))
			r.URL.RawQuery = strings.ReplaceAll(r.URL.RawQuery, "gracePeriodSeconds=0", "")
		}
	}), `^DL-23/(now|later|events)$`},
	{"extends the grace period of a terminating pod", reflectGracePeriod, `^DL-24$`},
	{"changes the finalizers of a namespace by a patch", changeBody(hasMethod(http.MethodPatch), replaceText(`"finalizers":["kubernetes","conformance.example.com/hold"]`, `"finalizers":["kubernetes"]`)), `^NS-07/replace$`},
	{"writes the status of custom objects by the main path", changeRequest(func(r *http.Request) {
		if isUpdate(r) && strings.HasSuffix(r.URL.Path, "/dials/a") {
			r.URL.Path += "/status"
		}
	}), `^SU-01/custom$`},
	{"stores the status of a created pod", changeBody(hasMethod(http.MethodPost), replaceText(`"status":{`, `"status":{"message":"created",`)), `^SU-01/typed$`},

	// Representations, paths and discovery.
	{"uses other magic bytes in protobuf", changeBody(anyRequest, func(s string) string {
		if rest, ok := strings.CutPrefix(s, "k8s\x00"); ok {
			return "k9s\x00" + rest
		}
		return s
	}), `^PB-0[126]$`},
	{"swaps kind and apiVersion in protobuf envelopes", changeBody(anyRequest, swapTypeMeta), `^PB-0[126]$`},
	{"ignores the quality values of Accept", changeAccept(replacePattern(`;q=[0-9.]+`, "")), `^CN-04$`},
	{"matches resource names without case", changePath(replaceText("/Secrets", "/secrets")), `^PV-26/typed$`},
	{"leaves the short names of namespaces out of discovery", changeBody(hasPathSuffix("/api/v1"), replaceText(`"shortNames":["ns"]`, `"shortNames":[]`)), `^DI-04$`},

	// Custom resources.
	{"establishes CRDs whose names are not accepted", changeBody(isDefinition, replaceText(`"type":"Established","status":"False"`, `"type":"Established","status":"True"`)), `^CD-14(/list|/short|/singular)?$`},
	{"accepts names that another CRD has", changeBody(isDefinition, replaceText(`"type":"NamesAccepted","status":"False"`, `"type":"NamesAccepted","status":"True"`)), `^CD-14(/(list|short|singular|release|later))?$`},
	{"creates objects of a terminating CRD", changeResponse(anyRequest, replaceCode(http.StatusForbidden, http.StatusCreated)), `^CD-07$`},
	{"removes a CRD before its objects", hideTerminating(func(r *http.Request) bool { return r.Method == http.MethodGet && isDefinition(r) }), `^CD-08/finalizers$`},
	{"rejects updates of objects that have become invalid", changeResponse(func(r *http.Request) bool {
		return r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/gears/")
	}, replaceCode(http.StatusOK, http.StatusUnprocessableEntity)), `^CD-13(/items|/required|/rules)?$`},
	{"drops the labels of objects that it converts", changeBody(func(r *http.Request) bool {
		return r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/gadgets/")
	}, func(s string) string { return withMetadata(s, "labels", nil) }), `^SA-34/custom$`},
}

// changeBodyAfter changes the bodies of responses to requests that meet a condition. The condition
// gets the body of the request.
func changeBodyAfter(when func(req *http.Request, sent string) bool, change func(string) string) fault {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(req *http.Request) (*http.Response, error) {
			if !when(req, readBody(req)) {
				return next.RoundTrip(req)
			}
			return changeBody(anyRequest, change)(next).RoundTrip(req)
		})
	}
}

// reflectGracePeriod answers a DELETE with the gracePeriodSeconds of the request.
func reflectGracePeriod(next http.RoundTripper) http.RoundTripper {
	sent := regexp.MustCompile(`"gracePeriodSeconds":(\d+)`)
	return roundTripFunc(func(req *http.Request) (*http.Response, error) {
		seconds := sent.FindStringSubmatch(readBody(req))
		if req.Method != http.MethodDelete || seconds == nil {
			return next.RoundTrip(req)
		}
		return changeBody(anyRequest, replacePattern(`"deletionGracePeriodSeconds":\d+`, `"deletionGracePeriodSeconds":`+seconds[1]))(next).RoundTrip(req)
	})
}

// removeItemTypes removes kind and apiVersion from the items of a list.
func removeItemTypes(s string) string {
	return editItems(func(items []json.RawMessage) []json.RawMessage {
		for i, item := range items {
			var fields map[string]json.RawMessage
			if json.Unmarshal(item, &fields) != nil {
				continue
			}
			delete(fields, "kind")
			delete(fields, "apiVersion")
			items[i], _ = json.Marshal(fields)
		}
		return items
	})(s)
}

// editManagedFields changes the managedFields of an object.
func editManagedFields(change func([]map[string]any) []map[string]any) func(string) string {
	return func(s string) string {
		value, found := metadataOf(s, "managedFields")
		var entries []map[string]any
		if !found || json.Unmarshal(value, &entries) != nil {
			return s
		}
		changed, err := json.Marshal(change(entries))
		if err != nil {
			return s
		}
		return withMetadata(s, "managedFields", changed)
	}
}

// swapTypeMeta exchanges kind and apiVersion in the envelope of a protobuf message.
func swapTypeMeta(s string) string {
	rest, ok := strings.CutPrefix(s, "k8s\x00")
	var u runtime.Unknown
	if !ok || u.Unmarshal([]byte(rest)) != nil {
		return s
	}
	u.APIVersion, u.Kind = u.Kind, u.APIVersion
	out, err := u.Marshal()
	if err != nil {
		return s
	}
	return "k8s\x00" + string(out)
}

// hideTerminating answers 404 instead of an object that has a deletionTimestamp.
func hideTerminating(when func(*http.Request) bool) fault {
	return changeResponse(when, func(resp *http.Response) {
		read, err := io.ReadAll(resp.Body)
		if err != nil {
			panic(err) // of the test's own server
		}
		resp.Body = io.NopCloser(strings.NewReader(string(read)))
		if strings.Contains(string(read), `"deletionTimestamp"`) {
			resp.StatusCode = http.StatusNotFound
		}
	})
}

// keepStreamsOpen blocks at the end of a watch until the client closes it.
func keepStreamsOpen(next http.RoundTripper) http.RoundTripper {
	return roundTripFunc(func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err == nil && isWatch(req) {
			resp.Body = &openBody{resp.Body, req}
		}
		return resp, err
	})
}

type openBody struct {
	io.ReadCloser
	req *http.Request
}

func (b *openBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && n == 0 {
		<-b.req.Context().Done()
		err = b.req.Context().Err()
	}
	return n, err
}
