package scenario_test

import (
	"fmt"
	"log"
	"time"

	"example.com/fakeapi/faults"
	"example.com/fakeapi/scenario"
)

// Steps in Go are printed as a file.
func ExamplePrint() {
	object := scenario.Ref{Kind: "configmap", Name: "a"}
	text, err := scenario.Print(
		scenario.Apply("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"),
		scenario.Fault(faults.Expire410(faults.UserAgent("mine"), faults.First(1))),
		scenario.RunClient("mine"),
		scenario.Eventually(time.Minute, scenario.Expect(object, scenario.Field{Path: "data.seen", Value: "by mine"})),
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(text)
	// Output:
	// apply a.yaml
	// fault expire-410: when verb(watch) && query(resourceVersion) && !query(resourceVersion, 0) && !query(sendInitialEvents, true) && userAgent(mine) && first(1) do error(410, Expired)
	// run mine
	// eventually 1m0s expect configmap/a data.seen="by mine"
	// -- a.yaml --
	// apiVersion: v1
	// kind: ConfigMap
	// metadata: {name: a}
}

// A syntax error has its line and the expected text.
func ExampleParse() {
	_, err := scenario.Parse("# The clock is patient.\nadvance soon\n")
	fmt.Println(err)
	// Output: line 2: expected a duration such as "90s" or "5m", found "soon" (advance DURATION)
}

// A scenario runs without a test. The server is down for ten minutes of virtual time.
func ExamplePlay() {
	transcript, err := scenario.Play("outage.txtar", `
fault away: when verb(list) && !after(10m) do status(503)
expect error "503" expect list configmap
advance 10m
expect list configmap
`, scenario.Config{})
	fmt.Print(transcript)
	fmt.Println(err)
	// Output:
	// seed 0
	//        0s  fault away: when verb(list) && !after(10m0s) do status(503)
	//        0s  expect error 503 expect list configmap
	//              GET /api/v1/namespaces/default/configmaps 503
	//              fault away: before list configmaps in default: status(503)
	//        0s  advance 10m0s
	//     10m0s  expect list configmap
	//              GET /api/v1/namespaces/default/configmaps 200
	// <nil>
}
