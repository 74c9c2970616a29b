// Package fakeapi is a Kubernetes API server in memory, for tests of
// controllers, operators and clients. It speaks real HTTP and behaves as the
// documents and a real v1.37 server do: resourceVersions, watches with history,
// bookmarks, streaming lists, chunks with continue tokens, 410 Gone, optimistic
// concurrency, finalizers, and the controllers that end things: namespaces, pods in
// their grace period, dependents of owners that are gone. It starts in less than a millisecond.
//
// # When to use it
//
// Whenever a test is about how code talks to an API server, and what it does when that goes
// wrong: informers and caches, retries, conflicts, leader election, finalizers, pagination, a
// kubectl plugin, a client in another language. Every client runs on it unmodified.
//
// It is not for what a control plane does with an object once it is stored. Nothing is
// scheduled, no Deployment makes ReplicaSets, and the specs of built-in types are neither
// defaulted nor validated: that is envtest's, and with running pods kind's. The last sections
// say exactly what is faithful and what is not.
//
// # First steps
//
//	func TestMyController(t *testing.T) {
//		srv := fakeapi.Start(t, fakeapi.WithManifests(os.DirFS("testdata")))
//		go myController(t.Context(), srv.RESTConfig())
//
//		client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
//		... // change something, and wait for what the controller makes of it
//
//		srv.Faults().AddFor(t, faults.Expire410()) // and now watches end with 410
//		...
//	}
//
// Start makes a server on a loopback port and ends it with the test. New does so outside of
// tests, with Close. RESTConfig is for client-go and everything on top of it, Kubeconfig for
// kubectl and other languages, Client and URL for plain HTTP, ServeHTTP for none at all.
// Namespaces default, kube-system, kube-public and kube-node-lease are there. A test that
// fails logs what the server was asked last, and what it answered.
//
// # Options by task
//
//	objects to begin with         WithObjects, WithYAML, WithManifests, WithScheme; later Load, LoadYAML, LoadManifests
//	custom resources              WithCRDs with CRDsFromPaths, CRDsFromFS, CRDsFromObjects or CRDFromGoType; later LoadCRDs
//	their conversion webhooks     WithWebhookDialer, WithServiceResolver
//	where it listens              WithAddress, WithAllowedHosts, WithTLS; WithInMemoryNetwork for none
//	virtual time                  WithInMemoryNetwork, inside of synctest.Test
//	the same uids in every run    WithSeed
//	users and their rights        WithTokens, WithClientCA, WithAnonymousAuth, WithAuthorizer
//	a say in every write          WithAdmission
//	misbehaviour                  WithFaults; later Server.Faults
//	history and its end           WithLimits, WithContinueLifetime; Server.Compact, Server.ForgetHistory
//	other times                   WithResourceVersionTimeout, WithBookmarkInterval, WithWatchTimeout
//	an overloaded or full server  WithLimits, WithCacheInitializing
//	an older or a newer server    WithFeature
//	controllers by hand           WithoutControllers; Server.RunControllers
//	tests in other languages      WithControlAPI
//	a handler around it           WithMiddleware
//	no record of requests         WithoutTimeline
//	a log                         WithLogger
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
//		fakeapi.WithCRDs(fakeapi.CRDsFromPaths("../config/crd/bases")),
//		fakeapi.WithObjects(&widgetsv1.Widget{...}), fakeapi.WithScheme(scheme))
//
// A definition is Established before the request that made it is answered, or before Start
// returns: a real server takes some milliseconds, in which new paths answer 404.
// Definitions given to WithCRDs, LoadCRDs and Load are taken as a create, or, if the name is
// there, as an update of labels, annotations and spec, whatever status they have; only
// its storedVersions count. Custom resources among fixtures keep their status; they are
// defaulted, and refused, by their schemas, and fields that a schema does not have are an error.
//
// CRDFromGoType makes a definition up from a Go type, for types without manifests. It takes everything:
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
// beside tokens or instead of them; IssueClientCertificate and RESTConfigWithCertificate issue them. The ways
// in carry the certificate authority and the first token, or a certificate, by themselves;
// RESTConfigWithToken is for other tokens. Whoever may can impersonate others, as with kubectl --as.
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
// # Virtual time
//
// With WithInMemoryNetwork the server listens on pipes in memory. Made inside a
// testing/synctest bubble, with its clients, everything runs on virtual time: ten
// minutes of an outage take milliseconds.
//
//	synctest.Test(t, func(t *testing.T) {
//		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
//		go myController(t.Context(), srv.RESTConfig())
//		time.Sleep(10 * time.Minute)
//		srv.ForgetHistory()
//		...
//	})
//
// Two things to know:
//
//   - Real sockets make time stand still. Build clients from RESTConfig or Client.
//   - client-go throttles the errors that it reports by a clock that was started
//     outside of the bubble; the first error would sleep for decades of virtual
//     time. Take the throttle out, for instance in TestMain:
//     utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
//
// # The past
//
// History has two floors, as on a real server: Compact raises that of exact reads and
// continue tokens, as a compaction of etcd does, and leaves watches their window, as
// a watch cache does; ForgetHistory raises both, so that a watch from the past gets its 410.
// By itself the server forgets what is older than five minutes.
//
// Server.Snapshot and Server.Restore are a backup of etcd and what happens when it is
// played back, with a bump of the revision or without. Server.Fork is a second server
// with the objects and the history of the first: a server that was filled once can be
// forked for every test.
//
// # A server in trouble
//
// Server.Faults takes rules that lose, delay, refuse, cut and garble what single requests
// and watches get: see package faults. What concerns the whole server are methods:
//
// Server.ReinitializeCache is a watch cache that is being filled: watches and cached lists
// get 429. Server.Drain, Shutdown and Restart end the front door gracefully and open it
// again on its address, with the store kept. Server.Discovery loses groups, makes them
// answer 503, go stale or flap. SetFeature takes streaming lists or aggregated discovery
// away, as on servers that do not have them yet. Server.SkewClock puts the server's clock wrong.
// ExpireToken ends credentials while a controller runs.
//
// Server.Replica opens a second front door on the same store, as a second API server
// would be, whose view can be frozen or lag behind by changes or by time. Reads that
// may be old and watches come from its view, all others from the store: a client that
// moves between the doors travels back in time.
//
// A request that takes longer than its timeout parameter says, or than a
// minute in admission functions, gets 504 (EX-08), and one that makes the server panic 500.
//
// # Admission
//
// WithAdmission lets Go functions have a say in every write, as admission webhooks do:
// they get the AdmissionRequest that a webhook would get, and may refuse, warn or
// change the object by a JSON patch. A dry run that would have to call one with declared
// side effects is refused (DR-07). WithMiddleware puts a handler of the test around the
// whole server, for what neither admission nor fault rules have words for.
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
// that passes, Server.SaveTimeline does the same.
//
//	go test -artifacts ./...
//	FAKEAPI_ARTIFACTS=FOLDER go test ./...
//
// # The control API
//
// With WithControlAPI, and in the command fakeapi serve, all this can be had over HTTP by
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
//	curl -X POST   $A/expire                       Server.ForgetHistory
//	curl -X POST   $A/settle                       Server.RunControllers
//	curl -X POST   $A/tokens --data-binary 's3cret,ann,team-a'   Server.AddToken; ?expiresIn=10m for one that ends
//	curl -X POST   $A/tokens/expire --data-binary s3cret   Server.ExpireToken
//	curl -X POST   $A/certificates --data-binary 'ann,team-a'   Server.IssueClientCertificate, the key behind it; ?expiresIn=10m
//	curl -X POST   $A/snapshots/before             take a snapshot under a name
//	curl           $A/snapshots                    those that were taken
//	curl -X POST   $A/snapshots/before/restore     Server.Restore; ?bump=1000 for a revision bump
//	curl -X DELETE $A/snapshots/before             forget it
//	curl -X POST   $A/forks/second                 Server.Fork on a free port, with the same options; tells where
//	curl           $A/forks                        those that are open
//	curl -X DELETE $A/forks/second                 close it
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
// Server.RunControllers returns when they have nothing left to do at this moment; in a bubble,
// synctest.Wait does. WithoutControllers switches them off, and RunControllers steps them.
//
// # What is faithful: verbs
//
// Rule numbers are those of the project's list of API-server behaviours, which package
// conformance checks on this server and on others.
//
//	get, list         every cell of the resourceVersion tables, chunks and their expiry, selectors by
//	                  label and field, the wait for a future revision and its 504 (GT, LS, RS, CH, SE)
//	watch             history and its end with 410, bookmarks, streaming lists, selectors with their
//	                  transitions, timeouts; over HTTP and WebSockets (WA, BM, SI, EX)
//	create            names, generateName, metadata and its validation, dry run, field validation
//	                  with its warnings (CR, NM, MD, DR, FV, WN)
//	update, patch     preconditions, generation, no-op writes that take no revision; JSON, merge and
//	                  strategic merge patches (OC, PA)
//	apply             managedFields of every write, conflicts, force, ownership by subresource (SA)
//	delete,           preconditions, finalizers in two phases, propagation policies, grace periods of
//	deletecollection  pods (DL)
//	subresources      see below (SU); what a kubelet or a workload would answer (log, exec, attach,
//	                  portforward, proxy) is 501 with a message that says so, 404 without the object
//	reviews           of tokens, access and rules, and of oneself (VR)
//
// Not faithful in them: a read of "any" state (resourceVersion "0") is current, but through a
// Replica. After Compact every exact read and continue token from before is 410 at once, where
// a watch cache may go on answering them for a while (RS-30). A slow watcher is never cut off; if
// history has left it behind, it ends with the 410 ERROR event. Fault rules can hit a watch over a
// WebSocket before it begins only, and its frames are not in the timeline (WA-33).
//
// # What is faithful: types
//
// All built-in types that v1.37 serves by default are there, in all their versions, with the
// columns of kubectl get, field selectors, short names and categories.
//
//	all built-in types   metadata, status apart from spec, generation, managedFields. No defaults and no
//	                     validation of spec and status; nothing is allocated or filled in
//	ConfigMaps, Secrets  keys and sizes are checked, a Secret has its default type; but those that
//	                     say they are immutable can be changed
//	Namespaces           their phase, finalizers, conditions and label; closed when they end (NS)
//	Pods                 grace period, binding, eviction with PodDisruptionBudgets, ephemeral
//	                     containers, resize. Their status is not validated, nor is a resize compared
//	                     with a LimitRange, a quota or the node
//	scale                Deployments, ReplicaSets, StatefulSets, ReplicationControllers and custom
//	                     resources that have it. Where an object has no replicas, 1
//	ServiceAccounts      tokens with expiry, audience and bound objects; signed for the issuer
//	                     https://kubernetes.default.svc.cluster.local by a key of the seed that is
//	                     published nowhere
//	PodDisruptionBudgets their status is what a test writes: without an observedGeneration evictions
//	                     get 429, and what each takes of disruptionsAllowed nobody gives back
//	CertificateSigningRequests   approval; nothing signs them, and the requester is not filled in
//	custom resources     all that a definition says, validated by the API server's own library
//
// Stored forms that differ for want of defaults: core ConfigMap, Endpoints, LimitRange, Node,
// PersistentVolume, PersistentVolumeClaim, Pod, PodTemplate, ReplicationController,
// ResourceQuota, Service; apps DaemonSet, Deployment, ReplicaSet, StatefulSet; autoscaling
// HorizontalPodAutoscaler; batch CronJob, Job; networking IngressClass, NetworkPolicy; rbac
// ClusterRoleBinding, RoleBinding; storage CSIDriver, StorageClass; admissionregistration, all
// types; discovery EndpointSlice; flowcontrol FlowSchema, PriorityLevelConfiguration; resource
// ResourceClaim, ResourceClaimTemplate, ResourceSlice; scheduling PriorityClass. Not allocated or
// filled in are, for instance, cluster IPs and node ports of Services, the selector and labels of
// a Job, a Pod's qosClass, service account, tolerations and priority, a claim's storage class
// and protecting finalizer.
//
// # What is faithful: HTTP
//
//   - Paths, methods and their refusals (PV), and every refusal a Status in the words of a real
//     server (ST).
//   - JSON, YAML and protobuf both ways, chosen as Accept and Content-Type say (CN, PB); CBOR
//     with the feature CBOR (CB); PartialObjectMetadata (PM); Tables (TB), ages by the server's clock.
//   - gzip for answers above 128 KiB and for streaming lists (HT-02, SI-17). Go's clients ask
//     for it by themselves; a rest.Config with DisableCompression, which a test with large
//     lists may want for its speed, does not.
//   - HTTPS with HTTP/2 and HTTP/1.1 (HT-06), 100 streams on a connection; bearer tokens and
//     client certificates; 401 (AU-01), and the end of the HTTP/2 connection with it.
//   - Anonymous requests, impersonation in all modes of v1.37 (KEP-5284), and 403 and 500 of
//     an authorizer (AU-02 to AU-05, AU-07 to AU-10).
//   - Discovery in both forms, /version, the health paths; OpenAPI v3 and v2, in JSON
//     and protobuf, with all operations and the schemas of all types (DI-18), made when they
//     are first asked for.
//   - /metrics with what is known of requests, watches, limits and objects, and of the process and
//     Go's runtime, by the names and labels of a real server (DI-19). DELETE begins anew. What
//     faults do counts as if the server had done it.
//
// # What is not there
//
// What would need these answers with a clear Status (501 NotImplemented), a 404 or
// 405 as for a thing that does not exist, or a fallback that the protocol allows:
//
//   - Aggregated APIs.
//   - All other controllers, and a kubelet: no default ServiceAccountUser appears in a new namespace,
//     nothing is scheduled, no status changes by itself.
//   - RBAC: Roles and their bindings are stored, and nobody asks them. Admission webhooks and
//     policies.
//   - All other authentication but bearer tokens and client certificates.
//   - Compression of the OpenAPI documents; /debug and /logs.
//
// # Where it differs silently
//
// Besides what the sections on verbs and types say:
//
//   - Without WithTokens and WithClientCA nobody looks at credentials: everybody is
//     system:admin. With them, and without WithAnonymousAuth, a request without credentials gets 401
//     where a cluster would take it for one of system:anonymous and answer 403; /healthz, /livez,
//     /readyz and /version are open in both. Nothing remembers a token or a right to
//     impersonate, where a cluster takes one for valid for ten seconds after it was used.
//   - Of a token that is not valid a review says "invalid bearer token", and not why. Reviews and
//     issued tokens have no managedFields. The rules of an authorizer function are told as incomplete.
//   - Controllers act at once, where those of a cluster take their time (a deleted
//     namespace is let be for five seconds), and find every cycle of owners that wait for
//     each other, where those of a cluster can miss one. Neither admission nor
//     faults see what they write.
//   - The recorded v1.37 server answers an unknown top-level path with the text "404
//     page not found", the documents with an index of paths; the server does as the
//     recording. Likewise an unknown path below a served group is a Status.
//   - A streaming list through a Replica that is behind gets the 410 ERROR event once ForgetHistory has
//     forgotten what follows on its view; a real server would fill its cache anew.
//   - There is no priority and fairness: answers have no X-Kubernetes-PF headers (HT-07).
//   - The time that a request has does not run while a fault rule delays it.
//   - The health paths know fewer checks than those of a real server, none of them about
//     the start of its parts.
//   - A quota is of what there is, at this moment: an etcd counts its file, past included, and
//     takes no write any more until somebody compacts, defragments and disarms it.
//
// # Errors
//
// What a client does wrong is answered as a real server answers it: a Status with code, reason,
// message and causes. What the test does wrong is an error that begins with "fakeapi: " and
// names the option, the object or the file; Start fails the test with it, and nothing is half
// done. An error of Close or Shutdown names the requests and connections that hang.
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
//	all objects                 Limits, 2 GiB                          500 etcdserver: mvcc: database space exceeded
//	the past                    Limits, 5 minutes, 100,000 changes     410 to who asks for what is forgotten
//	                            and 256 MiB
//	requests at a time          Limits, no limit                       429, Retry-After 1 (HT-08)
//	watches at a time           Limits, no limit                       429, Retry-After 1
//
// The last two have no limit by default: each is a goroutine and a connection of the test itself, and a
// real server does not count its watches either. The timeline has the latest 1000 requests, the first
// 8 KiB of a body and 16 MiB of frames; all caches are bounded, too.
//
//   - What would take a real server minutes or gigabytes is refused with 413: YAML of more than 3 MiB
//     once its aliases are written out, a list of more than 10,000 elements in a strategic merge
//     patch, a merge patch whose bytes times its depth are more than 128 Mi.
//   - Everything is in memory, and gone with the process. Snapshots and history keep what they show.
//   - Only loopback is listened on. Requests that a browser may have sent for a web page are
//     refused with 403: those under a name that is not of this machine (WithAllowedHosts gives others), those
//     of a page of another origin, as Origin or Sec-Fetch-Site say, and what any page at all
//     would change through the control API. Clients that are no browsers send neither header.
//
// # The documents behind it
//
// The Kubernetes documentation's API Concepts, Server-Side Apply, Dynamic Admission Control,
// Controlling Access and Custom Resources; the API conventions; and where they say less than
// clients rely on, what a v1.37 server answered when it was recorded. Among the proposals: KEP-555
// (server-side apply), KEP-3157 (streaming lists), KEP-2340 (consistent reads from a cache),
// KEP-3352 (aggregated discovery), KEP-2896 (OpenAPI v3), KEP-4358 (selectable fields), KEP-5080
// (order in which a namespace is emptied), KEP-5284 (impersonation).
package fakeapi
