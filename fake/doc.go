// Package fakeapi is a Kubernetes API server in memory, for tests of
// controllers, operators and clients. It speaks real HTTP and behaves as the
// documents and a real v1.37 server do: resourceVersions, watches with history,
// bookmarks, streaming lists, chunks with continue tokens, 410 Gone, optimistic
// concurrency, finalizers. It starts in less than a millisecond.
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
// # Faults
//
// Server.Faults takes rules that make the server misbehave: see package faults.
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
//   - create, update, patch (JSON, merge, strategic), delete, deletecollection:
//     names, generateName, metadata and its validation, generation, preconditions,
//     no-op writes, finalizers in two phases, dry run, field validation with its
//     warnings, the status subresource.
//   - Server-side apply and managedFields for the built-in types (SA).
//   - JSON, YAML and protobuf both ways; PartialObjectMetadata.
//   - Discovery in both forms, /version, the health paths; OpenAPI v3 with the paths
//     and parameters; an OpenAPI v2 document without types.
//   - A namespace that is deleted ends with all that is in it, at once: there is no
//     controller that a test would have to wait for. What has finalizers keeps it
//     Terminating until they are gone (NS-01 to NS-09). kubectl delete -f of a manifest
//     that begins with its namespace therefore finds nothing left to delete behind it.
//
// # What is not there yet
//
// What would need these answers with a clear Status (501 NotImplemented), a 404 or
// 405 as for a thing that does not exist, or a fallback that the protocol allows:
//
//   - Custom resources, and aggregated APIs.
//   - Subresources other than status: scale, eviction, binding, log, exec, token.
//   - Virtual resources: token and access reviews.
//   - Garbage collection: propagationPolicy Foreground and Orphan are refused, unless
//     WithoutControllers says that the test takes care of the finalizers itself;
//     dependents stay when their owner goes.
//   - Tables (clients fall back to the objects), CBOR, compression, watches over
//     WebSocket, OpenAPI schemas beyond names.
//   - TLS, authentication, authorisation, admission webhooks and policies. Every request is allowed, and
//     only loopback reaches the server.
//
// # Where it differs silently
//
//   - Built-in types get no defaults and no validation beyond their metadata and the
//     keys and sizes of ConfigMaps and Secrets: what is stored is what was sent. A real
//     server would, for instance, set a Deployment's replicas to 1, and refuse a Pod
//     without containers. Stored forms that differ for want of defaults:
//     core ConfigMap, Endpoints, LimitRange, Node, PersistentVolume,
//     PersistentVolumeClaim, Pod, PodTemplate, ReplicationController, ResourceQuota,
//     Secret, Service; apps DaemonSet, Deployment, ReplicaSet, StatefulSet; autoscaling
//     HorizontalPodAutoscaler; batch CronJob, Job; networking IngressClass,
//     NetworkPolicy; rbac ClusterRoleBinding, RoleBinding; storage CSIDriver,
//     StorageClass; admissionregistration, all types; discovery EndpointSlice;
//     flowcontrol FlowSchema, PriorityLevelConfiguration; resource ResourceClaim,
//     ResourceClaimTemplate, ResourceSlice; scheduling PriorityClass.
//   - Nothing is allocated or filled in by the strategies and admission plugins of a
//     cluster either: cluster IPs and node ports of Services, the selector and labels of
//     a Job, a Pod's qosClass, service account, tolerations and priority, a claim's
//     storage class and protecting finalizer, the requester of a certificate.
//   - Pods are deleted without a grace period, as there is no kubelet to end one. With
//     WithoutControllers they have it.
//   - The recorded v1.37 server answers an unknown top-level path with the text "404
//     page not found", the documents with an index of paths; the server does as the
//     recording. Likewise an unknown path below a served group is a Status.
//   - A read of "any" state (resourceVersion "0") is current, but through a Replica,
//     and, as from a watch cache, never chunked (RS-14, RS-17).
//   - After Compact every exact read and continue token from before is 410, at once. A
//     real server's watch cache may go on answering them for a while (RS-30).
//   - A slow watcher is never cut off. If history has left it behind, it ends with the
//     410 ERROR event.
package fakeapi
