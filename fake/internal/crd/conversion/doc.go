// Package conversion converts custom resources between the versions of their
// definition, as spec.conversion of the CustomResourceDefinition says:
//
//	converter, err := conversion.New(crd, dial, services)
//	if err != nil { ... }
//	defer converter.Close()
//	objects, err = converter.Convert(ctx, objects, "v2")
//
// The strategy None changes the apiVersion alone. The strategy Webhook sends a
// ConversionReview, v1 or v1beta1, whichever conversionReviewVersions names first,
// over TLS to a URL or a Service. Documents:
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/
//
// # What is whose
//
// The library's converter (apiextensions-apiserver, pkg/apiserver/conversion) asks,
// verifies the answers and words the errors; beside what the validation of
// definitions links anyway it costs two small packages. Ours are the connections:
// the library's go through a cache of the process, where no bubble and no Close
// reaches them. A Converter dials with the Dialer of its server, uses no proxy, and
// has no connection or goroutine left after Close. In a testing/synctest bubble
// make it inside, with a Dialer in memory. Making one takes little more than a
// millisecond for a webhook (1.3 ms measured), and opens nothing; a change of
// spec.conversion or of the versions needs a new one. The old one is told to Retire: what
// began under it is still converted, and no connection outlives its last call.
//
// # A call
//
// POST, ?timeout=30s, User-Agent kube-apiserver-admission, one object, at most 30
// seconds with the answer. The caBundle alone is trusted; without one, the roots of
// the machine. HTTP/1.1, except for URLs of loopback, where HTTP/2 is offered. An
// answer may be of any size. Redirects are followed as net/http does (302 to a GET
// without a body, at most 10 requests), and 429 and 5xx with Retry-After are asked
// again up to ten times, as client-go does; Close does not shorten such a pause.
// Over a pipe in memory, which has no buffer, a call to a webhook that hangs before
// it has read the question ends five seconds later: TLS wants to say goodbye.
//
// A Service becomes https://NAME.NAMESPACE.svc:PORT (443 if none is said), which is
// also the name on its certificate. The ServiceResolver says where it is reached.
// Without one the dial fails with "lookup NAME.NAMESPACE.svc: no such host", and DNS
// is not asked. A kube-apiserver resolves to ClusterIPs and says of an unknown
// Service [O]:
//
//	conversion webhook for G/V, Kind=K failed: Post "https://conv.default.svc:443/c?timeout=30s": service "conv" not found
//
// Of the answer only labels and annotations of the metadata count. Another name,
// namespace or uid is refused; the rest of the metadata is what it was.
//
// # When a real server calls
//
// Observed on v0.37.2 with watch cache; the object is stored in v1, v2 is another
// served version. One call for each object and each conversion, always: lists and
// deletecollection are no batches, and nothing is remembered between requests. An
// object in the version that is asked for costs none.
//
//	request in v2                    conversions, in order
//	get                              v1→v2
//	get resourceVersion=0, list      none: the watch cache of v2 has converted each event before
//	create                           v2→v1 (the new object), v1→v2 (what was stored, for the answer)
//	create dryRun=All                the same
//	update, patch, status            v2→v1 (the old object, out of the cache), v2→v1 (the new one), v1→v2 (what was stored)
//	update, patch without a change   v2→v1, v2→v1 likewise, v1→v2 (read again), v1→v2 (the answer); the revision stays
//	apply of a new object            as create
//	apply                            as update; more if field managers are of another version: their objects go there and back
//	delete                           v1→v2 (the old object), v2→v1, v1→v2 (the old one with the revision of its deletion)
//	deletecollection                 as delete, object by object
//	get, delete of what is not there none
//	a request in v1                  none; update, patch and apply convert for field managers of v2
//
// Besides, a watch cache for each served version is there from the first request on,
// whether or not anybody reads: every write costs one call v1→v2 more, and a failing
// one is repeated many times a second. A server without a watch cache converts at
// lists and watches instead.
//
// If a conversion for field managers of another version fails, update and patch
// succeed and leave managedFields as they were; apply fails.
//
// # What a client is told when it fails
//
// With E the error of Convert, from the same server (a Status without reason is
// printed as it came; AllowUnsafeMalformedObjectDeletion is on by default in v1.37):
//
//	create, update, patch, apply, dry run: v2→v1   500, no reason, no details: E
//	delete: v2→v1                                  500, no reason, no details: E
//	apply in v1, for managers of v2                500, no reason, no details: E
//	create: v1→v2 of what was stored               500, no reason: object not decodable revision=REV: E; the object is stored
//	get, delete, deletecollection: v1→v2           500 InternalError: Internal error occurred: StorageError: corrupt object, Code: 7,
//	                                               Key: /GROUP/PLURAL/NAMESPACE/NAME, ResourceVersion: 0,
//	                                               AdditionalErrorMsg: object not decodable revision=REV: E;
//	                                               details.causes has one message, from "StorageError" on
//	list, cache of v2 behind                       500 StorageReadError: failed to read one or more PLURAL.GROUP from the storage:
//	                                               StorageError: corrupt object, Code: 7, Key: /registry/GROUP/PLURAL/NAMESPACE/NAME,
//	                                               ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=REV: E (and N more);
//	                                               details: name "list", group, kind PLURAL, a cause for each object with reason
//	                                               UnexpectedServerResponse and its key as field
//	list, cache of v2 never filled                 429 TooManyRequests, retryAfterSeconds 1: storage is (re)initializing:
//	                                               failed to list <unspecified>: and the message of the list
//	list and get out of a cache that is there      200
//	get of what is not there                       404
//
// Deletecollection stops at the first failure; what was deleted before stays so.
//
// Watches of v2: an event that cannot be converted is held back, with all after it,
// and the stream stays open and silent, without an ERROR; the server goes on trying,
// and sends it when the webhook works again, at once or after some seconds. A watch
// that starts meanwhile from a known revision is silent too; one without
// resourceVersion, or with sendInitialEvents, ends after three seconds with an ERROR
// 504 Timeout, "Timeout: Too large resource version: REV, current: OLDER", cause
// ResourceVersionTooLarge, retryAfterSeconds 1. Afterwards a watch from a revision
// before the failure may get 410 Expired, "too old resource version: REV (NEWER)".
// Watches of v1 notice nothing.
//
// # What fakeapi does of it
//
// It answers so, but for this. What was converted is kept with the stored state of the object
// instead of in a watch cache for each version, which would have a webhook called at every
// write, whether or not anybody reads:
//
//   - A get without resourceVersion and a delete ask again, as on a real server. Lists, watches,
//     gets from the cache and the old object of an update take what is there: each state of an
//     object is asked for once for each version, and those who want it at the same time share
//     the call and its error. A list of what was converted before is 200 though the webhook
//     fails; one of anything else is the 500, never the 429.
//   - The old object of an update, a patch or an apply that was never converted is read from the
//     storage: if that fails the answer is that of a get.
//   - A watch tries to convert what it holds back once a second. One that starts is refused
//     after the time of WithResourceVersionTimeout, three seconds by default; the older revision in the message
//     is that before the first object that fails. There is no 410 afterwards.
//   - A watch converts what its selector takes, and a list its own page; a real server converts all.
//   - The end of a definition deletes its objects without a conversion, as there.
package conversion
