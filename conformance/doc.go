// Package conformance checks over HTTP whether a server behaves as a Kubernetes API server does. It asks for nothing but a base URL
// and an [http.Client], so the same cases run against a test double, a local control plane and a cluster far away.
//
// # When to use it
//
// To see whether a server keeps what clients of the Kubernetes API rely on: a test double, a proxy, an aggregated API server, a
// control plane of one's own, or a cluster that can be spared. It is no certification, and says nothing of how fast a server is.
//
// # First steps
//
// In a test, each case is a subtest:
//
//	conformance.Run(t, conformance.Config{BaseURL: srv.URL(), Client: srv.Client()})
//
// It has cleaned up when it returns, so the server may be closed by defer.
//
// Elsewhere, [Check] gives one error that joins all failures, and [Execute] a [Report] with the outcome, the reason and the duration of
// every case, which prints itself:
//
//	report, err := conformance.Execute(ctx, conformance.Config{BaseURL: "http://127.0.0.1:8001"})
//	report.WriteTo(os.Stdout)
//
// The command "fakeapi conformance --kubeconfig FILE" does so from a shell, for any cluster.
//
// A report also writes itself for others: [Report.WriteJUnit], [Report.WriteJSON], [Report.WriteMarkdown] and [Report.WriteHTML], and counts
// by group and level with [Report.Tallies]. [Config].CaseStarted and CaseFinished tell how far a run is.
//
// A transport finds out by [RequestPurposeFrom] what a request is for; with [Config].RunID the names of a run are the same each time.
//
// Credentials ride in the client: any transport that adds them will do. "kubectl proxy" offers every cluster without them at
// http://127.0.0.1:8001. The client should have no Timeout of its own, since that would cut watches short.
//
// Cases run one after the other. Some wait for seconds, because the server holds back a read from the future or because a watch
// has to end by its timeoutSeconds, or because nothing is created in the first two seconds of a new definition; a whole run against
// kube-apiserver takes about seven minutes, compactions not counted, of which there are seven or eight. A few cases would wait for minutes, and do so only if [Config].Patience lets them.
// Inside a testing/synctest bubble, with a server in memory, those waits are free; use Execute or Check there, as subtests cannot be started in a bubble.
//
// # What it does to the server
//
// A case works in namespaces of its own, called PREFIX-RUN-NUMBER with the prefix of [Config].NamespacePrefix and five random characters
// for the run, and one case creates a namespace PREFIX-RUN-cluster-scoped. In them it creates Secrets, ConfigMaps, Leases, Roles without
// rules, Events, Endpoints, NetworkPolicies and PodDisruptionBudgets that select nothing, HorizontalPodAutoscalers that scale nothing,
// ReplicaSets of no replicas and Ingresses of no class; no Pods are started. The first cases about custom resources install the
// CustomResourceDefinitions widgets.RUN.conformance.example.com and gadgets.RUN.conformance.example.com, which are removed after the last one.
//
// The cases about grace periods, status, scales, bindings and evictions create Pods, Deployments, PodDisruptionBudgets and a
// ServiceAccount. Nothing of it runs on a cluster either: the Pods name a scheduler that does not exist, or are on a node that does not,
// called conformance-no-such-node, and the Deployments are paused. A second definition, dials.RUN.conformance.example.com, is for the
// subresources of custom resources. The cases about definitions (CD) make their own, gears.gN.RUN.conformance.example.com and now and then
// wheels.gN.RUN.conformance.example.com, each in a group that no other case has, and delete them at their end; one names a converter at
// port 1 of the server's own host, where nobody listens.
//
// Cases run one after the other; a few send up to some dozens of requests side by side.
//
// Everything is deleted after each case, object by object and then the namespace, also when the case failed, ran out of time or was
// cancelled; what several cases share, such as a list that had to expire, after the last one. A namespace controller, if there is one,
// finishes the namespace; without one, an empty namespace may stay Terminating. What could not be deleted is reported as
// [Result].Leftovers, and counts as an error. A create that is on its way when its case is cancelled is waited for, 5 seconds at most, since
// what it made could not be removed otherwise. A clean-up has 30 seconds of its own;
// the last one waits for the end of the definitions too, which servers put off while they cannot remove the objects.
//
// Every request that could change something names an object of the run's own, in a namespace, a group or under a name that has its five characters, whether
// the server is right or not. The exceptions reach nothing: reviews, dry runs, which the deletions of the namespaces that every cluster has are, and
// deletions of a collection with a selector that matches nothing. At most ten requests are on their way at a time, a case creates at most 30 objects, and no
// body has more than 4 MiB. A test holds all of that. A server that answers 429 with Retry-After is asked again as it says, ten times at most.
//
// The client needs the rights to do all that. It is best run on a cluster that can be spared. What a user without rights is told, the
// cases about denials find out as [Config].UnprivilegedClient, or by impersonating the user conformance-nobody-RUN.
//
// # Rules, cases and levels
//
// Each [Case] belongs to a numbered rule of rules.md; its ID is the number, followed by a slash and a word where a rule has several cases.
// Many rules are checked once on a built-in type ("/typed") and once on a custom resource ("/custom"), which a real server serves with
// different code. The groups are PV (paths and verbs), NM (names), MD (metadata of objects), OC (optimistic concurrency), CR (create),
// GT (get), LS (list), RS (resource versions), CH (chunks of a list), WA (watch), BM (bookmarks), SI (streaming lists), EX (expired states
// and timeouts), SE (selectors), PA (patches), SA (server-side apply), FV (field validation), DR (dry run), DL (deletion), NS (namespaces),
// SU (subresources), WN (warnings), TB (Tables), PM (objects down to their metadata), VR (virtual resources), AU (authentication and
// authorization), ST (errors), PB (protobuf), CB (CBOR), CN (content
// negotiation), DI (discovery, health, metrics), HT (HTTP) and CD (definitions of custom resources). The rules without a case are
// [UncheckedRules], each with the reason why none can be written over HTTP.
//
// What a controller does is looked at only where a rule is about it, and the case is skipped where none begins within a while (NS-09).
// Otherwise the suite puts a finalizer of its own on what must not go away while it is looked at.
//
// MUST is promised by the documents, or known to break clients when it is not kept. SHOULD is what kube-apiserver does beyond that. MAY is up
// to the server: those cases accept either choice. [Config].MinLevel leaves the lower ones out.
//
// Where the documents leave a range, the cases accept all of it: reads at resourceVersion 0 may be stale and may go back in time, a
// limit may be ignored there, and history may be kept for longer than it has to be. Where the documents say less than clients rely on,
// the expectation is the answer of kube-apiserver 1.37, down to the reason, the message and the causes of a Status.
//
// # Skipped cases
//
// A case that finds nothing to judge is skipped with the reason: there are no custom resources, a resource or a subresource is not served (which
// discovery tells, and of discovery the path itself), namespaces are plain objects, or a hook of
// the [Config] is missing that would bring the server into a state that cannot be provoked from outside (Compact, Expire, Starting), or
// the case takes longer than Patience.
// Rules that depend on a feature gate are about servers with it or without it: the cases about the other kind are skipped and say which
// gate it is, or fail if [Config].Features says that the server should be of that kind.
// [Config].Skip leaves out what a server is known not to do. A key of it that names no case is an error, so skips do not
// outlive their cases. A skip is never silent, and never a pass.
//
// # What it was run on
//
// A real API server, made of k8s.io/apiserver, apiextensions-apiserver and kube-aggregator v0.37.2 on etcd 3.7, on 2026-11-22, over HTTPS:
// 1223 cases, none failed, nothing was left behind. Each failure of the runs before was looked at; what that server cannot serve, the cases find out and
// say, and what was wrong was mended in the case.
//
//	fakeapi conformance --kubeconfig FILE
//
// ran twice in a row: 1116 passed, 0 failed, 107 skipped, in 7m24s and in 7m38s. With all that it can be told and that server can be switched to,
// two users, CBOR and compaction,
//
//	fakeapi conformance --kubeconfig FILE --unprivileged-kubeconfig FILE --features CBORServingAndStorage --compact http://127.0.0.1:37081/compact --patience 5m
//
// it was, before the two cases RS-01/zeros were written, 1143 passed (1033 MUST, 100 SHOULD, 10 MAY), 0 failed, 78 skipped (76 MUST, 2 SHOULD), in 20m22s. The reasons, by the number of cases:
//
//	26  pods/eviction, pods/binding, deployments/scale of apps/v1 are not served (SU-08 to SU-16)
//	20  the reviews of authorization.k8s.io and authentication.k8s.io are not served (VR, NS-10)
//	15  namespaces/finalize is not served: namespaces are plain objects (NS, DL-10/namespace, DL-11/namespace, PV-30/finalize, SU-15/finalize)
//	 6  horizontalpodautoscalers of autoscaling/v1, events of events.k8s.io/v1, services/proxy are not served (CR-02, PV-29, SA-13, SA-34, DR-09)
//	 4  the other subresources of SU-15 are not served
//	 3  it has the feature: the rule is about servers without streaming lists (SI-12) or CBOR (CB-01, which passes in the first run)
//	 1  nothing empties a namespace (NS-09)
//	 1  there are no defaults of built-in types at all (CR-15/typed)
//	 1  all that can be listed can be watched (WA-29)
//	 1  Config.BeginStartup is missing (PV-28)
//
// This project's server passes every one of them but WA-29, in four runs of the tests that are beside this file: as it is with all hooks, with users,
// with CBOR, and without streaming lists. The command finds there, with no flag but --url, 1188 passed, 0 failed, 35 skipped of 1223, in 2m43s: what is
// skipped wants hooks, users, a feature or Patience.
//
// # Errors
//
// A case that fails says which request it sent, what it expected and what came. What could not be cleaned up is an error, too. [Execute] itself
// fails for a configuration that cannot be used, which [Config.Validate] finds without sending anything, and when its context ends; the report
// then has what was done.
//
// # Adding a case
//
// Write a [Case] literal into the list of its group in a cases_*.go file, and a function that checks it. Use onSecrets, onBasicCRs or both for a
// check on a collection in a fresh namespace; it gets a collection to create, change, list and watch in. Use onMap or onMaps for a check on
// what objects hold: both ConfigMaps and Gadgets have a map "data". Requests are built by get, post, put, mergePatch, applyAs, del and
// their like, and sent by session.do, or several by session.all, together with the expectations on the answer: code, kind, field, holds,
// owned, warns, refusal. Return what they return: their errors already hold the request, the expectation and the answer. Return
// session.skipf where the server gives nothing to judge.
//
// Never sleep. Wait for an event on a watch, or poll. To show that nothing comes, make a further change that must be seen, and
// expect it to be the next event; or watch with a short timeoutSeconds and expect the end of the stream. A case that
// waits for more than a few seconds by the clock says so in its field takes.
//
// Then break a server in a way that the new case must catch: the bite_*_test.go files have the lies, and a test fails while a case
// catches none.
//
// # Limits
//
// The suite does not measure speed, does not check controllers, kubelets or networking (the Kubernetes project's own conformance tests do), and
// is no certification.
package conformance
