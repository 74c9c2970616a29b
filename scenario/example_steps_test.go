package scenario_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/scenario"
)

// configMapYAML returns the manifest of ConfigMap a with a value.
func configMapYAML(value string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: " + value + "}\n"
}

// playWithTB prints the steps as a file, runs it, and prints the transcript.
func playWithTB(config scenario.Config, steps ...scenario.Step) {
	text, err := scenario.Print(steps...)
	if err != nil {
		fmt.Println(err)
		return
	}
	transcript, err := scenario.Play("example.txtar", text, config)
	fmt.Print(transcript)
	if err != nil {
		fmt.Println(err)
	}
}

// All kinds of writes, and expectations of the result.
func ExampleCreate() {
	a := scenario.Ref{Kind: "configmap", Name: "a"}
	playWithTB(scenario.Config{},
		scenario.Create("a.yaml", configMapYAML("one")),
		scenario.ExpectError("409 AlreadyExists", scenario.Create("again.yaml", configMapYAML("one"))),
		scenario.Update("b.yaml", configMapYAML("two")),
		scenario.Patch(a, types.MergePatchType, `{data: {k: "three"}}`),
		scenario.ServerSideApply("c.yaml", configMapYAML("four"), "me", true),
		scenario.Expect(a, scenario.Field{Path: "data.k", Value: "four"}),
		scenario.Delete(a),
		scenario.ExpectAbsent(a),
		scenario.ExpectList(scenario.Collection{Kind: "configmap"}),
	)
	// Output:
	// seed 0
	//        0s  create a.yaml
	//              POST /api/v1/namespaces/default/configmaps?fieldValidation=Strict 201
	//        0s  expect error "409 AlreadyExists" create again.yaml
	//              POST /api/v1/namespaces/default/configmaps?fieldValidation=Strict 409
	//        0s  update b.yaml
	//              PUT /api/v1/namespaces/default/configmaps/a?fieldValidation=Strict 200
	//        0s  patch configmap/a {"data":{"k":"three"}}
	//              PATCH /api/v1/namespaces/default/configmaps/a?fieldValidation=Strict 200
	//        0s  apply c.yaml --server-side --manager me --force
	//              PATCH /api/v1/namespaces/default/configmaps/a?fieldManager=me&fieldValidation=Strict&force=true 200
	//        0s  expect configmap/a data.k=four
	//              GET /api/v1/namespaces/default/configmaps/a 200
	//        0s  delete configmap/a
	//              DELETE /api/v1/namespaces/default/configmaps/a 200
	//        0s  expect absent configmap/a
	//              GET /api/v1/namespaces/default/configmaps/a 404
	//        0s  expect list configmap
	//              GET /api/v1/namespaces/default/configmaps 200
}

// The status of an object is written through its subresource.
func ExampleUpdateSubresource() {
	job := scenario.Ref{Kind: "job", Name: "j"}
	const head = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\n"
	const spec = "spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}\n"
	playWithTB(scenario.Config{},
		scenario.Apply("job.yaml", head+spec),
		scenario.UpdateSubresource("active.yaml", head+"status: {active: 1}\n", "status"),
		scenario.PatchSubresource(job, "status", types.MergePatchType, `{status: {ready: 1}}`),
		scenario.Expect(job, scenario.Field{Path: "status", Value: `{"active":1,"ready":1}`}),
	)
	// Output:
	// seed 0
	//        0s  apply job.yaml
	//              GET /apis/batch/v1/namespaces/default/jobs/j 404
	//              POST /apis/batch/v1/namespaces/default/jobs?fieldValidation=Strict 201
	//        0s  update active.yaml --subresource status
	//              PUT /apis/batch/v1/namespaces/default/jobs/j/status?fieldValidation=Strict 200
	//        0s  patch job/j --subresource status {"status":{"ready":1}}
	//              PATCH /apis/batch/v1/namespaces/default/jobs/j/status?fieldValidation=Strict 200
	//        0s  expect job/j status="{\"active\":1,\"ready\":1}"
	//              GET /apis/batch/v1/namespaces/default/jobs/j 200
}

