package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/scenario"
)

// A case of the catalogue is played with a client in its role. The client once treats every
// response except success as an error.
func ExampleCatalogue() {
	cases := scenario.Catalogue()
	i := slices.IndexFunc(cases, func(c scenario.Case) bool { return c.Role == "creator" })
	one := cases[i]
	fmt.Println(one)
	_, err := one.Play(once)
	var failure *scenario.Failure
	if errors.As(err, &failure) {
		fmt.Println(failure.Brief())
	}
	fmt.Println(scenario.KnownFailures("creator", "careless")[one.Name])

	// The same case is played by Play, with another server.
	_, err = scenario.Play(one.Name, one.Text, one.Config(once, fakeapi.WithoutControllers()))
	fmt.Println(err != nil)
	// Output:
	// 53 create-committed-response-lost: an object is created, and the response is lost
	// 053-create-committed-response-lost.txtar:14: eventually 1m0s expect done creator: attempt 61, after 1m0s: expected client creator to have returned without an error; saw Post "http://fakeapi.memory:80/api/v1/namespaces/default/configmaps": EOF
	// it treats AlreadyExists as an error and gives up
	// true
}

// All cases of a role are run with a client. The case that it is known to fail must fail. A single
// case runs with Run.
func ExampleRunCatalogue() {
	var t *testing.T // of the test
	scenario.RunCatalogue(t, "creator", once, map[string]string{
		"create-committed-response-lost": "issue 123",
	})
	for _, one := range scenario.Catalogue() {
		if one.Role == "creator" {
			one.Run(t, once)
		}
	}
}

// All files of a directory are run.
func ExampleRunDir() {
	var t *testing.T // of the test
	scenario.RunDir(t, os.DirFS("testdata"), scenario.Config{
		Clients: map[string]scenario.Client{"mine": once},
	})
}

// Steps can be written in Go. A step of another package is a type with Run and String.
func ExampleRun() {
	var t *testing.T // of the test
	scenario.Run(t, scenario.Config{Seed: 1},
		scenario.Apply("a.yaml", configMapYAML("one")),
		expectVersion{"v1.37"},
		scenario.Fault(faults.Expire410()),
	)
}

// expectVersion is a custom step.
type expectVersion struct{ prefix string }

func (s expectVersion) String() string { return "expect version " + s.prefix }

func (s expectVersion) Run(_ context.Context, e *scenario.Env) error {
	got, err := kubernetes.NewForConfigOrDie(e.Config()).Discovery().ServerVersion()
	if err != nil {
		return err
	}
	e.Note("%s at revision %s", got.GitVersion, e.Server().ResourceVersion())
	if !strings.HasPrefix(got.GitVersion, s.prefix) {
		return fmt.Errorf("expected version %s; saw %s", s.prefix, got.GitVersion)
	}
	return nil
}

// Random scenarios are run as a test and as a fuzz test.
func ExampleExplore() {
	var t *testing.T // of the test
	scenario.Explore(t, scenario.Config{Clients: map[string]scenario.Client{"mine": once}}, scenario.Generator{Client: "mine"}, 1, 100)
}

// Two runs of a client are compared by the logs of its requests.
func ExampleTranscript_ClientLogs() {
	transcript, err := scenario.Play("once.txtar", "run once\nexpect done once\n", scenario.Config{
		Clients: map[string]scenario.Client{"once": once},
	})
	fmt.Println(transcript.ClientLogs(), err)
	// Output:
	// map[once /api/v1/namespaces/default/configmaps:[POST 201]] <nil>
}

// A generated scenario is a list of steps. It is shrunk to the steps that are needed to delete an
// object.
func ExampleShrink() {
	generated, err := scenario.Generator{Steps: 10}.Generate(7)
	if err != nil {
		fmt.Println(err)
		return
	}
	deleted := regexp.MustCompile(`DELETE .* 200`)
	deletes := func(steps []scenario.Step) bool {
		text, err := scenario.Print(steps...)
		if err != nil {
			return false
		}
		transcript, err := scenario.Play("generated.txtar", text, scenario.Config{})
		return err == nil && deleted.MatchString(transcript.String())
	}
	for _, step := range scenario.Shrink(generated, deletes) {
		fmt.Println(step)
	}
	// Output:
	// eventually 10m0s apply 02-delta.yaml
	// eventually 10m0s delete configmap/delta -n default
}

// A live run serves clients over the network. This one is Go's HTTP client.
func ExampleNewLiveRun() {
	run, err := scenario.NewLiveRun("curl.txtar", "run curl\nexpect requests curl /version 1\n", scenario.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = run.Close() }()
	fmt.Println("waiting for", run.ExternalClients())
	go func() {
		request, _ := http.NewRequest(http.MethodGet, run.Server().URL()+"/version", nil)
		request.Header.Set("User-Agent", "curl/8")
		if answer, err := http.DefaultClient.Do(request); err == nil {
			_ = answer.Body.Close()
		}
	}()
	_, err = run.Play(context.Background(), nil)
	fmt.Println(err)
	// Output:
	// waiting for [curl]
	// <nil>
}
