package faults_test

import "time"

// catalogueProbes are the probes of the catalogue's rules, by case.
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
	expired := event(st(410, "Expired", tooOld, ""))
	conflicts := st(409, "Conflict", conflict, podA1)
	return map[int][]probe{
		1:  {read(theWatch, expired)},
		2:  {refused(theWatch, 410, st(410, "Expired", tooOld, ""))},
		3:  {read(theWatch, expired).asked(theWatch, theList)},
		4:  {read(theWatch, podA), read(theWatch, "")},
		5:  {read(theWatch, "").asked(theWatch)},
		6:  {read(theWatch, podA+podB[:20]).cut()},
		7:  {read(theWatch, podA+"{\"type\":1}\n"+last+mark), read(theWatch, podA+"<html>\n"+last+mark)},
		8:  {read(theWatch, edited(allFrames, podB, edited(podB, "ADDED", "SYNC")))},
		9:  {read(theWatch, edited(allFrames, podB, edited(podB, "Pod", "Node")))},
		10: {read(theWatch, edited(allFrames, podB, edited(podB, "ADDED", "ERROR"))), read(theWatch, podA+`{"type":"ERROR","object":null}`+"\n"+last+mark)},
		11: {read(theWatch, podA+event(st(500, "InternalError", injected, broken)))},
		12: {read(theWatch, podA+event(st(429, "TooManyRequests", busy, `{"retryAfterSeconds":1}`))).with("Retry-After: "),
			read(theWatch, podA+event(st(504, "Timeout", tooLarge, cause)))},
		13:  {refused(theWatch, 429, st(429, "TooManyRequests", "storage is (re)initializing", `{"retryAfterSeconds":1}`), wait)},
		14:  {read(theWatch, podA).cut().in(time.Hour)},
		15:  {read(theWatch, allFrames).after(5 * time.Second), read(theWatch, allFrames).in(6 * time.Second)},
		16:  {read(theWatch, allFrames).after(time.Second)},
		17:  {read(theWatch, podA+podB)},
		18:  {read(theWatch, "")},
		19:  {read(theWatch, podA+last+mark)},
		20:  {read(theWatch, podA+podA+podB+podB+last+mark)},
		21:  {read(theWatch, podB+podA+last+mark)},
		23:  {read("GET "+pods+"?watch=1&resourceVersion=10", allFrames)},
		27:  {read(theWatch, podA+podB+last), read(theStream, "...").with("X-Query: resourceVersion=5&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=1")},
		28:  {read(theWatch, allFrames).in(61 * time.Second), read(theWatch, podA+podB+last+last+last+last+mark+mark+mark+mark)},
		30:  {read(theWatch, podA+podB+edited(last, `"12"`, `""`)+edited(mark, `"13"`, `""`)), read(theWatch, podA+podB+edited(last, "Pod", "Node")+edited(mark, "Pod", "Node")), read(theWatch, podA+podB+edited(last, `"true"}`, `"true"},"name":"web"`)+edited(mark, `"13"`, `"13","name":"web"`))},
		31:  {read(theStream, podA+podB+mark)},
		32:  {read(theStream, podA+podB+edited(last, `,"annotations":{"k8s.io/initial-events-end":"true"}`, "")+mark)},
		33:  {read(theStream, podA+podB)},
		34:  {refused(theStream, 422, st(422, "Invalid", `ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: `+forbidden, `{"group":"meta.k8s.io","kind":"ListOptions","causes":[{"reason":"FieldValueForbidden","message":"Forbidden: `+forbidden+`","field":"sendInitialEvents"}]}`))},
		35:  {read(theStream, "...").with("X-Query: allowWatchBookmarks=true&resourceVersion=5&watch=1")},
		36:  {read(theStream, event(st(504, "Timeout", tooLarge, cause))).in(3 * time.Second)},
		37:  {refused(theList, 504, st(504, "Timeout", "Timeout: Too large resource version: 9, current: 8", cause), wait)},
		38:  {refused(theList, 504, st(504, "Timeout", "Timeout: Too large resource version: 9, current: 8", `{"retryAfterSeconds":1}`), wait)},
		39:  {refused(thePage, 410, stIn(`{"continue":"abc"}`, 410, "Expired", old+", or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.", ""))},
		40:  {refused(thePage, 410, st(410, "Expired", old+".", ""))},
		42:  {read(theList, podList).with("X-Query: resourceVersion=9&resourceVersionMatch=Exact")},
		43:  {read(theList, edited(podList, `{"metadata":{"name":"a"}},`, "")), read(theList, edited(podList, `{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}`, ""))},
		44:  {read(theList, edited(podList, `,"remainingItemCount":3`, ""))},
		50:  {read(theList, podList[:40]).cut()},
		51:  {refused(theList, 504, `{"metadata":{},"status":"Failure","message":"`+terminal+`","reason":"Timeout","details":{},"code":504}`, "Content-Type: text/plain")},
		52:  {read(theList, edited(podList, `[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]`, "null"))},
		53:  {lost(theCreate)},
		54:  {lost(theUpdate)},
		55:  {lost(theDelete)},
		56:  {refused(theUpdate, 409, conflicts).asked(theUpdate, theUpdate, theUpdate, theUpdate, theUpdate)},
		57:  {read(theUpdate, onePod).asked(theUpdate)},
		58:  {refused(theCreate, 409, st(409, "AlreadyExists", `pods "a-x7k2p" already exists, the server was not able to generate a unique name for the object`, `{"name":"a-x7k2p","kind":"pods","retryAfterSeconds":1}`), wait)},
		59:  {refused(theCreate, 409, st(409, "AlreadyExists", `object is being deleted: pods "a" already exists`, podA1))},
		60:  {refused(theUpdate, 409, st(409, "Conflict", `Operation cannot be fulfilled on pods "a": StorageError: invalid object, Code: 4, Key: /registry/pods/ns/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: u-1, UID in object meta: u-2`, podA1))},
		62:  {refused(thePatch, 409, st(409, "Conflict", `Apply failed with 1 conflict: conflict with "other": .spec.replicas`, `{"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"other\"","field":".spec.replicas"}]}`))},
		64:  {refused(thePatch, 500, st(500, "", "failed to create typed patch object (ns/a; /v1, Kind=Pod): .spec.bog: field not declared in schema", ""))},
		66:  {refused(theCreate, 413, st(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728", ""))},
		67:  {refused(theUpdate, 500, st(500, "", "etcdserver: request is too large", ""))},
		68:  {refused(theCreate, 403, st(403, "Forbidden", `pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2`, podA1)), refused(theCreate, 500, st(500, "InternalError", "Internal error occurred: resource quota evaluation timed out", ""))},
		69:  {refused(theCreate, 403, st(403, "Forbidden", `admission webhook "x.example.com" denied the request: no`, ""))},
		70:  {refused(theCreate, 500, st(500, "InternalError", `Internal error occurred: failed calling webhook "x.example.com": failed to call webhook: Post "https://x.ns.svc:443/?timeout=10s": context deadline exceeded`, "")).in(10 * time.Second)},
		71:  {refused(theCreate, 504, st(504, "Timeout", terminal, "")).in(34 * time.Second)},
		72:  {refused(theCreate, 201, edited(onePod, `"namespace":"ns"`, `"namespace":"ns","labels":{"injected":"true"}`))},
		73:  {refused(theList, 500, st(500, "", `conversion webhook for example.com/v1, Kind=Widget failed: Post "https://x.ns.svc:443/convert?timeout=30s": service "x" not found`, ""))},
		74:  {refused(theList, 500, st(500, "StorageReadError", "failed to read one or more pods from the storage: "+corrupt, `{"name":"/registry/pods/","kind":"pods","causes":[{"reason":"UnexpectedServerResponse","message":"`+corrupt+`","field":"/registry/pods/ns/a"}]}`))},
		76:  {refused(theUpdate, 422, st(422, "Invalid", `Pod "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/y"}`, `{"name":"a","kind":"Pod","causes":[{"reason":"FieldValueForbidden","message":"Forbidden: `+noNew+`","field":"metadata.finalizers"}]}`))},
		78:  {refused(theUpdate, 404, st(404, "NotFound", `pods "a" not found`, podA1))},
		81:  {refused(theGet, 404, notFound, plainText)},
		82:  {refused(theCreate, 403, st(403, "Forbidden", `pods "a" is forbidden: unable to create new content in namespace ns because it is being terminated`, `{"name":"a","kind":"pods","causes":[{"reason":"NamespaceTerminating","message":"namespace ns is being terminated","field":"metadata.namespace"}]}`))},
		83:  {refused(theCreate, 404, st(404, "NotFound", `namespaces "ns" not found`, `{"name":"ns","kind":"namespaces"}`))},
		84:  {refused(theCreate+"/a/eviction", 429, st(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", `{"causes":[{"reason":"DisruptionBudget","message":"The disruption budget x needs 1 healthy pods and has 1 currently"}]}`))},
		85:  {refused(theGet, 429, busy+"\n", plainText, wait, "X-Content-Type-Options: nosniff")},
		86:  {refused(theGet, 429, st(429, "TooManyRequests", busy, `{"retryAfterSeconds":1}`), wait)},
		87:  {refused(theGet, 429, st(429, "TooManyRequests", busy, ""))},
		88:  {refused(theGet, 500, st(500, "InternalError", injected, broken)), refused(theGet, 500, st(500, "", "something is broken", ""))},
		89:  {refused(theGet, 503, st(503, "ServiceUnavailable", "the server is currently unable to handle the request", `{"retryAfterSeconds":1}`), wait), refused(theGet, 503, "service unavailable\n", plainText, "Retry-After: ")},
		90:  {refused(theGet, 502, "<html>\r\n...502 Bad Gateway...", "Content-Type: text/html")},
		91:  {lost(theGet)},
		92:  {read(theGet, onePod[:10]).cut(), read(theWatch, podA).cut()},
		93:  {read(theGet, onePod).with("Connection: close")},
		94:  {lost(theCreate)},
		95:  {refused(theGet, 500, "This request caused apiserver to panic. Look in the logs for details.\n", plainText)},
		96:  {read(theUpdate, onePod)},
		97:  {read(theList, podList).in(time.Duration((len(podList)-1)/16) * 100 * time.Millisecond), read(theWatch, allFrames)},
		98:  {refused("GET /readyz", 500, "[-]shutdown failed...readyz check failed\n"), read(theWatch, ""), refused(theGet, 429, "The apiserver is shutting down, please try again later.\n", "Retry-After: 5\nConnection: close")},
		99:  {refused("GET /apis", 503, st(503, "ServiceUnavailable", "the request has been made before all known HTTP paths have been installed, please try again", `{"retryAfterSeconds":5}`), "Retry-After: 5")},
		101: {refused(theGet, 401, st(401, "Unauthorized", "Unauthorized", ""))},
		102: {refused(theList, 403, st(403, "Forbidden", someone, `{"kind":"pods"}`)).asked(theList)},
		103: {refused("GET /apis/example.com/v1/widgets", 404, notFound, plainText)},
		104: {refused("GET /apis/example.com/v1/widgets", 404, notFound, plainText)},
		105: {refused("GET /apis/apps/v1", 503, "service unavailable\n", plainText)},
		106: {read(theGroups, edited(aggregated, "Current", "Stale", `"resources":[],`, ""))},
		107: {read(theGroups, `{"kind":"APIGroupDiscoveryList","items":[]}`+"\n").asked(theGroups)},
		108: {read(theGroups, legacy), refused(theGroups, 406, st(406, "NotAcceptable", "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf", ""))},
		109: {read(theGet, onePod).with("Date: Fri, 31 Dec 1999 23:55:00 GMT")},
		110: {read(theLease, onePod).in(15 * time.Second), refused(theLease, 409, "...the object has been modified...")},
		111: {read(theGet, onePod).with(`Warning: 299 - "one" | 299 - "two" | 299 - "two" | 299 - "three"`)},
		112: {refused(theGet, 406, st(406, "NotAcceptable", "only the following media types are accepted: application/json, application/yaml", "")), refused(theCreate, 415, st(415, "UnsupportedMediaType", "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml", ""))},
		113: {read(theList, edited(podList, `:3`, `:-1`)), read(theList, edited(podList, `"9"`, `"0"`)),
			read(theWatch, edited(allFrames, `"11"`, `""`, `"12"`, `""`)), read(theWatch, edited(allFrames, `"11"`, `"one"`, `"12"`, `"one"`))},
		114: {read(theList, podList).with("X-Query: limit=5&resourceVersion=9")},
		115: {read(theGet+" application/vnd.kubernetes.protobuf", "x8s\x00body")},
		116: {refused(theGet, 307, "...Temporary Redirect...", "Location: https://other.example.com:6443"+pods+"/a")},
	}
}
