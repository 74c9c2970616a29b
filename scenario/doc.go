// Package scenario tells stories that break clients of a Kubernetes API server:
// objects, watches, faults, jumps in time, and what must be true afterwards. A
// story is a list of steps. Steps are Go values, and lines of a file that can be
// read, attached to a bug report, and kept as a regression test.
//
// # When to use it
//
// When a client has to survive a sequence of troubles: a cut watch while the history is forgotten,
// a lost reply and a restart. A single fault in a test of one's own needs package faults only.
//
//   - A file says all that is needed to see a bug again.
//   - Steps and text are the same thing: what prints, parses back as equal steps.
//   - A step that fails tells where it stands, what was expected, what was seen,
//     and what happened until then.
//   - The same seed gives the same [Transcript], byte for byte, where steps are the
//     only clients.
//   - Bugs that nobody thought of are found at random, and made small.
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
// Each run has a server of its own, in memory, in a testing/synctest bubble. All
// time is virtual: ten minutes of outage take milliseconds.
//
// # The form of a file
//
// A file is a txtar archive: first the steps, one a line, and then the manifests
// that they refer to, each behind a line "-- NAME --".
//
//	# An informer must notice what it missed.
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
//
// Words stand between blanks. A word with blanks, or one that begins with "-" or
// "#", goes in double quotes, which are read as in Go. A "#" at the start of a
// word begins a remark. Every file must be used by a step, and be a manifest:
// YAML or JSON documents, each one object with a name, or for create with a
// generateName.
//
// # Steps
//
//	advance DURATION
//	always DURATION STEP
//	apply FILE [--server-side [--manager NAME] [--force]]
//	catch up REPLICA
//	clear fault NAME
//	clear faults
//	compact
//	create FILE
//	delete KIND/NAME [-n NAMESPACE]
//	discovery hide|fail|stale|flap|reset [GROUP ...]
//	eventually DURATION STEP
//	expect KIND/NAME [-n NAMESPACE] [PATH=VALUE ...]
//	expect absent KIND/NAME [-n NAMESPACE]
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
//	run CLIENT [--on REPLICA]
//	shutdown
//	skew DURATION
//	snapshot NAME
//	stop CLIENT
//	switch CLIENT REPLICA
//	update FILE [--subresource NAME]
//	watch NAME KIND [-n NAMESPACE | -A] [--selector SELECTOR] [--from REVISION]
//
// Each is documented at the function that makes it in Go, which mostly has the name of the step:
// [Advance], [Apply], [ExpectAbsent]. The variants of a step with flags have functions of their own,
// such as [ServerSideApply], [PatchSubresource], [RunClientOn] and [ExpectRequestsIn].
//
// KIND is what kubectl takes: configmap, cm, deployments.apps. Without -n the
// namespace is "default"; -A is all of them. An EVENT is ADDED, MODIFIED or
// DELETED with the object's name, ERROR with the reason of its Status, BOOKMARK,
// END for the end of the stream, or "..." for any events. RULE is the language of
// package faults, and in expect hits the name of a rule. COUNT is a number, or one
// behind >= or <=. PATCH is the rest of the line, JSON or YAML of that form:
// {data: {k: "1"}}.
//
// Custom resources are kinds as others, from the step on that creates their definition, a
// manifest like any, or from the beginning with fakeapi.WithCRDs in [Config.Options].
//
// Between two steps server and clients do all that they can do before time
// passes. So a step sees the effects of the one before, unless somebody waits for
// the clock: a back-off, a rate limit, a delay. For those there are advance and
// eventually.
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
// An object is not there, or not for a time; a watch has received nothing; a client
// asks for nothing; a rule has not acted; and, in general, what an expectation says
// is not so.
//
// # Clients under test
//
// [Config.Clients] names the functions that run starts. Their requests carry the
// client's name as user agent, so userAgent(NAME) in a rule narrows it to one
// client (and to those whose names begin alike); the steps' own user agent is
// "scenario", and that of their watches "scenario/NAME". A rule without userAgent
// hits the steps as well, which are clients like others: client-go's, with its
// retries. What a client under test achieves is best expected where its users
// would see it, in objects of the API.
//
// A rule that counts (first, nth, every) should be about one client or one watch:
// which of two watches gets its bookmark first is not decided by the seed.
//
// A client can be stopped and run again, as a process that is restarted: that is
// how to see whether it finds its way back. It has a new context then, and what it
// kept in memory is its own affair; its requests are counted on.
//
// A client that returns an error that no step expected fails the scenario. So
// does one that has not returned a minute after its context ended, and one that
// makes five thousand requests without any pause.
//
// # In real time
//
// A [Stage] plays a scenario in real time, on a server that other processes reach: for
// clients under test that are not written in Go. fakeapi serve --scenario is the command
// for it, and fakeapi run --real-time plays so in one process.
//
// A client that is none of [Config.Clients] is a guest there, who comes over the
// network. To run it is to wait for its first request: one whose user agent begins with
// its name. Requests that come before that step are held back until it, so that the guest
// finds the world as the steps before have left it. From then on they are in the
// transcript as the server has answered them. A guest cannot be stopped or
// moved, it is not seen to return, and replicas are not on the network.
//
// Between two steps nothing tells that server and clients only wait for the clock. A step
// ends when for 50 ms nothing was sent, no request has waited for its answer for less than
// a second, and nothing was written; or after three seconds, for a client that never rests.
// That is a guess: what a client does is best awaited with eventually. No run is like the
// one before, with whatever seed.
//
// # The catalogue
//
// [Catalogue] has known ways in which API servers break their clients, each a file
// in catalogue/, with what a client must do, where that is known from, and which
// clients survive it. Bring your own:
//
//	func TestMyInformer(t *testing.T) {
//		scenario.RunCatalogue(t, "mirror", myMirror, map[string]string{
//			"bookmark-missing": "issue 123",
//		})
//	}
//
// The client is a [Client] that does what its role says, for as long as its
// context goes on, or where it says so once. It may be the code under test in a
// few lines of dress: what is tried is how it talks to the API. In the namespaces
// "default" and "mirror":
//
//	mirror   For each ConfigMap of default there is one in mirror with the same
//	         name and data; it goes when the first goes. What was left in mirror by
//	         an earlier run goes as well.
//	lister   Lists the ConfigMaps of default once, completely, writes their names,
//	         sorted and joined by commas, into data.text of ConfigMap report in
//	         mirror, and returns.
//	elector  Campaigns for Lease lock in default, under the name that is its user
//	         agent. Its ConfigMap, of that name in default, has data.leads "true"
//	         while it leads, else "false". Several run at a time.
//	creator  Creates ConfigMap only in default, and returns without an error if it
//	         is there by its own doing, though no reply may have told so.
//	counter  Adds one to data.value of ConfigMap count in default, exactly once,
//	         and returns.
//	undertaker
//	         Watches the ConfigMaps of default that have the label mourn=yes, with
//	         that selector. For each of them that is deleted it makes one of the
//	         same name in mirror; for those that still exist it does not.
//	parent   Sees to it that there is one ConfigMap with the label child=true in
//	         default, whose name the server makes up (generateName), and returns.
//	         It may be run again.
//	remover  Deletes the ConfigMap only that is in default when it begins, and no
//	         later one of that name, and returns without an error when it is gone.
//
// Faults hit what a role is about: a mirror's requests in default, not its writes
// to mirror, which need no more than ordinary retries. Package scenario/clients
// has client-go's clients in these roles, and what is written by hand; they are
// what the cases speak of in their lines Survives and Falls. A single case runs
// with [Case.Run] or [Case.Play].
//
// # Replicas
//
// Behind a load balancer stand several API servers with one store, and each has a
// watch cache of its own, which may be behind. A client that is moved from one to
// another can travel back in time.
//
//	replica b
//	run mine
//	freeze b
//	apply new.yaml
//	eventually 1m expect configmap/report data.text=new
//	switch mine b
//
// The server that a scenario begins with is called main. A step goes to another one
// with on: "on b watch w configmap", "on b fault RULE". Rules belong to one server;
// a rule for all of them is a step for each. In the transcript, what did not happen
// at main ends in "on b".
//
// # Bugs that scenarios find
//
// Each of these examples has a controller with a bug that was published, the
// scenario that finds it in milliseconds, and the repair, which passes:
//
//	Play (Conflict)    the retry after a conflict takes what others wrote away   fybrik/fybrik#1385
//	Play (Gone)        a watch is begun for ever where history is gone           coreos/etcd-operator#166
//	Play (LostReply)   what was done without a reply is done again               kubernetes/kubernetes#25595
//	Play (Overshoot)   what was just started is started again: a late cache      ray-project/kuberay#715
//	Play (Partial)     what could not be read is deleted                         kubernetes-sigs/external-dns#2858
//	Play (Selector)    what lost its label is taken to be deleted                GoogleContainerTools/config-sync#1328
//	Play (TimeTravel)  a server that is behind shows a delete of long ago        instaclustr/cassandra-operator#402
//	Play (Tombstone)   a delete that was missed is ignored                       projectcalico/calico#12793
//	Play (TwoLeaders)  who has lost the lease works on                           cilium/cilium#42920
//
// # Scenarios at random
//
// A [Generator] makes scenarios from seeds: objects that come, change and go,
// watches, faults of all sorts that a correct client survives, jumps in time,
// history that is forgotten; and then what must be true when all is over. [Explore]
// runs them, and if one fails, [Shrink] leaves out and makes simpler what the
// failure does not need. What is left is printed as a file, which reproduces it:
//
//	func TestMyController(t *testing.T) {
//		scenario.Explore(t, scenario.Config{Clients: ...}, scenario.Generator{
//			Client: "mine",
//			Setup:  []scenario.Step{scenario.Apply("copies.yaml", copies)}, // its namespace
//			Expect: scenario.Mirrors("configmap", "default", "copies"),
//		}, 1, 100)
//	}
//
// [Generator.Object] is for controllers of other kinds, [Generator.Expect] for what
// they have to achieve. [Search] does the same without a test, and its example
// finds a bug. What an expectation is about, other than an object, a watch or a
// client that it names, Shrink cannot know: a file of one's own, with events or hits
// counted exactly, shrinks well only if the function that is asked looks for the
// same failure.
//
// # What is the same when it is run again
//
// Of a file, a [Config] and a version of this module, this is promised:
//
// Steps are the only clients. The [Transcript] is the same, byte for byte, in any
// process and with any number of processors. The exception is a rule that counts
// (first, nth, every; chance and jitter about one object) what several watches get
// at the same time. Generated scenarios have no such rules.
//
// A client under test that makes its requests from one goroutine, and takes no
// random numbers and no time from elsewhere: its [Transcript.Lanes] are the same.
//
// Other clients: a client-go informer draws the timeouts of its watches and its
// back-off from the functions of math/rand. They follow from the seed in a test
// binary that has this line above the package clause of one of its test files, and
// runs one scenario at a time:
//
//	//go:debug randseednop=0
//
// What is left is the order in which goroutines of the client take their turns at
// the same instant: whether a worker sees two changes of an object together or one
// by one, and which of two requests the server stores first, which has the lower
// resourceVersion. Nearly all generated scenarios have the same lanes when they are
// run again with client-go's informer (without the line above, less than half). The
// final state of the objects is the same if the client is correct; nothing else is
// promised.
//
// # TestMain
//
// client-go throttles the errors that it reports (utilruntime.HandleError) by a
// clock that was started when the process was: outside of every bubble, decades
// after the time that a bubble begins with. The first error of a client would put
// it to sleep for that long. A test binary that runs clients in bubbles takes the
// throttle out:
//
//	func TestMain(m *testing.M) {
//		utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
//		os.Exit(m.Run())
//	}
//
// The message of a scenario that fails reminds of it. Further traps of bubbles
// are documented in testing/synctest; the usual one is a real socket, for metrics
// or webhooks, which makes time stand still.
//
// # Errors
//
// A text that is no scenario is a [*SyntaxError] with file and line. A step that fails is a
// [*Failure], which says what was expected and seen and has the transcript; what a test prints is
// the same. A client that never returns, or a server that cannot be closed, is named.
//
// # Limits
//
//   - No programming language: no variables, conditions or loops. A story that
//     needs them is Go code, with steps of its own.
//   - No load tests, and no tests of wall-clock time.
//   - No check of a server: that is what package conformance is for.
//
// More than 1024 hits of rules within one step, or 1000 requests of a client, are not
// counted; to expect them is an error.
//
// Rules, features and discovery belong to one server; a replica that is opened later
// has those of [Config.Options], but no rules and no middleware.
//
// # To add a step
//
// A kind of step touches two files. The first is a file of its family, step_*.go: a type that is
// immutable data with the methods Run and String, an exported function that makes it, a function
// that parses it, and a method of the type kinds that declares its syntax. A step that refers to
// manifests or runs another step has the method files, and one that Shrink can make simpler has the
// method simplifications. The second file is step_test.go, which has rows for all kinds.
//
// The list of steps above is written by
//
//	go test ./scenario -run TestDocListsSteps -update
//
// # To add what happens at random
//
// A method of builder, and a line in actions (generate.go) or in one of the functions
// about faults (generate_faults.go). It must print, follow from the seed, and be
// survived by every correct client; FuzzGenerate tells:
//
//	go test ./scenario -run '^$' -fuzz FuzzGenerate
//
// # To add a case to the catalogue
//
// Write a file catalogue/NNN-NAME.txtar, with the number and name that the case has
// in faults/CATALOGUE.md (there may be more behind the name), and leading remarks
// in this order:
//
//	# 23 watch-missed-delete: an object is deleted while nobody watches
//	#
//	# What happens, in a few lines.
//	#
//	# Role: mirror
//	# Must: what a client must do to survive; what is indented
//	#   goes on
//	# Source: https://address.of/an/issue, as often as needed
//	# Survives: informer, poller
//	# Falls: naive: why, as often as needed
//
// Its steps run clients called as the role, or with "-" and more behind that. They
// should be few, and fail for a client that does what the case is known to break.
// TestCatalogue tells who survives and who falls; every client of package clients
// in the role must be in one of these lines.
package scenario