// Expected events of watches, and forgotten history.
func ExampleWatch() {
	all := scenario.Collection{Kind: "configmap"}
	playWithTB(scenario.Config{},
		scenario.Watch("w", all),
		scenario.Apply("a.yaml", configMapYAML("one")),
		scenario.ExpectEvents("w", scenario.Event{Type: "ADDED", Name: "a"}),
		scenario.Compact(),
		scenario.WatchFrom("resumed", all, "1000"),
		scenario.ExpectEvents("resumed", scenario.Event{Type: "ADDED", Name: "a"}),
		scenario.Expire(),
		scenario.WatchFrom("late", all, "1000"),
		scenario.ExpectEvents("late", scenario.Event{Type: "ERROR", Name: "Expired"}, scenario.Event{Type: "END"}),
		scenario.ExpectEvents("w"),
	)
	// Output:
	// seed 0
	//        0s  watch w configmap
	//              GET /api/v1/namespaces/default/configmaps?allowWatchBookmarks=true&timeoutSeconds=3600&watch=true 200
	//              w: BOOKMARK @1004 (end of the initial events)
	//        0s  apply a.yaml
	//              GET /api/v1/namespaces/default/configmaps/a 404
	//              POST /api/v1/namespaces/default/configmaps?fieldValidation=Strict 201
	//              w: ADDED a @1005
	//        0s  expect events w ADDED a
	//        0s  compact
	//        0s  watch resumed configmap --from 1000
	//              GET /api/v1/namespaces/default/configmaps?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=3600&watch=true 200
	//              resumed: ADDED a @1005
	//        0s  expect events resumed ADDED a
	//        0s  expire
	//        0s  watch late configmap --from 1000
	//              GET /api/v1/namespaces/default/configmaps?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=3600&watch=true 200
	//              late: ERROR Expired
	//              late: END
	//        0s  expect events late ERROR Expired END
	//        0s  expect events w
}

// Rules are added and removed, and their hits are counted.
func ExampleFault() {
	list := scenario.ExpectList(scenario.Collection{Kind: "configmap"})
	busy := faults.Rule{Name: "busy", When: faults.Verb("list"), Do: []faults.Effect{faults.Reply(faults.InternalError())}}
	playWithTB(scenario.Config{},
		scenario.Fault(busy),
		scenario.ExpectError("500", list),
		scenario.ExpectHits("busy", scenario.Exactly(1)),
		scenario.ClearFault("busy"),
		scenario.Fault(faults.Rule{Name: "away", When: faults.Not(faults.After(10 * time.Minute)), Do: []faults.Effect{faults.Reset()}}),
		scenario.Advance(11*time.Minute),
		list,
		scenario.ExpectHits("away", scenario.AtMost(0)),
		scenario.ClearFaults(),
	)
	// Output:
	// seed 0
	//        0s  fault busy: when verb(list) do status(500, InternalError)
	//        0s  expect error 500 expect list configmap
	//              GET /api/v1/namespaces/default/configmaps 500
	//              fault busy: before list configmaps in default: status(500, InternalError)
	//        0s  expect hits busy 1
	//        0s  clear fault busy
	//        0s  fault away: when !after(10m0s) do reset
	//        0s  advance 11m0s
	//     11m0s  expect list configmap
	//              GET /api/v1/namespaces/default/configmaps 200
	//     11m0s  expect hits away <=0
	//     11m0s  clear faults
}

// once is a client under test that creates ConfigMap made and returns.
func once(ctx context.Context, config *rest.Config) error {
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
	_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "made"}}, metav1.CreateOptions{})
	return err
}

