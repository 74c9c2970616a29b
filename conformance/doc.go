// Package conformance checks over HTTP whether a server behaves as a Kubernetes API server does. It
// needs only a base URL and an [http.Client], so the same cases run against a test double, a local
// control plane and a remote cluster.
//
// # When to use it
//
// Use it to check a server that clients of the Kubernetes API rely on: a test double, a proxy, an
// aggregated API server, a custom control plane, or a cluster that is not in production. It is not
// a certification, and it does not measure performance.
//
// # First steps
//
// In a test, each case is a subtest:
//
//	conformance.Run(t, conformance.Config{BaseURL: srv.URL(), Client: srv.Client()})
//
// Run has cleaned up when it returns, so the server may be closed with defer.
//
// Outside of tests, [Check] returns one error that joins all failures, and [Execute] returns a
// [Report] with the outcome, the reason and the duration of every case:
//
//	report, err := conformance.Execute(ctx, conformance.Config{BaseURL: "http://127.0.0.1:8001"})
//	report.WriteTo(os.Stdout)
//
// The command "fakeapi conformance --kubeconfig FILE" does this from a shell, for any cluster.
//
// [Report.WriteJUnit], [Report.WriteJSON], [Report.WriteMarkdown] and [Report.WriteHTML] write a
// report in other formats, and [Report.Tallies] counts results by group and level.
// [Config].CaseStarted and CaseFinished report progress.
//
// [RequestPurposeFrom] returns the purpose of a request, for use in a transport. With
// [Config].RunID a run uses the same names each time.
//
// The client carries the credentials: any transport that adds them works. "kubectl proxy" serves
// any cluster without credentials at http://127.0.0.1:8001. The client should have no Timeout,
// because a Timeout would end watches early.
//
// Many cases wait for seconds: the server delays a read at a resourceVersion that it has not
// reached, a watch ends by its timeoutSeconds, or no objects are created in the first two seconds
// of a new CRD. So [Config].Parallel of them run at a time, 16 by default, each in a namespace of
// its own. A few run alone, because they change the state of the whole server, or because its other
// changes would disturb them. Webhooks and admission policies apply to the objects of one case
// only. Cases about them run beside each other and not beside further ones, so that a server that
// is wrong about this fails no other cases. The report is the same for any number of cases at a
// time.
//
// A run against kube-apiserver takes about a minute without compactions, of which there are seven
// or eight. A few cases wait for minutes and are skipped unless [Config].Patience allows them. In a
// testing/synctest bubble with a server in memory, waiting takes no time; use Execute or Check
// there, because subtests cannot be started in a bubble.
//
// A server may hang. A case ends after [Config].Timeout, and the run after [Config].RunTimeout: the
// cases that run at that time fail, and the others are in the report as not reached, see
// [Result].NotReached. Run also ends a minute before the deadline of the test binary.
//
// # What it does to the server
//
// Cases work in their own namespaces, named PREFIX-RUN-NUMBER with the prefix of
// [Config].NamespacePrefix, five random characters for the run, and the number of the case in the
// run. Further namespaces of a case are named PREFIX-RUN-NUMBER-2 and so on. One case creates a
// namespace PREFIX-RUN-cluster-scoped, and namespaces that cases share are named
// PREFIX-RUN-markers, PREFIX-RUN-webhook, PREFIX-RUN-expired-secret and PREFIX-RUN-expired-widget.
// In them the suite creates Secrets, ConfigMaps, Leases, Roles without rules, Events, Endpoints,
// NetworkPolicies and PodDisruptionBudgets that select nothing, HorizontalPodAutoscalers that scale
// nothing, ReplicaSets without replicas and Ingresses without a class. No Pods are started. The
// first cases about custom resources create the CustomResourceDefinitions
// widgets.RUN.conformance.example.com and gadgets.RUN.conformance.example.com, which are removed
// after the last case.
//
// Cases about grace periods, status, scales, bindings and evictions create Pods, Deployments,
// PodDisruptionBudgets and a ServiceAccount. These do not run on a cluster: the Pods have a
// scheduler that does not exist, or are bound to the node conformance-no-such-node, which does not
// exist, and the Deployments are paused. The CRD dials.RUN.conformance.example.com is for the
// subresources of custom resources. Cases about CRDs (CD) create their own,
// gears.gN.RUN.conformance.example.com and sometimes wheels.gN.RUN.conformance.example.com, each in
// a group of its own, and delete them at the end. One of them has a conversion webhook at port 1 of
// the server's host, which is not in use.
//
// Cases about the defaults and the validation of built-in types (DV, VA) create objects in dry
// runs. Those about updates create Deployments and ReplicaSets without replicas, suspended Jobs,
// Pods with the scheduler that does not exist, Services of the type ClusterIP, ConfigMaps, Secrets
// and Leases, and update them in dry runs.
//
// Cases about admission policies (AP) create policies and bindings named like their namespace,
// which apply to objects in that namespace and to cluster-scoped objects with a label of the case.
// They wait until a policy is effective, which takes about a second on kube-apiserver. Such
// cluster-scoped objects, ClusterRoles without rules among them, are created in dry runs, except
// for the parameters of a policy, which are objects of the CRD limits.RUN.conformance.example.com.
//
// Cases about admission webhooks (WH) create MutatingWebhookConfigurations and
// ValidatingWebhookConfigurations, named as their namespace with a suffix, for a webhook in this
// process. Their selectors select the namespace, or a label with its name, and so no objects of
// others. While they exist, the server depends on the webhook for these objects only. See
// [Config].ListenWebhook for where the webhook listens.
//
// Cases about RBAC (RB) create Roles and RoleBindings in their namespaces, and ClusterRoles and
// ClusterRoleBindings named like a namespace with a suffix. They bind roles, cluster-admin among
// them, to users, groups and ServiceAccounts that are named like the namespace or are in it, and in
// the namespace also to the groups of all users. They send requests as these users, by
// impersonation, and wait until changes are effective. One case adds a rule about a group that is
// not served to view, edit and admin, by aggregation, for the time of the case. Some use a token of
// a ServiceAccount, see [Config].TokenClient.
//
// Everything is deleted after each case, first the objects and then the namespace, even if the case
// failed, timed out or was cancelled. Objects that cases share, such as an expired list, are
// deleted after the last case. A namespace controller, if there is one, removes the namespace;
// without one, an empty namespace may stay Terminating. Objects that could not be deleted are
// reported as [Result].Leftovers, and are an error. If a case is cancelled while a create is in
// flight, the suite waits up to 5 seconds for the response, because it could not delete the object
// otherwise. A clean-up has 30 seconds of its own. The last one also waits until the CRDs are
// removed, which servers delay while they delete the objects.
//
// Every request that could change something names an object of the run, in a namespace, a group or
// under a name that contains its five characters, whether the server is correct or not. The
// exceptions change nothing: reviews, dry runs, including the deletion of the namespaces that every
// cluster has, and deletions of a collection with a selector that matches nothing. A case has at
// most ten requests in flight at a time and creates at most 30 objects, and no body exceeds 4 MiB.
// A test checks all of this. After a 429 response with Retry-After, the request is repeated after
// that delay, at most ten times.
//
// The client needs the permissions for all of this. Use a cluster that is not in production. Cases
// about denials send requests with [Config].UnprivilegedClient, or impersonate the user
// conformance-unprivileged-RUN.
//
// # Rules, cases and levels
//
// Each [Case] belongs to a numbered rule of rules.md. Its ID is the number, followed by a slash and
// a word if the rule has several cases. Comments cite a rule by its number, such as (RS-12). Many
// rules are checked on a built-in type ("/typed") and on a custom resource ("/custom"), because a
// real server serves them with different code. The groups are PV (paths and verbs), NM (names), MD
// (metadata of objects), OC (optimistic concurrency), CR (create), GT (get), LS (list), RS
// (resource versions), CH (chunks of a list), WA (watch), BM (bookmarks), SI (streaming lists), EX
// (expired states and timeouts), SE (selectors), PA (patches), SA (server-side apply), FV (field
// validation), DR (dry run), DL (deletion), NS (namespaces), SU (subresources), WN (warnings), TB
// (Tables), PM (PartialObjectMetadata), VR (virtual resources), AU (authentication and
// authorization), ST (errors), PB (protobuf), CB (CBOR), CN (content negotiation), DI (discovery,
// health, metrics), HT (HTTP), CD (custom resource definitions), DV (defaults of built-in types),
// VA (validation of built-in types), WH (admission webhooks), AP (admission policies) and RB
// (RBAC). [UncheckedRules] returns the rules without a case, with the reason why they cannot be
// checked over HTTP.
//
// Work of controllers is checked only if a rule is about it, and the case is skipped if the
// controller does not start within a few seconds (NS-09). Other cases put a finalizer of the suite
// on objects that controllers must not remove during the case.
//
// MUST rules are promised by the documentation, or clients are known to fail without them. SHOULD
// rules are other behavior of kube-apiserver. MAY rules are optional: their cases accept both
// choices. [Config].MinLevel excludes lower levels.
//
// Where the documentation allows a range, the cases accept all of it: reads at resourceVersion 0
// may be stale and may go back in time, a limit may be ignored there, and history may be kept
// longer than necessary. Where clients rely on more than the documentation promises, the cases
// expect the response of kube-apiserver 1.37, including the reason, the message and the causes of a
// Status.
//
// # Skipped cases
//
// A case that cannot judge the server is skipped with a reason: there are no custom resources, a
// resource or subresource is not served according to discovery, namespaces are plain objects, a
// hook of the [Config] is missing for a state that requests cannot cause (Compact, ExpireWatches,
// BeginStartup), the server cannot reach the webhook of the suite, it does not authorize by RBAC or
// the client may not impersonate users, or the case takes longer than Patience. Rules that depend
// on a feature gate are about servers with or without the feature. Cases about the other kind of
// server are skipped and name the gate, or fail if [Config].Features requires that kind.
// [Config].Skip excludes cases or rules. A key of Skip that names no case is an error, so that
// skips do not outlive their cases. A skipped case is never counted as passed.
//
// # Verification
//
// The suite was run on 2026-11-22 over HTTPS against a real API server, built from
// k8s.io/apiserver, apiextensions-apiserver and kube-aggregator v0.37.2 on etcd 3.7. None of the
// 1223 cases failed, and no objects were left behind. The failures of earlier runs were examined:
// cases now detect what that server cannot serve, and wrong cases were fixed. The groups DV and VA
// are newer: such a server has neither the defaults nor the validation of built-in types, and fails
// them. The group WH was run on 2026-11-23 against such a server with the admission plug-ins of
// k8s.io/apiserver: all 122 cases and DR-07 passed, in 24s, in five runs.
//
//	fakeapi conformance --kubeconfig FILE
//
// ran twice: 1116 passed, 0 failed, 107 skipped, in 7m24s and in 7m38s. With two users, CBOR and
// compaction,
//
//	fakeapi conformance --kubeconfig FILE --unprivileged-kubeconfig FILE --features CBORServingAndStorage --compact http://127.0.0.1:37081/compact --patience 5m
//
// the result, before the two cases RS-01/zeros were added, was 1143 passed (1033 MUST, 100 SHOULD,
// 10 MAY), 0 failed, 78 skipped (76 MUST, 2 SHOULD), in 20m22s. The reasons, by the number of
// cases:
//
//	26  pods/eviction, pods/binding, deployments/scale of apps/v1 are not served (SU-08 to SU-16)
//	20  the reviews of authorization.k8s.io and authentication.k8s.io are not served (VR, NS-10)
//	15  namespaces/finalize is not served: namespaces are plain objects (NS, DL-10/namespace, DL-11/namespace, PV-30/finalize, SU-15/finalize)
//	 6  horizontalpodautoscalers of autoscaling/v1, events of events.k8s.io/v1, services/proxy are not served (CR-02, PV-29, SA-13, SA-34, DR-09)
//	 4  the other subresources of SU-15 are not served
//	 3  the server has the feature: the rule is about servers without streaming lists (SI-12) or CBOR (CB-01, which passes in the first run)
//	 1  no controller empties a namespace (NS-09)
//	 1  there are no defaults of built-in types (CR-15/typed)
//	 1  every resource that supports list supports watch (WA-29)
//	 1  Config.BeginStartup is missing (PV-28)
//
// The group AP is newer, too. It was run on 2026-11-23 against such a server with the plug-ins for
// admission policies: 173 passed, none failed or was skipped, in 2m20s.
//
// The group RB is newer, too: that server authorizes everything, and all of its cases are skipped.
// Its rules are those of the documentation and of the sources of kube-apiserver.
//
// The server of this project passes all cases in four test runs: with all hooks, with users, with
// CBOR, and without streaming lists. The command with only the flag --url reports 1897 passed, 0
// failed, 144 skipped of 2041, in 24s; the skipped cases need hooks, users, a feature or Patience.
//
// # Errors
//
// A case that fails reports the request, the expectation and the response. Objects that could not
// be cleaned up are also errors. [Execute] returns an error only if the configuration is invalid,
// which [Config.Validate] reports without sending requests, or if its context or the time of the
// run ends; the report then has the results so far.
//
// # Adding a case
//
// Cases about defaults and validation of built-in types are in defaults.yaml and validation.yaml,
// those of admission policies in policies.yaml. For other cases, add a [Case] literal to the list
// of its group in a cases_*.go file, and a function that checks it. Use onSecrets, onBasicCRs or
// onBoth for a check on a collection in a new namespace, in which the check can create, change,
// list and watch objects. Use onMap or onMaps for a check on the content of objects: both
// ConfigMaps and the CRD of fixture_crd_data.go have a map "data". Use onAccess for a check of
// permissions. Build requests with get, post, put, mergePatch, applyAs, del and similar functions.
// Send one with session.do or session.expect, or several with session.expectAll, together with the
// expectations for the response: code, kind, field, valueAt, managedFieldsAre, warningsAre,
// failure. Return their errors unchanged, because they contain the request, the expectation and the
// response. Return session.skipf if the server cannot be judged.
//
// Never sleep. Wait for an event of a watch, or poll. To check that no event is sent, make another
// change that must be sent and expect it as the next event, or watch with a short timeoutSeconds
// and expect the end of the stream. A case that waits for more than a few seconds sets the field
// takes.
//
// Then add a faulty server that the new case must detect to a suite_catches_*_test.go file. A test
// fails if a case detects none of them.
//
// # Limits
//
// The suite does not measure performance, and does not check controllers, kubelets or networking,
// which the conformance tests of the Kubernetes project check.
package conformance
