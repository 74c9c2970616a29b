// Package conversion converts custom resources between the versions of their
// CustomResourceDefinition, as its spec.conversion specifies:
//
//	converter, err := conversion.New(crd, network)
//	if err != nil { ... }
//	defer converter.Close()
//	objects, err = converter.Convert(ctx, objects, "v2")
//
// The strategy None changes the apiVersion only. The strategy Webhook sends a ConversionReview over
// TLS to a URL or a Service, in the version that is first in conversionReviewVersions, v1 or
// v1beta1. See
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/
//
// # Connections
//
// The converter of apiextensions-apiserver (pkg/apiserver/conversion) makes the requests, verifies
// the responses and formats the errors. Package webhookclient provides its connections. In a
// synctest bubble, New must be called inside, with a Dialer in memory. New takes about one
// millisecond for a webhook and opens no connection. A change of spec.conversion or of the versions
// requires a new Converter. The previous one is drained: conversions that have started continue,
// and no connection remains open after the last call.
//
// # Calls
//
// A call is a POST of one object with ?timeout=30s and the User-Agent kube-apiserver-admission. It
// takes at most 30 seconds including its response, which may have any size. Only the caBundle is
// trusted, or the roots of the machine if there is no caBundle. The protocol is HTTP/1.1, except
// for loopback URLs, where HTTP/2 is offered. Redirects are followed as by net/http (302 to a GET
// without body, at most 10 requests). A response 429 or 5xx with Retry-After is retried up to ten
// times, as by client-go; Close does not shorten the wait. Over a pipe in memory, which is not
// buffered, a call of a webhook that blocks before it reads the request ends five seconds late,
// because TLS waits for its close_notify to be sent.
//
// The URL of a Service is https://NAME.NAMESPACE.svc:PORT, by default with port 443. Its host is
// also the name in the certificate. The webhookclient.ServiceResolver returns the address to dial.
// Without one, the call fails with "lookup NAME.NAMESPACE.svc: no such host", and DNS is not
// queried. A kube-apiserver resolves a Service to its ClusterIP, and reports an unknown Service so:
//
//	conversion webhook for G/V, Kind=K failed: Post "https://conv.default.svc:443/c?timeout=30s": service "conv" not found
//
// A webhook can change only the labels and annotations of the metadata. Another name, namespace or
// uid in the response is an error; other metadata is restored.
//
// # When a real server calls a webhook
//
// Observed on v0.37.2 with watch cache. The object is stored in v1, and v2 is another served
// version. Each conversion of an object is one call: lists and deletecollection do not batch them,
// and no result is cached between requests. An object in the requested version needs no call.
//
// The conversions of a request in v2, in order:
//
//   - get: v1→v2
//   - get with resourceVersion=0, list: none, because the watch cache of v2 has converted each
//     event
//   - create, also with dryRun: v2→v1 (the new object), v1→v2 (the stored object, for the response)
//   - update, patch, status: v2→v1 (the old object, from the cache), v2→v1 (the new one), v1→v2
//     (the stored object)
//   - update, patch without a change: v2→v1, v2→v1 as above, v1→v2 (read again), v1→v2 (the
//     response); the revision does not change
//   - apply of a new object: as create
//   - apply: as update, and more if field managers use another version, for which objects are
//     converted there and back
//   - delete: v1→v2 (the old object), v2→v1, v1→v2 (the old object with the revision of its
//     deletion)
//   - deletecollection: as delete, object by object
//   - get, delete of an object that does not exist: none
//
// A request in v1 needs no conversion, except that update, patch and apply convert for field
// managers of v2.
//
// In addition, each served version has a watch cache from the first request on, even if no client
// reads it: every write needs one more call v1→v2, and a failing one is retried many times a
// second. A server without watch cache converts for lists and watches instead.
//
// If a conversion for field managers of another version fails, update and patch succeed and do not
// change managedFields; apply fails.
//
// # Responses to failures
//
// E is the error of Convert. The responses are those of the same server, where
// AllowUnsafeMalformedObjectDeletion is on, as by default in v1.37:
//
//   - create, update, patch, apply, delete, v2→v1: 500 without reason and details: E
//   - apply in v1, for field managers of v2: 500 without reason and details: E
//   - create, v1→v2 of the stored object: 500 without reason: object not decodable revision=REV: E.
//     The object is stored. The same for update, patch, apply, v1→v2 of the old object; nothing is
//     stored then.
//   - get, delete, deletecollection after its list, v1→v2: 500 InternalError: Internal error
//     occurred: StorageError: corrupt object, Code: 7, Key: /GROUP/PLURAL/NAMESPACE/NAME,
//     ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=REV: E. details.causes
//     has one message, which is the text from "StorageError" on.
//   - list, deletecollection, if the watch cache of v2 is behind: 500 StorageReadError: failed to
//     read one or more PLURAL.GROUP from the storage: StorageError: corrupt object, Code: 7,
//     Key: /registry/GROUP/PLURAL/NAMESPACE/NAME, ResourceVersion: 0, AdditionalErrorMsg: object
//     not decodable revision=REV: E (and N more). details has the name "list", the group, the kind
//     PLURAL, and a cause for each object with reason UnexpectedServerResponse and the key as
//     field.
//   - the same, if the watch cache of v2 was never filled: 429 TooManyRequests, retryAfterSeconds
//     1: storage is (re)initializing: failed to list <unspecified>: followed by the message of the
//     list
//   - list and get from a filled watch cache: 200
//   - get of an object that does not exist: 404
//
// Deletecollection stops at the first failure. Objects deleted before stay deleted.
//
// A watch of v2 holds back an event that cannot be converted, and all events after it. The stream
// stays open without an ERROR event. The server retries, and sends the events when the webhook
// works again, at once or after some seconds. A watch that starts meanwhile from a resourceVersion
// sends nothing either. One without resourceVersion, or with sendInitialEvents, ends after three
// seconds with an ERROR event 504 Timeout, "Timeout: Too large resource version: REV, current:
// OLDER", cause ResourceVersionTooLarge, retryAfterSeconds 1. Later a watch from a resourceVersion
// before the failure may get 410 Expired, "too old resource version: REV (NEWER)". Watches of v1
// are not affected.
//
// # Differences
//
// fakeapi behaves the same with the following exceptions. It caches the result of a conversion with
// the stored state of the object. A watch cache for each version would call the webhook for every
// write, even if no client reads.
//
//   - A get without resourceVersion and a delete convert again, as on a real server. Lists,
//     watches, gets from the cache, and the old object of an update use the cached result: each
//     state of an object is converted once for each version, and concurrent requests share the call
//     and its error. A list of objects that were converted before succeeds although the webhook
//     fails. Any other list gets the 500, and never the 429.
//   - A watch retries the conversion of events once a second. A new watch is refused after the time
//     of WithResourceVersionTimeout, by default three seconds. The older revision in the message is
//     that before the first object that fails. There is no 410 later.
//   - A watch converts the objects that match its selectors, and a list those of its page. To
//     select by labels or by selectable fields they convert the others, too. A real server converts
//     all.
//   - The deletion of a CustomResourceDefinition deletes its objects without converting them, as on
//     a real server.
package conversion
