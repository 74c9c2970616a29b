// Package perturb finds bugs of controllers without a specification. It runs a workload once
// undisturbed, and then again and again with one disturbance each: at every write the controller
// crashes, every request fails in every way, every event is missed or late, and so on. A run that
// leads to another result than the undisturbed one, or in which something is deleted or created
// that otherwise is not, is a finding.
//
// # When to use it
//
// When a controller works, and it should be known whether it also works when something fails.
// Package scenario is for failures that somebody has thought of; this package tries all that it
// knows, at all places. The controller is not changed. A run takes about fifty milliseconds of
// processor time, on virtual time, so that a thousand runs are a test.
//
//   - A finding has a file that package scenario runs, with a single disturbance.
//   - Findings that are accepted are listed in the test, which fails when they have gone.
//   - The same configuration and seed lead to the same runs, in the same order.
//
// # First steps
//
//	func TestMyController(t *testing.T) {
//		perturb.Run(t, perturb.Config{
//			Controllers: map[string]scenario.Client{
//				"mine": func(ctx context.Context, config *rest.Config) error {
//					return myController(ctx, config)
//				},
//			},
//			Workload: []scenario.Step{
//				scenario.Apply("web.yaml", web),
//				scenario.Patch(scenario.Ref{Kind: "widget", Name: "web"}, types.MergePatchType, `{"spec":{"size":3}}`),
//				scenario.Delete(scenario.Ref{Kind: "widget", Name: "web"}),
//			},
//		})
//	}
//
// The test binary needs the TestMain of the documentation of package scenario. [Search] does the
// same without a test.
//
// # The workload
//
// The steps of [Config.Setup] are run first, then the controllers, and then those of
// [Config.Workload], each followed by [Config.Pause]. At the end the run waits until nothing was
// written for [Config.Settle]. Custom resources are defined by fakeapi.WithCRDs in [Config.Options]
// or by a step of Setup.
//
// A good workload is short, and has every kind of change that users make: create, scale up and
// down, change what cannot be changed in place, delete, and create again under the same name. It
// says what users do, not what the controller does. Each step adds places to disturb. Objects that
// other controllers of a cluster write, such as the status of Pods, are written by steps or by a
// second controller in [Config.Controllers].
//
// The undisturbed workload is run several times, with other uids, times, resourceVersions,
// latencies and orders. What differs between these runs is not compared: uids, times, generated
// names, the order of lists, and whatever else is found. Events and Leases are never compared. What
// differs only in disturbed runs, such as a counter of attempts, is listed in [Config.Ignore].
//
// # Perturbations
//
// [Kinds] returns the kinds with what they imitate and their numbers in faults/CATALOGUE.md:
//
//	crash      the controller ends before or after one of its writes, and starts at once or later
//	fail       a request fails: conflict, 500, 504, 429, reset, lost reply
//	expire     a watch ends at an event and its resourceVersion has expired
//	miss       events are missed, and the client lists again
//	cut        a watch is reset at an event
//	delay      one watch is behind the others
//	stale      the controller starts on a server that is behind, at each write and each step
//	edit       somebody else adds a finalizer to an object before the controller writes it
//	delete     somebody else deletes an object that the controller has created
//	lease      a leader cannot renew its lease, and another instance takes over
//	bookmarks  a watch has no bookmarks
//	twin       two instances of a controller run; only with [Config.Full]
//
// The places are the requests and events of the undisturbed run. Without Full, equal requests and
// events are disturbed a few times only, and those about Events, Leases and namespaces of the
// system not at all. The most promising perturbations are first, so that a small [Config.Budget]
// finds most.
//
// A controller without a watch on an object may not notice that somebody else has changed it. So
// the result of edit and delete is compared with that of the same write at a time at which nothing
// else happens. The result of a missed event or a long crash may also be that of a controller that
// did not run in that time.
//
// # Oracles
//
// These are violations, and the first words of the names of findings:
//
//	panic         a controller panics in its own goroutine
//	errors        it ends with an error five times
//	loop          it sends many more requests at the end, or the objects never stop to change
//	deleted       an object is deleted that exists in the reference at that time
//	created       more objects exist at a time, or one is created again after its end
//	leaders       an instance writes after another one has taken its lease
//	state         the final state is another one, also finalizers and objects that remain
//	answers CODE  it gets many more answers 403, 409 or 422
//	invariant     one of [Config.Invariants] does not hold after a write
//	expect        one of [Config.Expect] fails
//
// An object that the garbage collector deletes because its owner is gone is no violation. A
// controller that returns an error is run again after ten seconds. A controller has
// [Config.Recovery] to reach the state of the reference. A violation counts if a second run shows
// it, too. If that one has only other violations, a third run decides.
//
// # Findings
//
// The name of a finding has the oracle, the objects, and the kind of the perturbation: "deleted
// configmaps dns/record-web (fail)". [Config.Known] accepts it. All perturbations of a kind that
// show the same are one finding; that with the fewest steps is printed.
//
//	perturb: deleted configmaps dns/record-web (fail)
//	perturbation: fail 504: get 2 of services default/web by records
//	which imitates: a request fails once: a conflict, an overloaded or unavailable API server ...
//	expected configmaps dns/record-web to be deleted never, as in the reference; saw it deleted 1 times ...
//
// The second line says where: the second get of that Service by the controller records. Then follow
// what was expected and seen, the changes of the object with the requests that made them, and the
// file. Its steps are those of the workload, and a rule for the disturbance, often with steps that
// are run when the rule is applied:
//
//	fault perturb: when userAgent("mine") && verb(create) && resource("pods") && during(committed) && nth(1) do hang
//	at hit perturb crash mine
//	at hit perturb run mine --restart-after 10s
//
// The last steps are expectations that fail because of the bug. The file was run, with and without
// the disturbance, unless the finding says that it does not reproduce the bug. With [Config.Dir]
// the file, the text and the page of the timeline are written to a directory: scenario.RunDir runs
// the files as regression tests, with the same clients and options.
//
// # A process that ends
//
// A panic in a goroutine of a controller ends the process. With [Config.Resume] the next process
// goes on with the other perturbations, and reports the one during which the process ended as a
// finding.
//
// # Limits
//
//   - Results that depend on chance, other than names, uids, times and orders, make the undisturbed
//     runs differ, which is an error.
//   - A controller that by design does not come back to the same state, such as one that acts once
//     for each event, has findings that are no bugs. List them in Config.Known with the reason.
//   - A workload step that fails because of the perturbation makes a run inconclusive. If an object
//     is still being deleted when the workload creates it again, the final state is not compared.
//   - The events of a watch that is delayed until the next step arrive together with those of that
//     step. A controller that acts on states that it then never reads, such as one that keeps a
//     copy of what was deleted in between, has another result, which is no bug.
//   - A violated invariant, and a controller that ends with errors, have no file.
//   - Places are those of one undisturbed run. If goroutines of the controller run in another
//     order, the place may not be reached; the report counts these runs.
//
// # To add a kind
//
// Write its type in a file perturbation_*.go: it implements perturbation, and its steps must be
// printable, so that a finding has a file. Add a function that returns its [Kind] to Kinds, and a
// row above. An oracle is a method of judgment in a file oracle_*.go, and a line in oracles.
package perturb