// counting is a client under test that reads ConfigMap made every minute.
func counting(ctx context.Context, config *rest.Config) error {
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
	for ctx.Err() == nil {
		_, _ = maps.Get(ctx, "made", metav1.GetOptions{}) // it continues in any case
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// Clients under test are run, stopped and moved, and their requests are expected.
func ExampleRunClient() {
	playWithTB(scenario.Config{Clients: map[string]scenario.Client{"once": once, "counting": counting}},
		scenario.RunClient("once"),
		scenario.ExpectDone("once"),
		scenario.RunClient("once"), // as a restarted process
		scenario.ExpectFailed("once", "already exists"),
		scenario.Replica("b", scenario.Current()),
		scenario.RunClientOn("counting", "b"),
		scenario.ExpectRequests("counting", "GET ", scenario.AtLeast(1)),
		scenario.SwitchClient("counting", "main"),
		scenario.ExpectRequestsIn(3*time.Minute, "counting", "200", scenario.Exactly(3)),
		scenario.StopClient("counting"),
		scenario.ExpectRequestsIn(10*time.Minute, "counting", "", scenario.Exactly(0)),
	)
	// Output:
	// seed 0
	//        0s  run once
	//        0s  expect done once
	//        0s  run once
	//        0s  expect failed once "already exists"
	//        0s  replica b
	//        0s  run counting --on b
	//        0s  expect requests counting "GET " >=1
	//        0s  switch counting main
	//        0s  expect requests counting 200 3 --in 3m0s
	//      3m0s  stop counting
	//      3m0s  expect requests counting "" 0 --in 10m0s
	// client once
	//            POST /api/v1/namespaces/default/configmaps 201
	//            POST /api/v1/namespaces/default/configmaps 409
	// client counting
	//            GET /api/v1/namespaces/default/configmaps/made 200 on b
	//            GET /api/v1/namespaces/default/configmaps/made 200
	//            GET /api/v1/namespaces/default/configmaps/made 200
	//            GET /api/v1/namespaces/default/configmaps/made 200
}

// The views of replicas may be behind the store.
func ExampleReplica() {
	all := scenario.Collection{Kind: "configmap"}
	playWithTB(scenario.Config{},
		scenario.Replica("frozen", scenario.Frozen()),
		scenario.Replica("lagging", scenario.Lag(1)),
		scenario.Replica("late", scenario.Delay(30*time.Second)),
		scenario.On("late", scenario.WatchFrom("w", all, "1004")),
		scenario.Apply("a.yaml", configMapYAML("one")),
		scenario.ExpectEvents("w"),
		scenario.Advance(30*time.Second),
		scenario.ExpectEvents("w", scenario.Event{Type: "ADDED", Name: "a"}),
		scenario.CatchUp("frozen"),
		scenario.Freeze("late"),
	)
	// Output:
	// seed 0
	//        0s  replica frozen --frozen
	//        0s  replica lagging --lag 1
	//        0s  replica late --delay 30s
	//        0s  on late watch w configmap --from 1004
	//              GET /api/v1/namespaces/default/configmaps?allowWatchBookmarks=true&resourceVersion=1004&timeoutSeconds=3600&watch=true 200
	//        0s  apply a.yaml
	//              GET /api/v1/namespaces/default/configmaps/a 404
	//              POST /api/v1/namespaces/default/configmaps?fieldValidation=Strict 201
	//        0s  expect events w
	//        0s  advance 30s
	//       30s    w: ADDED a @1005
	//       30s  expect events w ADDED a
	//       30s  catch up frozen
	//       30s  freeze late
}

// Faults of a whole server: it shuts down and restarts, its cache is reinitialized, its clock is
// wrong, and its store is restored.
func ExampleShutdown() {
	all := scenario.Collection{Kind: "configmap"}
	config := scenario.Config{Options: []fakeapi.Option{fakeapi.WithTokens(fakeapi.Token{Value: "s3cret", User: "ann"})}}
	playWithTB(config,
		scenario.Snapshot("before"),
		scenario.Apply("a.yaml", configMapYAML("one")),
		scenario.Shutdown(),
		scenario.ExpectError("no answer", scenario.ExpectList(all, "a")),
		scenario.Restart(0),
		scenario.NotReady(10*time.Second),
		scenario.Skew(-time.Hour),
		scenario.Discovery("hide", "apps"),
		scenario.Feature(fakeapi.WatchList, false),
		scenario.Restore("before", 1000),
		scenario.ExpectAbsent(scenario.Ref{Kind: "configmap", Name: "a"}),
		scenario.ExpireToken("s3cret"),
		scenario.ExpectError("401 Unauthorized", scenario.ExpectList(all)),
	)
	// Output:
	// seed 0
	//        0s  snapshot before
	//              revision 1004
	//        0s  apply a.yaml
	//              GET /api/v1/namespaces/default/configmaps/a 404
	//              POST /api/v1/namespaces/default/configmaps?fieldValidation=Strict 201
	//        0s  shutdown
	//        0s  expect error "no answer" expect list configmap a
	//              GET /api/v1/namespaces/default/configmaps no answer
	// example.txtar:4: expect error "no answer" expect list configmap a
	//     expected an error with "no answer"; saw Get "https://fakeapi.memory:80/api/v1/namespaces/default/configmaps": dial memory fakeapi.memory:80: connection refused
	// transcript so far:
	//     seed 0
	//            0s  snapshot before
	//                  revision 1004
	//            0s  apply a.yaml
	//                  GET /api/v1/namespaces/default/configmaps/a 404
	//                  POST /api/v1/namespaces/default/configmaps?fieldValidation=Strict 201
	//            0s  shutdown
	//            0s  expect error "no answer" expect list configmap a
	//                  GET /api/v1/namespaces/default/configmaps no answer
}

// Expectations that hold for some time, and for a client that copies objects.
func ExampleAlways() {
	playWithTB(scenario.Config{},
		scenario.Always(10*time.Minute, scenario.ExpectAbsent(scenario.Ref{Kind: "configmap", Name: "a"})),
		scenario.Eventually(time.Minute, scenario.ExpectSame("configmap", "default", "kube-public")),
	)
	// Output:
	// seed 0
	//        0s  always 10m0s expect absent configmap/a
	//     10m0s    GET /api/v1/namespaces/default/configmaps/a 404
	//     10m0s  eventually 1m0s expect same configmap default kube-public
	//              GET /api/v1/namespaces/default/configmaps 200
	//              GET /api/v1/namespaces/kube-public/configmaps 200
}
