// Package scenario runs scenarios that break clients of a Kubernetes API server. A scenario is a
// list of steps: writes, watches, faults, time that passes, and expectations. Steps are Go values,
// and lines of a text file that can be attached to a bug report and kept as a regression test.
//
// # When to use it
//
// When a client has to survive a sequence of faults, such as a broken watch while the history is
// compacted, or a lost response and a restart. For a single fault in a test, package faults is
// enough.
//
//   - A file has everything that is needed to reproduce a bug.
//   - Steps can be printed, and the text parsed into equal steps.
//   - A step that fails is reported with its position, the expected and the actual value, and the
//     transcript of the run.
//   - If the steps are the only clients, the same seed has the same [Transcript], byte for byte.
//   - Random scenarios find unknown bugs, and are shrunk.
//
// # First steps
//
// A directory of files, the clients that they run, and TestMain (see below):
//
//	func TestMyController(t *testing.T) {
//		scenario.RunDir(t, os.DirFS("testdata"), scenario.Config{
//			Clients: map[string]scenario.Client{
//				"mine": func(ctx context.Context, config *rest.Config) error {
//					return myController(ctx, config)
//				},
//			},
//		})
//	}
//
// Each run has its own in-memory server in a testing/synctest bubble. Time is virtual: ten minutes
// of outage take milliseconds.
//
// # File format
//
// A file is a txtar archive. It begins with the steps, one per line, and continues with the
// manifests that they refer to, each after a line "-- NAME --".
//
//	# An informer must notice a deletion that it missed.
//	apply web.yaml
//	run mine
//	fault cut: when verb(watch) && userAgent(mine) && event(DELETED) && first(1) do reset
//	delete deployment/web
//	eventually 1m expect absent configmap/web-report
//	-- web.yaml --
//	apiVersion: apps/v1
//	kind: Deployment
//	metadata:
//	  name: web
//	spec:
//	  selector: {matchLabels: {app: web}}
//	  template:
//	    metadata: {labels: {app: web}}
//	    spec: {containers: [{name: web, image: nginx}]}
//
// Words are separated by blanks. A word with blanks, or one that begins with "-" or "#", has double
// quotes and is quoted as in Go. A "#" at the start of a word begins a comment. Every file must be
// used by a step, and be a manifest: YAML or JSON documents, each one object with a name, or for
// create with a generateName.
//
// # Steps
//
//	advance DURATION
//	always DURATION STEP
//	apply FILE [--server-side [--manager NAME] [--force]]
//	at hit RULE STEP
//	authorization mode MODE ...
//	catch up REPLICA
//	clear fault NAME
//	clear faults
//	compact
//	crash CLIENT
//	create FILE
//	delete KIND/NAME [-n NAMESPACE]
//	discovery hide|fail|stale|flap|reset [GROUP ...]
//	eventually DURATION STEP
//	expect KIND/NAME [-n NAMESPACE] [PATH=VALUE ...]
//	expect absent KIND/NAME [-n NAMESPACE]
//	expect changes TYPE KIND/NAME [-n NAMESPACE] COUNT
//	expect done CLIENT
//	expect error TEXT STEP
//	expect events WATCH [EVENT ...]
//	expect failed CLIENT [TEXT]
//	expect hits RULE COUNT
//	expect list KIND [-n NAMESPACE | -A] [--selector SELECTOR] [NAME ...]
//	expect requests CLIENT TEXT COUNT [--in DURATION]
//	expect same KIND NAMESPACE NAMESPACE
//	expire
//	expire token TOKEN
//	fault RULE
//	feature NAME on|off
//	freeze REPLICA
//	not ready DURATION
//	on REPLICA STEP
//	patch KIND/NAME [-n NAMESPACE] [--type merge|json|strategic] [--subresource NAME] PATCH
//	replica NAME [--frozen | --lag N | --delay DURATION]
//	restart [STARTUP]
//	restore NAME [BUMP]
//	rotate token USER
//	run CLIENT [--on REPLICA] [--user USER] [--as USER] [--of CLIENT] [--restart-after DURATION]
//	shutdown
//	skew DURATION
//	snapshot NAME
//	stop CLIENT
//	switch CLIENT REPLICA
//	update FILE [--subresource NAME]
//	watch NAME KIND [-n NAMESPACE | -A] [--selector SELECTOR] [--from REVISION]
//	webhook NAME KIND [--ignore] [--timeout DURATION] EFFECT, ...
//
// Each is documented at the function that makes it in Go, which usually has the name of the step:
// [Advance], [Apply], [ExpectAbsent]. Variants with flags have their own functions, such as
// [ServerSideApply], [PatchSubresource], [RunClientOn], [RunClientAs] and [ExpectRequestsIn].
//
// KIND is a resource name, kind or short name, as for kubectl: configmap, cm, deployments.apps. The
// default namespace is "default", and -A selects all namespaces. An EVENT is ADDED, MODIFIED or
// DELETED with the name of the object, ERROR with the reason of its Status, BOOKMARK, END for the
// end of the stream, or "..." for any events. RULE is a rule in the language of package faults, and
// in expect hits the name of a rule. COUNT is a number, which may follow >= or <=. PATCH is the
// rest of the line, JSON or one-line YAML: {data: {k: "1"}}.
//
// Custom resources can be used after the step that creates their definition, or from the beginning
// with fakeapi.WithCRDs in [Config.Options].
//
// After each step the server and the clients run until all of them wait for time to pass. So a step
// sees the effects of the previous one, unless a client waits for a back-off, a rate limit or a
// delay. Use advance and eventually for these.
//
// # Webhooks
//
// The step webhook registers an admission webhook, and says how it answers, with effects of package
// faults: allow, deny(MESSAGE) or patch(MERGEPATCH), which may follow a delay. No server is needed.
// A rule of the name NAME answers; without the rule the webhook is down. Further rules with
// webhook(NAME) make it fail:
//
//	webhook pods.example.com pod --timeout 5s patch("{\"metadata\":{\"labels\":{\"a\":\"b\"}}}")
//	fault slow: when webhook(pods.example.com) && userAgent(mine) && first(2) do delay(6s)
//	clear fault pods.example.com
//
// # Users and permissions
//
// Steps and clients are the administrator, unless run has another USER: a service account as
// system:serviceaccount:NAMESPACE:NAME, with a token in a file as in a Pod, or any other name, with
// a client certificate. The flag --as adds impersonation. With authorization mode RBAC a client may
// do what the stored roles and bindings allow; so a permission is withdrawn and granted again by
// these steps:
//
//	authorization mode RBAC
//	apply rbac.yaml
//	run mine --user system:serviceaccount:default:mine
//	delete rolebinding/mine
//	advance 5m
//	apply rbac.yaml
//	expire token system:serviceaccount:default:mine
//	rotate token system:serviceaccount:default:mine
//
// A watch that runs keeps its permission, and its token may expire; a rule with end makes the
// client start another one. The effect forbid of package faults denies requests of any client
// without RBAC:
//
//	fault denied: when verb(update) && resource(leases) && userAgent(mine) do forbid
//
// # What must not happen
//
//	expect absent configmap/a
//	always 10m expect absent configmap/a
//	expect events w
//	expect requests mine "DELETE " 0 --in 10m
//	expect hits cut 0
//	expect error "" expect events w ... DELETED a ...
//
// These steps expect that an object does not exist, or not for some time, that a watch has received
// no event, that a client sends no request, and that a rule was not applied. The last one expects
// that another expectation fails.
//
// # Clients under test
//
// [Config.Clients] has the functions that run starts. The user agent of their requests is the name
// of the client, so userAgent(NAME) restricts a rule to one client, and to those whose names begin
// with NAME. The user agent of the steps is "scenario", and that of their watches "scenario/NAME".
// A rule without userAgent also affects the steps, which are client-go clients with its retries.
// Expect the results of a client where its users see them, in objects of the API.
//
// A rule that counts (first, nth, every) should be restricted to one client or one watch. For
// example, the seed does not determine which of two watches gets its bookmark first.
//
// A client can be stopped and run again, as a restarted process, to test whether it recovers. It
// gets a new context, and the count of its requests continues. The step crash ends it as a process
// that is killed. Steps can be run when a rule is applied, so that a client crashes at a certain
// request:
//
//	fault write: when userAgent(mine) && verb(update) && nth(2) do hang
//	at hit write crash mine
//	at hit write run mine
//
// A network partition of a client is a rule for all of its requests. In the phase stream it breaks
// also the watches that are open, each at its next event:
//
//	fault partition: when userAgent(mine) && during(before, stream) do reset
//	advance 1m
//	clear fault partition
//
// The scenario fails if a client returns an error that no step expects, does not return within a
// minute after its context is done, or sends five thousand requests without a pause.
//
// # Real time
//
// A [LiveRun] plays a scenario in real time, on a server that other processes reach, for clients
// under test that are not written in Go. The command is fakeapi serve --scenario; fakeapi run
// --real-time does the same in one process.
//
// A client that is not in [Config.Clients] is external there. Running it means to wait for its
// first request, whose user agent begins with its name. Requests that arrive before that step are
// delayed until it, so that the client sees the result of the steps before. Its requests and the
// responses of the server are in the transcript. An external client has its own credentials, so it
// cannot be run as a user. It cannot be stopped or moved, it is not known when it returns, and
// replicas are not on the network.
//
// In real time it is not visible that the server and the clients wait for time to pass. A step ends
// when for 50 ms nothing was sent or written and no request has waited for its response for less
// than a second, or after three seconds. This is a heuristic, so use eventually for what a client
// does. Runs differ, whatever the seed.
//
// # The catalogue
//
// [Catalogue] returns known ways in which API servers break clients, each a file in catalogue/ that
// has what a client must do, the sources, and the clients that pass and fail. To test a client:
//
//	func TestMyInformer(t *testing.T) {
//		scenario.RunCatalogue(t, "mirror", myMirror, map[string]string{
//			"bookmark-missing": "issue 123",
//		})
//	}
//
// The client is a [Client] that performs its role until its context is done, or once if the role
// says so. It may adapt the code under test to the role, since the cases test how it uses the API.
// The roles use the namespaces "default" and "mirror":
//
//	mirror   For each ConfigMap in default there is one in mirror with the same name and data. It is
//	         deleted after the first. Copies left in mirror by an earlier run are deleted, too.
//	lister   Lists the ConfigMaps of default once, completely, writes their names, sorted and joined
//	         by commas, into data.text of ConfigMap report in mirror, and returns.
//	elector  Campaigns for Lease lock in default. Its identity is its user agent. The ConfigMap of
//	         that name in default has data.leads "true" while it leads, and otherwise "false".
//	         Several run at a time.
//	creator  Creates ConfigMap only in default, and returns nil if it has created the object, even
//	         if the response was lost.
//	counter  Adds one to data.value of ConfigMap count in default, exactly once, and returns.
//	deletion-handler
//	         Watches the ConfigMaps of default with the label watch-deletes=true, with that selector.
//	         For each of them that is deleted it creates one of the same name in mirror, and for no
//	         other.
//	singleton-creator
//	         Ensures that there is one ConfigMap with the label child=true in default, with a
//	         generated name, and returns. It may be run again.
//	inventory
//	         ConfigMap inventory in mirror has in data.configmaps and data.secrets the names of these
//	         objects in default, sorted and joined by commas. It is written when both are known.
//	status-writer
//	         Sets status.observedGeneration of Deployment web in default to its generation.
//	remover  Deletes the ConfigMap only that is in default when it starts, and no later one of that
//	         name, and returns nil when it is deleted.
//
// Faults affect the requests that the role is about: a mirror's requests in default, but not its
// writes to mirror, which need only ordinary retries. Package scenario/clients has clients in these
// roles; the fields Passes and Fails of the cases list them. A single case is run by [Case.Run] or
// [Case.Play].
//
// # Replicas
//
// In a cluster, several API servers behind a load balancer have one store. Each has its own watch
// cache, which may be behind. A client that is moved to another server may read an earlier state.
//
//	replica b
//	run mine
//	freeze b
//	apply new.yaml
//	eventually 1m expect configmap/report data.text=new
//	switch mine b
//
// The first server of a scenario is called main. The step on runs another step on a replica: "on b
// watch w configmap", "on b fault RULE". Rules belong to one server. In the transcript, lines about
// a replica end in "on b".
//
// # Bugs that scenarios find
//
// Each of these examples has a controller with a published bug, the scenario that finds it in
// milliseconds, and the fix:
//
//	Play (Conflict)     a retry after a conflict overwrites other changes  fybrik/fybrik#1385
//	Play (Gone)         a watch is retried forever at an expired revision  coreos/etcd-operator#166
//	Play (LostReply)    a write without a response is repeated             kubernetes/kubernetes#25595
//	Play (Overshoot)    a stale cache lets a controller start too many     ray-project/kuberay#715
//	Play (Partial)      objects that could not be read are deleted         kubernetes-sigs/external-dns#2858
//	Play (Selector)     an object without its label counts as deleted      GoogleContainerTools/config-sync#1328
//	Play (TimeTravel)   a stale server has an object that was deleted      instaclustr/cassandra-operator#402
//	Play (Tombstone)    a delete that was missed is ignored                projectcalico/calico#12793
//	Play (TwoLeaders)   a leader without its lease keeps working           cilium/cilium#42920
//
// # Random scenarios
//
// A [Generator] generates scenarios from seeds. They create, change and delete objects, open
// watches, add faults that a correct client survives, let time pass, and forget history. At the end
// they expect the correct state. [Explore] runs them. If one fails, [Shrink] removes and simplifies
// the steps that the failure does not need. The result is printed as a file that reproduces the
// failure:
//
//	func TestMyController(t *testing.T) {
//		scenario.Explore(t, scenario.Config{Clients: ...}, scenario.Generator{
//			Client: "mine",
//			Setup:  []scenario.Step{scenario.Apply("copies.yaml", copies)}, // its namespace
//			Expect: scenario.ExpectSynced("configmap", "default", "copies"),
//		}, 1, 100)
//	}
//
// [Generator.Object] is for controllers of other kinds, and [Generator.Expect] for their results.
// [Search] does the same without a test.
//
// Shrink does not know which steps depend on others. It keeps a candidate only if the function that
// it calls reports the same failure, so this function should not accept any failure. Search accepts
// a candidate that fails at the same kind of step and still runs the client.
//
// Package scenario/perturb finds bugs without scenarios and without expectations: it disturbs each
// request and each event of a workload, and prints a scenario for what it finds.
//
// # Reproducibility
//
// The following holds for a file, a [Config] and a version of this module.
//
// If the steps are the only clients, the [Transcript] is the same, byte for byte, in any process
// and with any number of processors. The exception is a rule that counts (first, nth, every, and
// chance and jitter for one object) what several watches get at the same time. Generated scenarios
// have no such rules.
//
// A client under test that sends its requests from one goroutine, and uses no other random numbers
// or times, has the same [Transcript.ClientLogs].
//
// A client-go informer takes the timeouts of its watches and its back-off from math/rand. The seed
// determines these in a test binary that has this line above the package clause of one of its test
// files, and runs one scenario at a time:
//
//	//go:debug randseednop=0
//
// The order in which goroutines of the client run at the same virtual time still varies: whether a
// worker processes two changes of an object together or separately, and which of two requests the
// server executes first. With client-go's informer, nearly all generated scenarios have the same
// logs when they are run again; without the line above, less than half. The final state of the
// objects is the same if the client is correct.
//
// # TestMain
//
// client-go throttles the errors that it reports (utilruntime.HandleError) with a clock that was
// started with the process, outside of every bubble and decades after the start time of a bubble.
// The first error of a client would block it for that long. A test binary that runs clients in
// bubbles removes the throttle:
//
//	func TestMain(m *testing.M) {
//		utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
//		os.Exit(m.Run())
//	}
//
// The message of a failing scenario mentions this. Other problems of bubbles are documented in
// testing/synctest. The most common one is a real socket, for metrics or webhooks, which prevents
// virtual time from advancing.
//
// # Errors
//
// A text that cannot be parsed is a [*SyntaxError] with file and line. A step that fails is a
// [*Failure] with the expected and the actual value and the transcript. A client that does not
// return, or a server that cannot be closed, is another error.
//
// # Limits
//
//   - There are no variables, conditions or loops in files. Scenarios that need them are Go code,
//     and may have custom steps.
//   - Scenarios are not load tests and do not measure real time.
//   - Package conformance checks servers; this package does not.
//
// More than 1024 hits of rules within one step, or 1000 requests of a client, are not counted;
// expectations of larger counts are errors.
//
// Rules, features and discovery belong to one server. A replica starts with the features and
// discovery of [Config.Options], but without rules and middleware.
//
// # To add a step
//
// A kind of step is in two files. The first is a file of its family, step_*.go. It has an immutable
// type with the methods Run and String, an exported function that returns it, a function that
// parses it, and a method of the type kinds that declares its syntax. A step that refers to
// manifests or runs another step has the method files, and one that Shrink can simplify has the
// method simplifications. The second file is step_test.go, with rows for all kinds.
//
// The list of steps above is written by
//
//	go test ./scenario -run TestDocListsSteps -update
//
// # To add a random action
//
// Add a method of builder, and a line in actions (generate.go) or in one of the functions for
// faults (generate_faults.go). Its steps must be printable and depend only on the seed, and every
// correct client must pass. FuzzGenerate checks this:
//
//	go test ./scenario -run '^$' -fuzz FuzzGenerate
//
// # To add a case to the catalogue
//
// Write a file catalogue/NNN-NAME.txtar, with the number and name of the case in
// faults/CATALOGUE.md, optionally with a suffix, and leading comments in this order:
//
//	# 23 watch-missed-delete: an object is deleted while the client does not watch
//	#
//	# A description of a few lines.
//	#
//	# Role: mirror
//	# Must: what a client must do to pass; indented lines
//	#   continue a field
//	# Source: https://address.of/an/issue, as often as needed
//	# Passes: informer, poller
//	# Fails: naive: the reason, as often as needed
//
// Its steps run clients named after the role, optionally with "-" and a suffix. They should be few,
// and fail for a client with the bug that the case is about. TestCatalogue reports which clients
// pass and fail. Every client of package clients in the role must be in one of these fields.
package scenario
