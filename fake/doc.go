// Package fakeapi is a Kubernetes API server in memory, for tests of controllers, operators and
// clients. It serves HTTP and behaves as the Kubernetes documentation and a v1.37 server do:
// resourceVersions, watches with history, bookmarks, streaming lists, pagination with continue
// tokens, 410 Gone, optimistic concurrency, finalizers, server-side apply, and the controllers that
// delete objects: of terminating namespaces, of pods after their grace period, and of owners that
// were deleted. A server starts in less than a millisecond.
//
// # When to use it
//
// Use it for tests of how code talks to an API server, and of what the code does when the server
// fails: informers and caches, retries, conflicts, leader election, finalizers, pagination, kubectl
// plugins, and clients in other languages. All clients run on it unmodified.
//
// It does not do what a control plane does with stored objects: nothing is scheduled, and
// Deployments create no ReplicaSets. Use kind for that. The last sections list what is faithful.
//
// # First steps
//
//	func TestMyController(t *testing.T) {
//		srv := fakeapi.Start(t, fakeapi.WithManifests(os.DirFS("testdata")))
//		go myController(t.Context(), srv.RESTConfig())
//
//		client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
//		... // change something, and wait for what the controller does
//
//		srv.Faults().AddFor(t, faults.Expire410()) // from now on watches end with 410
//		...
//	}
//
// Start starts a server on a loopback port and closes it when the test ends. New starts one outside
// of tests; call Close. The namespaces default, kube-system, kube-public and kube-node-lease exist,
// and what a kube-apiserver creates when it starts: the Service kubernetes with its endpoints,
// system PriorityClasses, FlowSchemas and others; see WithoutSystemObjects. A test that fails logs
// the last requests and responses of its server.
//
// # Connecting clients
//
//	RESTConfig                                  client-go and libraries based on it
//	Kubeconfig, KubeconfigFile, KubeconfigFor   kubectl and other languages
//	Client, URL                                 plain HTTP
//	ServeHTTP                                   a request without a network
//
// # Objects
//
// Load, LoadYAML and LoadManifests store objects as they are, with their status and without the
// API. WithObjects, WithYAML and WithManifests do so before the first request. Get and List read
// the store without a request, and Dump returns all of it as YAML, for checks at the end of a test.
//
// # Options by task
//
//	objects at the start          WithObjects, WithYAML, WithManifests, WithScheme,
//	                              WithoutSystemObjects, WithStorageOf
//	custom resources              WithCRDs with CRDsFromPaths, CRDsFromFS, CRDsFromObjects or CRDFromGoType
//	webhooks                      WithWebhookDialer, WithServiceResolver, WithRemoteWebhooks,
//	                              WithAdmissionDelay
//	address and TLS               WithAddress, WithListener, WithAllowedHosts, WithTLS,
//	                              WithServingCertificate, WithInMemoryNetwork
//	virtual time                  WithInMemoryNetwork, inside of synctest.Test
//	the same uids in every run    WithSeed
//	users and permissions         WithRBAC, WithAuthorizationModes, WithAuthorizer, WithTokens,
//	                              WithClientCA, WithAnonymousAuth, WithoutAnonymousAuth,
//	                              WithRequestHeaderAuthentication, WithServiceAccountKeys
//	admission, validation         WithAdmission, WithAdmissionPlugins, WithoutAdmissionPlugins,
//	                              WithoutValidation
//	faults, latency               WithFaults, also with faults.RealisticLatency; later Server.Faults
//	limits and history            WithLimits, WithContinueLifetime
//	the ranges of Services        WithServiceClusterIPRange, WithServiceNodePortRange
//	timeouts and intervals        WithResourceVersionTimeout, WithBookmarkInterval, WithWatchTimeout,
//	                              WithRequestTimeout, WithNamespaceDeletionDelay, WithGoawayChance
//	an initializing, a late cache WithCacheInitializing, WithWatchCacheDelay
//	older and newer servers       WithFeature, WithRuntimeConfig
//	controllers by hand           WithoutControllers, and Server.RunControllers
//	tests in other languages      WithControlAPI, WithControlAddress
//	an HTTP handler around it     WithMiddleware
//	logging and recording         WithLogger, WithoutTimeline, WithAuditLog
//
// # Custom resources
//
// CustomResourceDefinitions are accepted and served as on a real server: structural schemas with
// pruning, defaults, validation and CEL rules, several versions, the subresources status and scale,
// selectable fields, printer columns, discovery and OpenAPI. They can be created through the API
// (by kubectl, or by envtest.InstallCRDs with RESTConfig), with WithCRDs and LoadCRDs, or be among
// the fixtures, in any order: they are stored before all other objects.
//
//	srv := fakeapi.Start(t,
//		fakeapi.WithCRDs(fakeapi.CRDsFromPaths("../config/crd/bases")),
//		fakeapi.WithObjects(&widgetsv1.Widget{...}), fakeapi.WithScheme(scheme))
//
// A CustomResourceDefinition is Established before the response to the request that created it, or
// before Start returns. A real server takes some milliseconds, in which the new paths return 404.
// WithCRDs, LoadCRDs and Load create it, or, if it exists, update its labels, annotations and spec.
// Of its status only storedVersions is read. Custom resources among the fixtures keep their status.
// They are defaulted and validated by their schemas, and unknown fields are an error.
//
// What a conversion webhook returns is cached with the state of the object: lists and watches call
// it once for each, a get without resourceVersion calls it every time.
//
// A change of the spec or the accepted names of a definition ends the watches of its objects. One
// from a resourceVersion from before the change gets the 410 ERROR event, as on a real server,
// which initializes its watch cache again, so that informers list again (CD-08). A real server ends
// the watches a second later, and may return 429 for some milliseconds; WithCacheInitializing does
// so, too.
//
// A fork starts with the types of its original. A Restore to a snapshot from before a definition
// removes its type and ends its watches. Replicas share the types of their server.
//
// # Users and permissions
//
// By default every request is one of the administrator, system:admin, unless it has a service
// account's token. With WithRBAC users are authenticated, over TLS, and need the rights that stored
// Roles, ClusterRoles and bindings give them. A request without credentials is one of
// system:anonymous. RESTConfig, Kubeconfig and Client are those of the administrator:
//
//	srv := fakeapi.Start(t, fakeapi.WithRBAC(), fakeapi.WithManifests(os.DirFS("../config/rbac")))
//	manager, err := srv.RESTConfigForServiceAccount("system", "manager") // a token, also without RBAC
//	ann, err := srv.RESTConfigWithCertificate("ann", "team-a")           // a client certificate
//
// Both act as another user, and so does a copy of RESTConfig whose Impersonate is set.
// WithAuthorizer authorizes requests with an authorizer of k8s.io/apiserver, without RBAC or before
// it. The response to a denied request is that of a real server. Access reviews, and with them
// "kubectl auth can-i", and the expressions of policies use the same authorizers.
//
// Server.Access reports which permissions each user and user agent needed, also without RBAC, and
// RequireRBAC fails a test of a client whose manifests lack one:
//
//	fakeapi.RequireRBAC(t, srv, os.DirFS("../config/rbac"), "manager")
//
// WithTLS serves HTTPS, with HTTP/2 for clients that offer it. WithTokens also authenticates bearer
// tokens, and WithClientCA client certificates. RESTConfig then has the first token, or a
// certificate of system:admin. AddToken and ExpireToken change the tokens while the server runs.
//
// # Virtual time
//
// With WithInMemoryNetwork the server listens on pipes in memory. If the server and its clients are
// started inside of a testing/synctest bubble, everything runs on virtual time: an outage of ten
// minutes takes milliseconds.
//
//	synctest.Test(t, func(t *testing.T) {
//		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
//		go myController(t.Context(), srv.RESTConfig())
//		time.Sleep(10 * time.Minute)
//		srv.ForgetHistory()
//		...
//	})
//
// Note:
//
//   - Virtual time does not pass while a goroutine waits for a real socket. Create clients from
//     RESTConfig or Client.
//   - client-go limits the rate of the errors that it reports by a clock that was started outside
//     of the bubble. The first error would wait for decades of virtual time. Remove the limit, for
//     example in TestMain:
//     utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
//
// # History
//
// There are two limits of history, as on a real server. Compact raises the one for exact reads and
// continue tokens, as a compaction of etcd does, and leaves the window of watches, as a watch cache
// does. ForgetHistory raises both, so that a watch from a past resourceVersion gets 410. By default
// the server forgets changes after five minutes; see Limits.
//
// Server.Snapshot and Server.Restore are a backup of etcd and its restore, with or without a bump
// of the revision. Without one, running informers keep objects that the restore has removed, as
// after a restore of etcd. To reset a server between tests, restore with a bump, after which
// clients list again, or use Server.Fork: a second server with the objects and the history of the
// first. With Server.ForkFor each test has a fork of a server that was filled once.
//
// # Faults and outages
//
// Server.Faults has rules that lose, delay, refuse, cut off and corrupt single requests, responses
// and watch events: see package faults. FAKEAPI_FAULTS adds some to each Start. Of the server:
//
//	ReinitializeCache         watches and cached lists get 429 while the watch cache initializes
//	Drain, Shutdown, Restart  a graceful shutdown and a restart on the same address and store
//	Discovery                 API groups that are hidden, unavailable, stale or flapping
//	SetFeature                streaming lists, aggregated discovery and CBOR disabled or enabled
//	SkewClock                 a wrong clock
//	ExpireToken               credentials that end while a controller runs
//	Replica                   a second API server on the same store
//
// The view of a Replica can be frozen or lag behind by changes or by time. Reads that may be old,
// and watches, use its view; all others use the store. A client that moves between servers can so
// see older state than before.
//
// A request that takes longer than its parameter timeout, or than a minute with admission
// functions, gets 504 (EX-08). A write whose time is over or whose client has gone is not carried
// out. One whose handler panics gets 500.
//
// # Admission
//
// MutatingWebhookConfigurations, ValidatingWebhookConfigurations, ValidatingAdmissionPolicies and
// MutatingAdmissionPolicies work as on a real server, by its own libraries. One that is stored is
// in force for the next write, also in forks and after Restore, and on a Replica when its view has
// it; WithAdmissionDelay delays it, as a real server does. Writes of the controllers are reviewed,
// too; fixtures are not.
//
// Webhooks, also those for conversion, are called over TLS with the caBundle, at loopback addresses
// only unless WithRemoteWebhooks is used. WithWebhookDialer opens the connections, for example in
// memory inside of a testing/synctest bubble. WithServiceResolver returns the addresses of
// Services; without it a Service must exist, and the dialer must reach NAME.NAMESPACE.svc:PORT.
//
// WithAdmission calls Go functions as a real server calls webhooks, after the plugins that
// WithAdmissionPlugins lists, and before ResourceQuota.
//
// # What clients did
//
// Server.Requests returns the requests that the server received, to check what a client asked:
//
//	for _, r := range srv.Requests() {
//		if r.Verb == "list" && r.Resource == "pods" {
//			t.Errorf("pods are listed, not watched: %v", r)
//		}
//	}
//
// Server.Timeline returns the requests with their responses, the frames of watches, the decisions
// of admission webhooks and policies, the hits of fault rules, and notes (actions of the test on
// the server, steps of a scenario, AddNote), in the order of time, as values and as lines of text:
//
//	+1.000s #2 ann/v1 create /api/v1/namespaces/default/configmaps -> 201 rv=1005
//	+1.000s     #1 ADDED default/a rv=1005
//	+1.000s #3 ann/v1 list /api/v1/namespaces/default/configmaps -> 503 ServiceUnavailable
//	+1.000s   ! busy: before list configmaps in default: status(503)
//	+1.200s   * server: Compact
//	+1.300s #4 ann/v1 create /api/v1/namespaces/default/configmaps -> 422 Invalid in 8ms
//	+1.303s     #4 webhook defaults/size.example.com allowed in 3ms: add /metadata/labels/size
//	+1.308s     #4 policy owners (binding all) denied with 422: the label owner is missing
//
// The line of a request has its number, the time since the server started, the user agent, the
// response and its duration. That of a frame or a decision begins with the number of the request.
// The timeline is what clients got, after all faults, but for the values of Secrets and tokens,
// which are REDACTED. Its memory is limited; see Server.Timeline.
//
// Timeline.WriteHTML writes it as an HTML page: a lane for each client and each watch, the notes,
// the faults, with the first one open, each write with the events that it caused and with who
// changed or refused it, and the bodies, with the difference to the version before. It can be used
// by keys (press ? for a list), loads no other files, and has a table for browsers without scripts.
// A test or scenario that fails writes the page to the ArtifactDir of the test with go test
// -artifacts, or to the folder FAKEAPI_ARTIFACTS. Server.SaveTimeline writes it, too.
//
// # The control API
//
// With WithControlAPI or WithControlAddress, and in the command fakeapi serve, tests in other
// languages control the server over HTTP. The index lists all requests, as text, JSON or HTML.
//
//	A=http://127.0.0.1:8080/fakeapi/v1             Server.ControlURL
//	curl           $A                              the index: all requests with their parameters
//	curl -X POST   $A/faults --data-binary 'cut: expire410(resource(pods), first(1))'   add rules, one per line
//	curl           "$A/hits?rule=cut&wait=10s"     what the rules did to which requests, when one has hit
//	curl -X DELETE $A/faults/cut                   remove the rules of a name, or without the name all
//	curl           "$A/requests?since=0&verb=list" the requests after a number
//	curl           $A/timeline                     Server.Timeline, for a browser as its page
//	curl           $A/access                       Server.Access; ?client=NAME for one, ?format=yaml for manifests
//	curl -X POST   $A/compact                      Server.Compact
//	curl -X POST   $A/forget-history               Server.ForgetHistory
//	curl -X POST   $A/tokens --data-binary 's3cret,ann,team-a'   Server.AddToken; ?expiresIn=10m for one that expires
//	curl -X POST   $A/tokens/expire --data-binary s3cret   Server.ExpireToken
//	curl -X POST   $A/kubeconfigs --data-binary 'ann,team-a'   a kubeconfig for a user, or for system:serviceaccount:NAMESPACE:NAME
//	curl -X POST   $A/snapshots/before             take a snapshot under a name
//	curl -X POST   "$A/reset?snapshot=before"      between tests: remove rules and records, and restore it
//	curl -X POST   $A/forks/second                 Server.Fork on a free port; as JSON with its kubeconfig
//	curl -X DELETE $A/forks/second                 close it
//
// Lists are text, with a line for each item, or JSON for clients that accept application/json. Each
// response has the header Fakeapi-Next, a number for ?since= of the next request, so that a test
// reads only what happened in it. ?wait= waits until the list has an item, or ?count= of them; the
// header Fakeapi-Met is false at its end. Errors are a Status. Fault rules do not apply, and
// actions are notes in the timeline. Where requests need credentials, so do these, except with
// WithControlAddress.
//
// # Controllers
//
// The controllers run on the server's time and write as clients do, with resourceVersions, events
// and managedFields.
//
//   - A deleted namespace is Terminating at once, and accepts no new objects (NS-01, NS-02). After
//     five seconds (WithNamespaceDeletionDelay), or with RunControllers, its pods are deleted, then
//     the other objects. Finalizers and grace periods are respected. Its conditions report what is
//     left. It is removed when it is empty and has no finalizers (NS-06 to NS-09).
//   - The garbage collector deletes the dependents of deleted owners in the background or in the
//     foreground, where owners wait for the dependents that block them, or removes the owner
//     references, as the propagation policy requires (DL-12 to DL-14, DL-37). An owner that never
//     existed counts as deleted. One of a kind that is not served is unknown, and its dependents
//     stay. This applies to fixtures, too. It writes no Event about references that are not valid.
//   - Aggregated ClusterRoles have the rules of those that they select, also without RBAC.
//   - There is no kubelet. A pod on a node is removed after its grace period, which is 30 seconds
//     unless the delete or its spec has another.
//   - Webhooks and policies review what they write. The users are those of a cluster, such as
//     system:serviceaccount:kube-system:generic-garbage-collector, and system:node:NODE for the
//     removal of a pod. A write that fails is done again, at first after 5 milliseconds, and after
//     each failure in a row after twice the time. Each call of Server.RunControllers does it, too.
//
// Server.RunControllers returns when they have no work left at the current time; inside of a
// bubble, synctest.Wait does the same. With WithoutControllers nothing else runs them.
//
// # What is faithful: verbs
//
// Rule numbers are those of the project's list of API server behaviours. Package conformance checks
// them on this server and on others.
//
//	get, list         all combinations of resourceVersion, match and continue; pagination and its
//	                  expiry; label and field selectors; the wait for a future revision and its 504
//	                  (GT, LS, RS, CH, SE)
//	watch             history and its end with 410, bookmarks, streaming lists, selectors with their
//	                  transitions, timeouts; over HTTP and WebSockets (WA, BM, SI, EX)
//	create            names, generateName, metadata and its validation, dry run, field validation
//	                  with its warnings (CR, NM, MD, DR, FV, WN)
//	update, patch     preconditions, generation, no-op writes without a new revision; JSON, merge and
//	                  strategic merge patches (OC, PA)
//	apply             managedFields of all writes, conflicts, force, ownership by subresource (SA)
//	delete,           preconditions, finalizers in two phases, propagation policies, grace periods of
//	deletecollection  pods (DL)
//	subresources      see below (SU); those that a kubelet or a workload would serve (log, exec,
//	                  attach, portforward, proxy) return 501; without what they need 400, 404 or 503
//	reviews           of tokens, access and rules, for the own user and for others (VR)
//
// Not faithful: a read at resourceVersion "0" returns the current state, except on a Replica. After
// Compact all earlier exact reads and continue tokens return 410 at once, where a watch cache may
// serve them for a while (RS-30). A slow watch is not cut off; if history no longer reaches back to
// it, it ends with the 410 ERROR event. Fault rules apply to a watch over a WebSocket only before
// it starts, and its frames are not in the timeline (WA-33).
//
// # What is faithful: types
//
// All built-in types that v1.37 serves by default are served in all their versions, with the
// columns of kubectl get, field selectors, short names and categories.
//
//	all built-in types   metadata, defaults, generation, managedFields, a separate status, and what
//	                     creates and updates reset, keep or compute. All fields are validated, with
//	                     the causes and warnings of a real server, unless WithoutValidation is used
//	Namespaces           phase, finalizers, conditions and label; closed while terminating (NS)
//	Pods                 grace period, binding, eviction with PodDisruptionBudgets, ephemeral
//	                     containers, resize
//	Services             cluster IPs with their IPAddresses, and node ports, are allocated from the store
//	                     and the seed, kept and released; ServiceCIDRs add ranges. A dry run returns
//	                     values of no range, as on a real server. Loaded Services keep theirs
//	scale                Deployments, ReplicaSets, StatefulSets, ReplicationControllers and custom
//	                     resources with a scale. Without replicas in the object it is 1
//	ServiceAccounts      tokens with expiry, audience and bound objects, those that a test signs and
//	                     stores in Secrets, and the issuer discovery; see WithServiceAccountKeys
//	PodDisruptionBudgets the status is written by tests: each eviction reduces disruptionsAllowed for
//	                     good. Without observedGeneration it gets 429; client-go repeats it for 100 s
//	ResourceQuotas       work without controllers, which write the status (RunControllers)
//	CertificateSigningRequests   the requester is filled in; approval. They are not signed
//	APIServices          aggregated APIs: requests go to the Service, which WithServiceResolver finds;
//	                     503 while it is not available; in discovery and OpenAPI. Each group and
//	                     version of the server has one, also with WithoutControllers
//	custom resources     all of a definition, validated by the library of the API server. Every read
//	                     prunes and sets defaults. Whole numbers are stored as integers, and the
//	                     keys of JSON are in alphabetical order, as on a real server
//
// # What is faithful: HTTP
//
//   - Paths, methods and their errors (PV); errors as a Status with a real server's message (ST).
//   - JSON, YAML and protobuf for requests and responses, by Accept and Content-Type (CN, PB); CBOR
//     with the feature CBOR (CB); PartialObjectMetadata (PM); Tables (TB), with ages by the
//     server's clock.
//   - gzip for responses above 128 KiB and for streaming lists (HT-02, SI-17). Go clients request
//     it by default. A rest.Config with DisableCompression does not, which is faster.
//   - HTTPS with HTTP/2 and HTTP/1.1 (HT-06), 100 streams per connection; bearer tokens, also in
//     the subprotocol of a WebSocket, and client certificates; 401 (AU-01), which also closes the
//     HTTP/2 connection.
//   - Anonymous requests, impersonation in all modes of v1.37 (KEP-5284), and the 403 and 500 of
//     authorization (AU-02 to AU-05, AU-07 to AU-10).
//   - Discovery in both forms, /version and the health paths; OpenAPI v3 and v2 in JSON and
//     protobuf, with all operations and the schemas of all types (DI-18), made at the first
//     request.
//   - /metrics about requests, watches, limits, admission webhooks and policies, objects, the
//     process and the Go runtime, with the names and labels of a real server (DI-19). DELETE resets
//     them. Responses of faults, and of filters (401, 403, 405), are counted as those of handlers.
//
// # What is missing
//
// Requests for these return a Status (501 NotImplemented), a 404 or 405, or what the protocol
// defines as a fallback:
//
//   - All other controllers and the kubelet: a namespace gets no default ServiceAccount, a Secret
//     no token, nothing is scheduled, no status changes by itself, and events do not expire.
//   - ABAC and webhook authorization; OIDC, webhook and bootstrap token authentication.
//   - The paths /debug, /flagz, /logs, /metrics/slis and /statusz.
//   - Compressed OpenAPI; pkixPublicKey and proofOfPossession of PodCertificateRequests (400).
//
// # Other differences
//
// Besides those in the sections about verbs and types:
//
//   - Without authentication, credentials other than tokens of service accounts are ignored. With
//     WithTokens or WithClientCA alone, most requests without credentials get 401, not the 403 of
//     system:anonymous. Tokens and permissions are not cached; a cluster caches them for 10 s.
//   - The rules of an authorizer that is not a RuleResolver are incomplete.
//   - Controllers act at once, but for a deleted namespace, where those of a cluster wait, and find
//     all cycles of owners that wait for each other, where those of a cluster can miss one. Faults
//     do not apply to their writes, nor do functions of WithAdmission.
//   - The recorded v1.37 server returns "404 page not found" for an unknown top-level path, where
//     the documentation has an index of paths. This server does as the recording. An unknown path
//     below a served group is a Status, as in the recording.
//   - After Restart, ReinitializeCache and WithStorageOf, watches continue from their
//     resourceVersions. A real server initializes its watch cache again, and those from before the
//     last write get 410; ForgetHistory does so here.
//   - A streaming list through a Replica that lags behind gets the 410 ERROR event when
//     ForgetHistory has dropped the changes after its view. A real server would refill its cache.
//   - There is no priority and fairness. Responses have no X-Kubernetes-PF headers (HT-07).
//   - The timeout of a request does not include the delay of a fault rule.
//   - The health paths have fewer checks than those of a real server, and none about its start.
//   - StorageBytes is a limit of the current objects. An etcd counts its file, with the history,
//     and rejects writes until it is compacted, defragmented and disarmed.
//
// # Errors
//
// An error of a client is answered as by a real server, with a Status with code, reason, message
// and causes. An error of the test is a Go error that starts with "fakeapi: " and names the option,
// the object or the file. Start fails the test with it, and nothing is done partially. An error of
// Close or Shutdown lists the requests and connections that are left.
//
// # Size limits
//
// What exceeds a limit is refused without an effect, and the next request is served. A test that
// writes without end fails before the machine is out of memory. Limits has the ones that can be
// set.
//
//	what                        limit                                  response
//	a body                      3 MiB                                  413 (CR-09)
//	a stored object             1.5 MiB                                500 etcdserver: request is too large (CR-10)
//	URL and headers             1 MiB                                  431
//	all objects                 StorageBytes, 2 GiB                    500 etcdserver: mvcc: database space exceeded
//	history                     HistoryAge, 5 minutes; HistoryChanges, 410 for reads of the past
//	                            100,000; HistoryBytes, 256 MiB
//	requests in flight          MaxRequestsInFlight and                429, Retry-After 1 (HT-08)
//	                            MaxMutatingRequestsInFlight, none
//	watches                     MaxWatches, none                       429, Retry-After 1
//
// The timeline has the latest 1000 requests, the first 8 KiB of each body, 16 KiB of decisions of
// admission about each request and 16 MiB of frames. All caches are limited, too.
//
//   - Requests that would take a real server minutes or gigabytes get 413; Limits has a list of
//     them. A custom resource with more than 10,000 errors by its schema gets 422 with as many of
//     them, and one that says so. A write whose client has gone ends after its current step:
//     decoding, patch, managedFields, admission or validation.
//   - Everything is in memory and ends with the process. Snapshots and history keep objects alive.
//   - The server listens on loopback only. Requests that a browser may have sent for a web page get
//     403: those with a host name that is not of this machine (WithAllowedHosts adds names), those
//     of a page of another origin, by Origin or Sec-Fetch-Site, and all changes through the control
//     API from any page. Clients other than browsers do not send these headers.
//
// # Sources
//
// The Kubernetes documentation, the API conventions, the recorded responses of a v1.37 server where
// these say less than clients rely on, and the KEPs 555 (apply), 3157 (streaming lists), 2340
// (reads from a cache), 3352 and 2896 (discovery, OpenAPI), 4358 (selectable fields), 5080
// (namespaces), 5284 (impersonation), 3488 and 3962 (policies).
package fakeapi
