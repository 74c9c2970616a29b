// Package fakeapi is a Kubernetes API server in memory, for tests of
// controllers, operators and clients. It speaks real HTTP and behaves as the
// documents and a real v1.37 server do: resourceVersions, watches with history,
// bookmarks, streaming lists, chunks with continue tokens, 410 Gone, optimistic
// concurrency, finalizers, and the controllers that end things: namespaces, pods in
// their grace period, dependents of owners that are gone. It starts in less than a millisecond.
//
//	func TestMyController(t *testing.T) {
//		srv := fakeapi.Start(t)
//		client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
//		...
//	}
//
// # Ways in
//
// Start makes a server on a loopback port, New does so outside of tests.
// RESTConfig is for client-go and everything on top of it, Kubeconfig for kubectl
// and other languages, Client and URL for plain HTTP. Load, LoadManifests and the
// options WithObjects and WithManifests put fixtures into the store.
//
// # Custom resources
//
// CustomResourceDefinitions are accepted and served as a real server does, with what they
// define: structural schemas with pruning, defaults, validation and CEL rules, several
// versions, status and scale, selectable fields, printer columns, discovery and OpenAPI.
// They come through the API (kubectl, envtest.InstallCRDs with RESTConfig), with WithCRDs
// and LoadCRDs, or among the fixtures, in any order: definitions go first.
//
//	srv := fakeapi.Start(t,
//		fakeapi.WithCRDs(fakeapi.CRDPaths("../config/crd/bases")),
//		fakeapi.WithObjects(&widgetsv1.Widget{...}), fakeapi.WithScheme(scheme))
//
// A definition is Established before the request that made it is answered, or before Start
// returns: a real server takes some milliseconds, in which new paths answer 404.
// Definitions given to WithCRDs, LoadCRDs and Load are taken as a create, or, if the name is
// there, as an update of labels, annotations and spec, whatever status they have; only
// its storedVersions count. Custom resources among fixtures keep their status; they are
// defaulted, and refused, by their schemas, and fields that a schema does not have are an error.
//
// CRDType makes a definition up from a Go type, for types without manifests. It takes everything:
// markers such as +kubebuilder:validation are not there at run time.
//
// Conversion webhooks are called for real, over TLS with the caBundle, for at most 30 seconds,
// and fail as on a real server. A URL of loopback needs no option. WithWebhookDialer opens
// their connections, in memory inside a testing/synctest bubble; WithServiceResolver tells
// where Services are. Without the latter a Service must be there as an object, and be reachable
// by the dialer as NAME.NAMESPACE.svc:PORT. What was converted is kept with the state of the
// object: lists and watches call the webhook once for each, a get without resourceVersion every
// time.
//
// A fork has the types of its original, and each then goes its own way. A Restore to a
// moment before a definition takes its type away, and its watches end. Replicas share the types of
// their server.
//
// # TLS and users
//
// With WithTLS it is HTTPS, with HTTP/2 for those who offer it, on sockets and in memory.
// WithTokens asks for bearer tokens, too: each has a user, groups and, if wanted, an end.
// AddToken and ExpireToken change them while the server runs; a token that has expired
// is answered 401, and the watches that it has begun go on. WithClientCA takes client certificates,
// beside tokens or instead of them; ClientCertificate and RESTConfigAsUser issue them. The ways
// in carry the certificate authority and the first token, or a certificate, by themselves;
// RESTConfigAs is for other tokens. Whoever may can impersonate others, as with kubectl --as.
//
// WithAuthorizer asks a function who may do what; the answer of a denial is that of a
// real server. Access reviews ask the same function, so "kubectl auth can-i" tells
// what it would say.
//
//	srv := fakeapi.Start(t, fakeapi.WithAuthorizer(func(a fakeapi.Attributes) fakeapi.Decision {
//		if a.User.Username == "reader" && a.Verb != "get" && a.Verb != "list" && a.Verb != "watch" {
//			return fakeapi.Deny("it is a reader")
//		}
//		return fakeapi.Allow("")
//	}))
//	config := srv.RESTConfig()
//	config.Impersonate.UserName = "reader"
//
// # Web pages
//
// Only loopback is listened on. Requests that a browser may have sent for a web page are
// refused with 403: those under a name that is not of this machine (WithHosts gives others), those
// of a page of another origin, as Origin or Sec-Fetch-Site say, and what any page at all
// would change through the control API. Clients that are no browsers send neither header.
//
// # Virtual time
//
// With InMemory the server listens on pipes in memory. Made inside a
// testing/synctest bubble, with its clients, everything runs on virtual time: ten
// minutes of an outage take milliseconds. Two things to know:
//
//   - Real sockets make time stand still. Build clients from RESTConfig or Client.
//   - client-go throttles the errors that it reports by a clock that was started
//     outside of the bubble; the first error would sleep for decades of virtual
//     time. Take the throttle out, for instance in TestMain:
//     utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
//
// # Time and history
//
// WithHistory, WithFutureWait, WithContinueLifetime, WithBookmarkInterval and
// WithWatchTimeout are the times that the server keeps, with a real server's
// defaults. History has two floors, as there: Compact raises that of exact reads and
// continue tokens, as a compaction of etcd does, and leaves watches their window, as
// a watch cache does; Expire raises both, so that a watch from the past gets its 410.
//
// # Backups
//
// Server.Snapshot and Server.Restore are a backup of etcd and what happens when it is
// played back, with a bump of the revision or without. Server.Fork is a second server
// with the objects and the history of the first.
//
// # A server in trouble
//
// Server.CacheNotReady is a watch cache that is being filled: watches and cached lists
// get 429. Server.Drain, Shutdown and Restart end the front door gracefully and open it
// again on its address, with the store kept. Server.Discovery loses groups, makes them
// answer 503, go stale or flap. SetFeature and WithoutFeatures take streaming lists or
// aggregated discovery away, as on servers that do not have them yet. Server.SkewClock puts
// the server's clock wrong.
//
// A request that takes longer than its timeout parameter says, or than a
// minute in admission functions, gets 504 (EX-08), and one that makes the server panic 500.
//
// # Limits
//
// What is too large or too much is refused, leaves nothing half done, and the next request is served.
// A test that runs away comes to an end before the memory of its machine does.
//
//	of                          more than                              is answered
//	a body                      3 MiB                                  413 (CR-09)
//	an object, as it is stored  1.5 MiB                                500 etcdserver: request is too large (CR-10)
//	address or headers          1 MiB                                  431
//	all objects                 WithQuota, 2 GiB                       500 etcdserver: mvcc: database space exceeded
//	the past                    WithHistory, 5 minutes and 100,000     410 to who asks for what is forgotten
//	                            changes; WithHistoryBytes, 256 MiB
//	requests at a time          WithMaxInFlight, no limit              429, Retry-After 1 (HT-08)
//	watches at a time           WithMaxWatches, no limit               429, Retry-After 1
//
// The last two have no limit by default: each is a goroutine and a connection of the test itself, and a
// real server does not count its watches either. The timeline and all caches are bounded, too.
//
// # Replicas
//
// Server.Replica opens a second front door on the same store, as a second API server
// would be, whose view can be frozen or lag behind by changes or by time. Reads that
// may be old and watches come from its view, all others from the store: a client that
// moves between the doors travels back in time.
//
// # Admission
//
// WithAdmission lets Go functions have a say in every write, as admission webhooks do:
// they get the AdmissionRequest that a webhook would get, and may refuse, warn or
// change the object by a JSON patch. A dry run that would have to call one with declared
// side effects is refused (DR-07).
//
// WithMiddleware puts a handler of the test around the whole server, for what neither
// admission nor fault rules have words for.
//
// # Faults
//
// Server.Faults takes rules that make the server misbehave: see package faults.
//
// # The timeline
//
// Server.Timeline is what the server was asked and what it answered, the frames of
// watches and the hits of fault rules, in the order of time: values, and as text a line
// for each.
//
//	+1.000s #2 ann/v1 create /api/v1/namespaces/default/configmaps -> 201 rv=1005
//	+1.000s     #1 ADDED default/a rv=1005
//	+1.000s #3 ann/v1 list /api/v1/namespaces/default/configmaps -> 503
//	+1.000s   ! busy: before list configmaps in default: status(503)
//
// A request is numbered and has the time since the server began, its user agent, what was
// answered, and how long that took; frames have the number of their watch. It is
// what clients were sent, behind all faults. Memory is bounded, see there, and
// WithoutTimeline switches it off. A test that fails logs its end by itself, see Start.
//
// WriteHTML makes one page of it, a file to open in a browser: a lane for each client
// and each watch, faults where they hit, a write beside the events that it caused, and
// the bodies, with what changed since the version before. It works by keys alone (press
// ? for them), fetches nothing, and has a plain table for those without scripts. A test
// that fails leaves it for its server, and a scenario that fails as well: in the
// ArtifactDir of the test with go test -artifacts, or in a folder of your choice. In a test
// that passes, Server.KeepTimeline does the same.
//
//	go test -artifacts ./...
//	FAKEAPI_ARTIFACTS=FOLDER go test ./...
//
// # The control API
//
// With WithControl, and in the command fakeapi serve, all this can be had over HTTP by
// tests in other languages. Fault rules do not hit it. Lists are text, a line for each, or
// JSON for those who accept application/json; what cannot be done is a Status.
//
//	A=http://127.0.0.1:8080/fakeapi/v1
//	curl -X POST   $A/faults --data-binary 'busy: when verb(list) && first(3) do status(429)'   one rule a line; all or none
//	curl           $A/faults                       the rules that are armed
//	curl -X DELETE $A/faults/busy                  those of a name; without the name all
//	curl           $A/hits                         what the rules did to which request, the latest 1024
//	curl           $A/requests                     code, method, path and user agent of the latest 1000 requests, and of those that are open
//	curl           $A/timeline                     Server.Timeline; in a browser its page
//	curl -X POST   $A/compact                      Server.Compact
//	curl -X POST   $A/expire                       Server.Expire
//	curl -X POST   $A/settle                       Server.Settle
//	curl -X POST   $A/tokens --data-binary 's3cret,ann,team-a'   Server.AddToken; ?expiresIn=10m for one that ends
//	curl -X POST   $A/tokens/expire --data-binary s3cret   Server.ExpireToken
//	curl -X POST   $A/certificates --data-binary 'ann,team-a'   Server.ClientCertificate, the key behind it; ?expiresIn=10m
//	curl -X POST   $A/snapshots/before             take a snapshot under a name
//	curl           $A/snapshots                    those that were taken
//	curl -X POST   $A/snapshots/before/restore     Server.Restore; ?bump=1000 for a revision bump
//	curl -X DELETE $A/snapshots/before             forget it
//	curl -X POST   $A/forks/second                 Server.Fork on a free port, with the same options; tells where
//	curl           $A/forks                        those that are open
//	curl -X DELETE $A/forks/second                 close it
//
// # What is faithful
//
// Rule numbers are those of the project's list of API-server behaviours.
//
//   - Paths, methods and their refusals (PV), for all built-in types in the versions
//     that v1.37 serves by default.
//   - get, list, watch: every cell of the resourceVersion tables, chunks, bookmarks,
//     streaming lists, selectors with their transitions, expiry and the wait for a
//     future revision (GT, LS, RS, CH, WA, BM, SI, EX, SE).
//   - Watches over WebSockets (WA-33): a text message for each event in JSON, a binary one
//     in protobuf, and 403 without an Origin, as a real server has it. Fault rules can hit
//     such a watch before it begins only, and its frames are not in the timeline.
//   - create, update, patch (JSON, merge, strategic), delete, deletecollection:
//     names, generateName, metadata and its validation, generation, preconditions,
//     no-op writes, finalizers in two phases, dry run, field validation with its
//     warnings.
//   - Subresources (SU, PA-22): status with what each type lets it change of the
//     metadata, scale, pods/binding and bindings, pods/eviction with
//     PodDisruptionBudgets, pods/ephemeralcontainers, pods/resize, namespaces/finalize,
//     serviceaccounts/token, certificatesigningrequests/approval. What only a kubelet
//     or a workload could answer (log, exec, attach, portforward, proxy) is refused
//     with 501 and a message that says so, and with 404 if the object is not there.
//   - Server-side apply and managedFields for the built-in types (SA).
//   - JSON, YAML and protobuf both ways, chosen as Accept and Content-Type say (CN, PB); CBOR
//     with WithCBOR (CB); PartialObjectMetadata; Tables with the columns that kubectl get
//     prints, ages by the server's clock.
//   - gzip for answers above 128 KiB and for streaming lists (HT-02, SI-17). Go's clients ask
//     for it by themselves; a rest.Config with DisableCompression, which a test with large
//     lists may want for its speed, does not.
//   - /metrics with what is known of requests, watches, limits and objects, and of the process and
//     Go's runtime, by the names and labels of a real server (DI-19). DELETE begins anew. What faults do counts as
//     if the server had done it. Its cost is a part of a microsecond for a request.
//   - Discovery in both forms, /version, the health paths; OpenAPI v3 and v2, in JSON
//     and protobuf, with all operations and the schemas of all types as a real server
//     tells them (DI-18), made when they are first asked for.
//   - HTTPS with HTTP/2 and HTTP/1.1 (HT-06), 100 streams on a connection; bearer tokens,
//     those of service accounts with their expiry, audience and bound objects; client
//     certificates; 401 (AU-01), and the end of the HTTP/2 connection with it.
//   - Anonymous requests, impersonation in all modes of v1.37 (KEP-5284), and 403 and 500 of
//     an authorizer (AU-02 to AU-05, AU-07 to AU-10).
//   - Reviews of tokens, access and rules, and of oneself (VR).
//   - Controllers, as a control plane runs them around its API server; see below.
//
// # Controllers
//
// They run by themselves, on the server's time, and write as clients do: with
// resourceVersions, events and managedFields.
//
//   - A namespace that is deleted is Terminating at once, and closed to new objects
//     (NS-01, NS-02). Its pods are deleted, then all else; finalizers and grace
//     periods are honoured; its conditions tell what is left; it goes when nothing is,
//     and when nobody has a finalizer on it (NS-06 to NS-09).
//   - The garbage collector deletes the dependents of owners that are gone, in the
//     background, or in the foreground, where owners wait for those that block
//     them, or makes orphans of them, as the policy says (DL-12 to DL-14, DL-37). An
//     owner that never was counts as gone; one of a kind that is not served says nothing,
//     and its dependents stay. This goes for fixtures, too.
//   - There is no kubelet. A Pod that a node runs is removed when its grace is over,
//     which is 30 seconds where neither the delete nor its spec says otherwise.
//
// Server.Settle returns when they have nothing left to do at this moment; in a bubble,
// synctest.Wait does. WithoutControllers switches them off, and Settle steps them.
//
// # What is not there yet
//
// What would need these answers with a clear Status (501 NotImplemented), a 404 or
// 405 as for a thing that does not exist, or a fallback that the protocol allows:
//
//   - Aggregated APIs.
//   - All other controllers: a Deployment makes no ReplicaSets, no default
//     ServiceAccount appears in a new namespace, nothing is scheduled.
//   - Compression of the OpenAPI documents.
//   - RBAC: Roles and their bindings are stored, and nobody asks them. Admission webhooks and
//     policies.
//   - All other authentication but bearer tokens and client certificates.
//
// # Where it differs silently
//
//   - Built-in types get no defaults, but for the label of a Namespace and the type of a
//     Secret, and no validation beyond their metadata and the
//     keys and sizes of ConfigMaps and Secrets: what is stored is what was sent. A real
//     server would, for instance, set a Deployment's replicas to 1, and refuse a Pod
//     without containers. Stored forms that differ for want of defaults:
//     core ConfigMap, Endpoints, LimitRange, Node, PersistentVolume,
//     PersistentVolumeClaim, Pod, PodTemplate, ReplicationController, ResourceQuota,
//     Service; apps DaemonSet, Deployment, ReplicaSet, StatefulSet; autoscaling
//     HorizontalPodAutoscaler; batch CronJob, Job; networking IngressClass,
//     NetworkPolicy; rbac ClusterRoleBinding, RoleBinding; storage CSIDriver,
//     StorageClass; admissionregistration, all types; discovery EndpointSlice;
//     flowcontrol FlowSchema, PriorityLevelConfiguration; resource ResourceClaim,
//     ResourceClaimTemplate, ResourceSlice; scheduling PriorityClass.
//   - Nothing is allocated or filled in by the strategies and admission plugins of a
//     cluster either: cluster IPs and node ports of Services, the selector and labels of
//     a Job, a Pod's qosClass, service account, tolerations and priority, a claim's
//     storage class and protecting finalizer, the requester of a certificate.
//   - A Scale shows 1 where an object has no replicas, which is their default.
//   - The status of a PodDisruptionBudget is what a test writes, as its controller
//     does not run: without an observedGeneration evictions get 429, and what each
//     takes of disruptionsAllowed nobody gives back. An eviction that its own
//     preconditions or options refuse takes nothing.
//   - The token of a service account is a signed JWT for the issuer
//     https://kubernetes.default.svc.cluster.local. Its key comes from the seed, and is
//     published nowhere. The answer has no managedFields.
//   - Without WithTokens and WithClientCA nobody looks at credentials: everybody is
//     system:admin. With them, and without WithAnonymous, a request without credentials gets 401
//     where a cluster would take it for one of system:anonymous and answer 403; /healthz, /livez,
//     /readyz and /version are open in both. Nothing remembers a token or a right to
//     impersonate, where a cluster takes one for valid for ten seconds after it was used.
//   - Of a token that is not valid a review says "invalid bearer token", and not why. Reviews
//     have no managedFields. The rules of an authorizer function are told as incomplete.
//   - The status of a Pod is not validated, nor what a resize asks for compared with a
//     LimitRange, a quota or the node.
//   - Controllers act at once, where those of a cluster take their time (a deleted
//     namespace is let be for five seconds), and find every cycle of owners that wait for
//     each other, where those of a cluster can miss one. Neither admission nor
//     faults see what they write.
//   - The recorded v1.37 server answers an unknown top-level path with the text "404
//     page not found", the documents with an index of paths; the server does as the
//     recording. Likewise an unknown path below a served group is a Status.
//   - What a real server takes minutes or gigabytes for is refused at once with 413: YAML of
//     more than 3 MiB once its aliases are written out, a list of more than 10,000 elements in a
//     strategic merge patch, a merge patch whose bytes times its depth are more than 128 Mi.
//   - A read of "any" state (resourceVersion "0") is current, but through a Replica,
//     and, as from a watch cache, never chunked (RS-14, RS-17).
//   - After Compact every exact read and continue token from before is 410, at once. A
//     real server's watch cache may go on answering them for a while (RS-30).
//   - There is no priority and fairness: answers have no X-Kubernetes-PF headers (HT-07).
//   - The time that a request has does not run while a fault rule delays it.
//   - The health paths know fewer checks than those of a real server, none of them about
//     the start of its parts. There is no /debug, and no /logs.
//   - A quota is of what there is, at this moment: an etcd counts its file, past included, and
//     takes no write any more until somebody compacts, defragments and disarms it.
//   - A slow watcher is never cut off. If history has left it behind, it ends with the
//     410 ERROR event.
package fakeapi
