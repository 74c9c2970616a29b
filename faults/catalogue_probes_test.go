package faults_test

import (
	"strings"
	"time"
)

// catalogueProbes returns the probes of the rules of each case of the catalogue.
func catalogueProbes() map[int][]probe {
	const (
		tooOld    = "too old resource version: 5 (6)"
		tooLarge  = "Timeout: Too large resource version: 5, current: 4"
		cause     = `{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1}`
		old       = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter"
		busy      = "Too many requests, please try again later."
		forbidden = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
		noNew     = `no new finalizers can be added if the object is being deleted, found new finalizers []string{\"x/y\"}`
		someone   = `pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "ns"`
		conflict  = `Operation cannot be fulfilled on pods "a": the object has been modified; please apply your changes to the latest version and try again`
		podA1     = `{"name":"a","kind":"pods"}`
		broken    = `{"causes":[{"message":"injected by a fault rule"}]}`
		injected  = "Internal error occurred: injected by a fault rule"
		corrupt   = `StorageError: corrupt object, Code: 7, Key: /registry/pods/ns/a, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=9: unexpected EOF`
		terminal  = "Timeout: request did not complete within the allotted timeout"
	)
	expired := errorEventJSON(statusJSON(410, "Expired", tooOld, ""))
	conflicts := statusJSON(409, "Conflict", conflict, podA1)
	return map[int][]probe{
		1:  {succeeds(watchRequest, expired)},
		2:  {fails(watchRequest, 410, statusJSON(410, "Expired", tooOld, ""))},
		3:  {succeeds(watchRequest, expired).afterRequests(watchRequest, listRequest)},
		4:  {succeeds(watchRequest, podA), succeeds(watchRequest, "")},
		5:  {succeeds(watchRequest, "").afterRequests(watchRequest)},
		6:  {succeeds(watchRequest, podA+podB[:20]).truncated()},
		7:  {succeeds(watchRequest, podA+"{\"type\":1}\n"+initialEventsEndEvent+bookmark), succeeds(watchRequest, podA+"<html>\n"+initialEventsEndEvent+bookmark)},
		8:  {succeeds(watchRequest, replaceFirst(allFrames, podB, replaceFirst(podB, "ADDED", "SYNC")))},
		9:  {succeeds(watchRequest, replaceFirst(allFrames, podB, replaceFirst(podB, "Pod", "Node")))},
		10: {succeeds(watchRequest, replaceFirst(allFrames, podB, replaceFirst(podB, "ADDED", "ERROR"))), succeeds(watchRequest, podA+`{"type":"ERROR","object":null}`+"\n"+initialEventsEndEvent+bookmark)},
		11: {succeeds(watchRequest, podA+errorEventJSON(statusJSON(500, "InternalError", injected, broken)))},
		12: {succeeds(watchRequest, podA+errorEventJSON(statusJSON(429, "TooManyRequests", busy, `{"retryAfterSeconds":1}`))).withHeader("Retry-After: "),
			succeeds(watchRequest, podA+errorEventJSON(statusJSON(504, "Timeout", tooLarge, cause)))},
		13:  {fails(watchRequest, 429, statusJSON(429, "TooManyRequests", "storage is (re)initializing", `{"retryAfterSeconds":1}`), retryAfterOne)},
		14:  {succeeds(watchRequest, podA).truncated().within(time.Hour)},
		15:  {succeeds(watchRequest, allFrames).headerAfter(5 * time.Second), succeeds(watchRequest, allFrames).within(6 * time.Second)},
		16:  {succeeds(watchRequest, allFrames).headerAfter(time.Second)},
		17:  {succeeds(watchRequest, podA+podB)},
		18:  {succeeds(watchRequest, "")},
		19:  {succeeds(watchRequest, podA+initialEventsEndEvent+bookmark)},
		20:  {succeeds(watchRequest, podA+podA+podB+podB+initialEventsEndEvent+bookmark)},
		21:  {succeeds(watchRequest, podB+podA+initialEventsEndEvent+bookmark)},
		23:  {succeeds("GET "+pods+"?watch=1&resourceVersion=10", allFrames)},
		27:  {succeeds(watchRequest, podA+podB+initialEventsEndEvent), succeeds(watchListRequest, "...").withHeader("X-Query: resourceVersion=5&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=1")},
		28:  {succeeds(watchRequest, allFrames).within(61 * time.Second), succeeds(watchRequest, podA+podB+initialEventsEndEvent+initialEventsEndEvent+initialEventsEndEvent+initialEventsEndEvent+bookmark+bookmark+bookmark+bookmark)},
		30:  {succeeds(watchRequest, podA+podB+replaceFirst(initialEventsEndEvent, `"12"`, `""`)+replaceFirst(bookmark, `"13"`, `""`)), succeeds(watchRequest, podA+podB+replaceFirst(initialEventsEndEvent, "Pod", "Node")+replaceFirst(bookmark, "Pod", "Node")), succeeds(watchRequest, podA+podB+replaceFirst(initialEventsEndEvent, `"true"}`, `"true"},"name":"web"`)+replaceFirst(bookmark, `"13"`, `"13","name":"web"`))},
		31:  {succeeds(watchListRequest, podA+podB+bookmark)},
		32:  {succeeds(watchListRequest, podA+podB+replaceFirst(initialEventsEndEvent, `,"annotations":{"k8s.io/initial-events-end":"true"}`, "")+bookmark)},
		33:  {succeeds(watchListRequest, podA+podB)},
		34:  {fails(watchListRequest, 422, statusJSON(422, "Invalid", `ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: `+forbidden, `{"group":"meta.k8s.io","kind":"ListOptions","causes":[{"reason":"FieldValueForbidden","message":"Forbidden: `+forbidden+`","field":"sendInitialEvents"}]}`))},
		35:  {succeeds(watchListRequest, "...").withHeader("X-Query: allowWatchBookmarks=true&resourceVersion=5&watch=1")},
		36:  {succeeds(watchListRequest, errorEventJSON(statusJSON(504, "Timeout", tooLarge, cause))).within(3 * time.Second)},
		37:  {fails(listRequest, 504, statusJSON(504, "Timeout", "Timeout: Too large resource version: 9, current: 8", cause), retryAfterOne)},
		38:  {fails(listRequest, 504, statusJSON(504, "Timeout", "Timeout: Too large resource version: 9, current: 8", `{"retryAfterSeconds":1}`), retryAfterOne)},
		39:  {fails(continueRequest, 410, statusJSONWithMeta(`{"continue":"abc"}`, 410, "Expired", old+", or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.", ""))},
		40:  {fails(continueRequest, 410, statusJSON(410, "Expired", old+".", ""))},
		42:  {succeeds(listRequest, podList).withHeader("X-Query: resourceVersion=9&resourceVersionMatch=Exact")},
		43:  {succeeds(listRequest, replaceFirst(podList, `{"metadata":{"name":"a"}},`, "")), succeeds(listRequest, replaceFirst(podList, `{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}`, ""))},
		44:  {succeeds(listRequest, replaceFirst(podList, `,"remainingItemCount":3`, ""))},
		50:  {succeeds(listRequest, podList[:40]).truncated()},
		51:  {fails(listRequest, 504, `{"metadata":{},"status":"Failure","message":"`+terminal+`","reason":"Timeout","details":{},"code":504}`, "Content-Type: text/plain")},
		52:  {succeeds(listRequest, replaceFirst(podList, `[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]`, "null"))},
		53:  {getsNoResponse(createRequest)},
		54:  {getsNoResponse(updateRequest)},
		55:  {getsNoResponse(deleteRequest)},
		56:  {fails(updateRequest, 409, conflicts).afterRequests(updateRequest, updateRequest, updateRequest, updateRequest, updateRequest)},
		57:  {succeeds(updateRequest, onePod).afterRequests(updateRequest)},
		58:  {fails(createRequest, 409, statusJSON(409, "AlreadyExists", `pods "a-x7k2p" already exists, the server was not able to generate a unique name for the object`, `{"name":"a-x7k2p","kind":"pods","retryAfterSeconds":1}`), retryAfterOne)},
		59:  {fails(createRequest, 409, statusJSON(409, "AlreadyExists", `object is being deleted: pods "a" already exists`, podA1))},
		60:  {fails(updateRequest, 409, statusJSON(409, "Conflict", `Operation cannot be fulfilled on pods "a": StorageError: invalid object, Code: 4, Key: /registry/pods/ns/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: u-1, UID in object meta: u-2`, podA1))},
		62:  {fails(patchRequest, 409, statusJSON(409, "Conflict", `Apply failed with 1 conflict: conflict with "other": .spec.replicas`, `{"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"other\"","field":".spec.replicas"}]}`))},
		64:  {fails(patchRequest, 500, statusJSON(500, "", "failed to create typed patch object (ns/a; /v1, Kind=Pod): .spec.bog: field not declared in schema", ""))},
		66:  {fails(createRequest, 413, statusJSON(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728", ""))},
		67:  {fails(updateRequest, 500, statusJSON(500, "", "etcdserver: request is too large", ""))},
		68:  {fails(createRequest, 403, statusJSON(403, "Forbidden", `pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2`, podA1)), fails(createRequest, 500, statusJSON(500, "InternalError", "Internal error occurred: resource quota evaluation timed out", ""))},
		69:  {fails(createRequest, 403, statusJSON(403, "Forbidden", `admission webhook "x.example.com" denied the request: no`, "")), succeeds(hookCall, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"1","allowed":false,"status":{"metadata":{},"message":"no","reason":"Forbidden","code":403}}}`)},
		70:  {fails(createRequest, 500, statusJSON(500, "InternalError", `Internal error occurred: failed calling webhook "x.example.com": failed to call webhook: Post "https://x.ns.svc:443/?timeout=10s": context deadline exceeded`, "")).within(10 * time.Second), getsNoResponse(hookCall).within(10 * time.Second)},
		71:  {fails(createRequest, 504, statusJSON(504, "Timeout", terminal, "")).within(34 * time.Second)},
		72:  {fails(createRequest, 201, replaceFirst(onePod, `"namespace":"ns"`, `"namespace":"ns","labels":{"injected":"true"}`)), succeeds(hookCall, `...,"patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL21ldGFkYXRhL2xhYmVscyIsInZhbHVlIjp7fX0seyJvcCI6ImFkZCIsInBhdGgiOiIvbWV0YWRhdGEvbGFiZWxzL2luamVjdGVkIiwidmFsdWUiOiJ0cnVlIn1d","patchType":"JSONPatch"}}`)},
		73:  {fails(listRequest, 500, statusJSON(500, "", `conversion webhook for example.com/v1, Kind=Widget failed: Post "https://x.ns.svc:443/convert?timeout=30s": service "x" not found`, "")), getsNoResponse("CALL widgets.example.com")},
		74:  {fails(listRequest, 500, statusJSON(500, "StorageReadError", "failed to read one or more pods from the storage: "+corrupt, `{"name":"/registry/pods/","kind":"pods","causes":[{"reason":"UnexpectedServerResponse","message":"`+corrupt+`","field":"/registry/pods/ns/a"}]}`))},
		76:  {fails(updateRequest, 422, statusJSON(422, "Invalid", `Pod "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/y"}`, `{"name":"a","kind":"Pod","causes":[{"reason":"FieldValueForbidden","message":"Forbidden: `+noNew+`","field":"metadata.finalizers"}]}`))},
		78:  {fails(updateRequest, 404, statusJSON(404, "NotFound", `pods "a" not found`, podA1))},
		81:  {fails(getRequest, 404, notFound, plainText)},
		82:  {fails(createRequest, 403, statusJSON(403, "Forbidden", `pods "a" is forbidden: unable to create new content in namespace ns because it is being terminated`, `{"name":"a","kind":"pods","causes":[{"reason":"NamespaceTerminating","message":"namespace ns is being terminated","field":"metadata.namespace"}]}`))},
		83:  {fails(createRequest, 404, statusJSON(404, "NotFound", `namespaces "ns" not found`, `{"name":"ns","kind":"namespaces"}`))},
		84:  {fails(createRequest+"/a/eviction", 429, statusJSON(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", `{"causes":[{"reason":"DisruptionBudget","message":"The disruption budget x needs 1 healthy pods and has 1 currently"}]}`))},
		85:  {fails(getRequest, 429, busy+"\n", plainText, retryAfterOne, "X-Content-Type-Options: nosniff")},
		86:  {fails(getRequest, 429, statusJSON(429, "TooManyRequests", busy, `{"retryAfterSeconds":1}`), retryAfterOne)},
		87:  {fails(getRequest, 429, statusJSON(429, "TooManyRequests", busy, ""))},
		88:  {fails(getRequest, 500, statusJSON(500, "InternalError", injected, broken)), fails(getRequest, 500, statusJSON(500, "", "something is broken", ""))},
		89:  {fails(getRequest, 503, statusJSON(503, "ServiceUnavailable", "the server is currently unable to handle the request", `{"retryAfterSeconds":1}`), retryAfterOne), fails(getRequest, 503, "service unavailable\n", plainText, "Retry-After: ")},
		90:  {fails(getRequest, 502, "<html>\r\n...502 Bad Gateway...", "Content-Type: text/html")},
		91:  {getsNoResponse(getRequest)},
		92:  {succeeds(getRequest, onePod[:10]).truncated(), succeeds(watchRequest, podA).truncated()},
		93:  {succeeds(getRequest, onePod).withHeader("Connection: close")},
		94:  {getsNoResponse(createRequest)},
		95:  {fails(getRequest, 500, "This request caused apiserver to panic. Look in the logs for details.\n", plainText)},
		96:  {succeeds(updateRequest, onePod)},
		97:  {succeeds(listRequest, podList).within(time.Duration((len(podList)-1)/16) * 100 * time.Millisecond), succeeds(watchRequest, allFrames)},
		98:  {fails("GET /readyz", 500, "[-]shutdown failed...readyz check failed\n"), succeeds(watchRequest, ""), fails(getRequest, 429, "The apiserver is shutting down, please try again later.\n", "Retry-After: 5\nConnection: close")},
		99:  {fails("GET /apis", 503, statusJSON(503, "ServiceUnavailable", "the request has been made before all known HTTP paths have been installed, please try again", `{"retryAfterSeconds":5}`), "Retry-After: 5")},
		101: {fails(getRequest, 401, statusJSON(401, "Unauthorized", "Unauthorized", ""))},
		102: {fails(listRequest, 403, statusJSON(403, "Forbidden", someone, `{"kind":"pods"}`)).afterRequests(listRequest)},
		103: {fails("GET /apis/example.com/v1/widgets", 404, notFound, plainText)},
		104: {fails("GET /apis/example.com/v1/widgets", 404, notFound, plainText)},
		105: {fails("GET /apis/apps/v1", 503, "service unavailable\n", plainText)},
		106: {succeeds(discoveryRequest, replaceFirst(aggregatedDiscovery, "Current", "Stale", `"resources":[],`, ""))},
		107: {succeeds(discoveryRequest, `{"kind":"APIGroupDiscoveryList","items":[]}`+"\n").afterRequests(discoveryRequest)},
		108: {succeeds(discoveryRequest, groupList), fails(discoveryRequest, 406, statusJSON(406, "NotAcceptable", "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf", ""))},
		109: {succeeds(getRequest, onePod).withHeader("Date: Fri, 31 Dec 1999 23:55:00 GMT")},
		110: {succeeds(leaseRequest, onePod).within(15 * time.Second), fails(leaseRequest, 409, "...the object has been modified...")},
		111: {succeeds(getRequest, onePod).withHeader(`Warning: 299 - "one" | 299 - "two" | 299 - "two" | 299 - "three"`)},
		112: {fails(getRequest, 406, statusJSON(406, "NotAcceptable", "only the following media types are accepted: application/json, application/yaml", "")), fails(createRequest, 415, statusJSON(415, "UnsupportedMediaType", "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml", ""))},
		113: {succeeds(listRequest, replaceFirst(podList, `:3`, `:-1`)), succeeds(listRequest, replaceFirst(podList, `"9"`, `"0"`)),
			succeeds(watchRequest, replaceFirst(allFrames, `"11"`, `""`, `"12"`, `""`)), succeeds(watchRequest, replaceFirst(allFrames, `"11"`, `"one"`, `"12"`, `"one"`))},
		114: {succeeds(listRequest, podList).withHeader("X-Query: limit=5&resourceVersion=9")},
		115: {succeeds(getRequest+" application/vnd.kubernetes.protobuf", "x8s\x00body")},
		116: {fails(getRequest, 307, "...Temporary Redirect...", "Location: https://other.example.com:6443"+pods+"/a")},
		117: {fails(watchRequest, 429, statusJSON(429, "TooManyRequests", "storage is (re)initializing", `{"retryAfterSeconds":1}`), retryAfterOne), succeeds(watchRequest, expired)},
		118: {getsNoResponse(hookCall)},
		119: {fails(hookCall, 503, statusJSON(503, "ServiceUnavailable", "the server is currently unable to handle the request", ""))},
		120: {succeeds(hookCall, allowed).within(9 * time.Second), succeeds(hookCall, allowed).within(time.Second), getsNoResponse(hookCall).within(10 * time.Second)},
		123: {getsNoResponse(hookCall)},
		124: {getsNoResponse(hookCall)},
		125: {succeeds(hookCall, "<html>").withHeader("Content-Type: text/html"), succeeds(hookCall, allowed[:20]).truncated(),
			succeeds(hookCall, replaceFirst(allowed, `"1"`, `"other"`)), succeeds(hookCall, "{}"),
			succeeds(hookCall, replaceFirst(allowed, "true", `true,"patch":"bm8=","patchType":"JSONPatch"`)),
			fails(hookCall, 500, statusJSON(500, "InternalError", injected, broken))},
		126: {succeeds(hookCall, allowed).within(9 * time.Second)},
		127: {fails(listRequest, 403, statusJSON(403, "Forbidden", someone, `{"kind":"pods"}`))},
		128: {fails(watchRequest, 403, statusJSON(403, "Forbidden", strings.Replace(someone, "list", "watch", 1), `{"kind":"pods"}`)), succeeds(watchRequest, "")},
		129: {fails(leaseRequest, 403, statusJSON(403, "Forbidden", `leases.coordination.k8s.io "a" is forbidden: User "system:anonymous" cannot update resource "leases" in API group "coordination.k8s.io" in the namespace "ns"`, `{"name":"a","group":"coordination.k8s.io","kind":"leases"}`))},
		130: {fails(listRequest, 403, statusJSON(403, "Forbidden", someone, `{"kind":"pods"}`))},
		132: {fails(patchRequest+"/status", 403, statusJSON(403, "Forbidden", `pods "a" is forbidden: User "system:anonymous" cannot patch resource "pods/status" in API group "" in the namespace "ns"`, podA1))},
	}
}
