package faults_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/faults"
)

// The predicates in Go and as text.
func ExamplePred() {
	lost := []faults.Effect{faults.Reset()}
	for _, rule := range []faults.Rule{
		{Do: lost, When: faults.And(faults.Verb("create", "update"), faults.Resource("pods", "deployments.apps"), faults.Not(faults.Namespace("kube-*")))},
		{Do: lost, When: faults.Or(faults.Name("web-*"), faults.UserAgent("kubelet"))},
		{Do: lost, When: faults.And(faults.Verb("list"), faults.Query("continue"), faults.Query("limit", "500"))},
		{Do: lost, When: faults.And(faults.During(faults.Committed), faults.Code(201))},
		{Do: lost, When: faults.Event(watch.Deleted)},
		{Do: lost, When: faults.InitialEventsEnd()},
		{Do: lost, When: faults.Path("/apis", "/readyz")},
		{Do: lost, When: faults.Always()},
	} {
		fmt.Println(rule, rule.Validate() == nil)
	}
	// Output:
	// when verb(create, update) && resource(pods, deployments.apps) && !namespace(kube-*) do reset true
	// when name(web-*) || userAgent(kubelet) do reset true
	// when verb(list) && query(continue) && query(limit, 500) do reset true
	// when during(committed) && code(201) do reset true
	// when event(DELETED) do reset true
	// when initialEventsEnd do reset true
	// when path(/apis, /readyz) do reset true
	// when always do reset true
}

// Predicates that count come last and count only the operations that the predicates before them
// match.
func ExampleNth() {
	const pod = "/api/v1/namespaces/default/pods/web"
	for _, when := range []faults.Pred{
		faults.Nth(2), faults.First(2), faults.Every(2), faults.Chance(0.5, 42), faults.After(time.Hour), faults.Not(faults.After(time.Hour)),
	} {
		var set faults.Set
		if _, err := set.Add(faults.Rule{When: faults.And(faults.Verb("get"), when), Do: []faults.Effect{faults.Reply(faults.Unavailable(0))}}); err != nil {
			fmt.Println(err)
		}
		server := faults.Handler(&set, serve())
		fmt.Print(when, ":")
		for range 6 {
			recorder := httptest.NewRecorder()
			server.ServeHTTP(recorder, httptest.NewRequest(http.MethodDelete, pod, nil)) // not counted
			recorder = httptest.NewRecorder()
			server.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, pod, nil))
			fmt.Print(" ", recorder.Code)
		}
		fmt.Println()
	}
	// Output:
	// nth(2): 200 503 200 200 200 200
	// first(2): 503 503 200 200 200 200
	// every(2): 200 503 200 503 200 503
	// chance(0.5, 42): 503 503 503 503 200 503
	// after(1h0m0s): 200 200 200 200 200 200
	// !after(1h0m0s): 503 503 503 503 503 503
}

// The operation of a request.
func ExampleNewOp() {
	op := faults.NewOp(httptest.NewRequest(http.MethodPut, "/apis/apps/v1/namespaces/shop/deployments/web/scale", nil))
	fmt.Println(op)
	fmt.Println(faults.Resource("deployments.apps/scale").Eval(op), faults.Resource("deployments").Eval(op))
	// Output:
	// update deployments.apps/scale web in shop
	// true false
}

// A text with rules and comments.
func ExampleParseAll() {
	rules, err := faults.ParseAll(`
# the load balancer is down for 30 seconds
gone: when !after(30s) do raw(502, text/html, "<html>Bad Gateway</html>")
slow: when verb(list) do jitter(2s, 7)
`)
	for _, rule := range rules {
		fmt.Println(rule.Name)
	}
	fmt.Println(err)
	// Output:
	// gone
	// slow
	// <nil>
}

// Validate returns the error of an invalid rule. Simplifications returns candidates for shrinking a
// failing test.
func ExampleRule_Validate() {
	never, _ := faults.Parse("when verb(get) && event(ADDED) do drop")
	fmt.Println(never.Validate())

	rule, _ := faults.Parse("when verb(get) && first(8) do delay(10s), status(500)")
	for _, simpler := range rule.Simplifications() {
		fmt.Println(simpler)
	}
	// Output:
	// fault rule "when verb(get) && event(ADDED) do drop": nothing can match its condition (frames belong to watches, watches have no committed phase, event() and initialEventsEnd match frames, code() matches committed responses)
	// when verb(get) && first(8) do status(500)
	// when verb(get) && first(8) do delay(10s)
	// when first(8) do delay(10s), status(500)
	// when verb(get) do delay(10s), status(500)
	// when verb(get) && first(1) do delay(10s), status(500)
	// when verb(get) && first(4) do delay(10s), status(500)
	// when verb(get) && first(8) do delay(1s), status(500)
}

// Rules can be added and removed while the server runs.
func ExampleSet_Remove() {
	var set faults.Set
	if _, err := set.Add(faults.TooBusy(time.Second), faults.BadGateway(faults.Path("/readyz")), faults.DropBookmarks()); err != nil {
		fmt.Println(err)
	}
	for _, rule := range set.Rules() {
		fmt.Println(rule.Name)
	}
	fmt.Println(set.Remove("too-busy"), "removed,", len(set.Rules()), "left")
	set.Clear()
	fmt.Println(len(set.Rules()), "left")
	// Output:
	// too-busy
	// bad-gateway
	// drop-bookmarks
	// 1 removed, 2 left
	// 0 left
}
