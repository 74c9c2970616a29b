package conformance_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"testing"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

// A test of a server with a subtest for each case.
func ExampleRun() {
	var t *testing.T // of the test function
	srv := fakeapi.Start(t)
	conformance.Run(t, conformance.Config{
		BaseURL:  srv.URL(),
		Client:   srv.Client(),
		MinLevel: conformance.Must,
		Skip:     map[string]string{"WA-33": "no WebSockets yet"},
	})
}

// Without tests: one error, or nil if no case failed.
func ExampleCheck() {
	srv, err := fakeapi.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = srv.Close() }()
	err = conformance.Check(context.Background(), conformance.Config{
		BaseURL: srv.URL(), Client: srv.Client(), Run: regexp.MustCompile("^GT-01"),
	})
	fmt.Println(err)
	// Output: <nil>
}

// A run with a report in all its forms.
func ExampleExecute() {
	srv, err := fakeapi.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = srv.Close() }()
	report, err := conformance.Execute(context.Background(), conformance.Config{
		BaseURL: srv.URL(), Client: srv.Client(), Run: regexp.MustCompile("^GT-01"),
		Parallel:    1, // in the order of the IDs
		CaseStarted: func(c conformance.Case) { fmt.Println(c.ID, c.Group(), c.Rule()) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Count(conformance.Failed), "failed:", report.Err())
	for _, tally := range report.Tallies() {
		fmt.Println(conformance.GroupTitle(tally.Group), tally.Level, tally.Passed, "passed")
	}
	fmt.Println(report.LevelTally(conformance.May).Passed, "of what a server may do")

	var text bytes.Buffer
	if _, err := report.WriteTo(&text); err != nil {
		fmt.Println(err)
	}
	for _, write := range []func(io.Writer) error{report.WriteJSON, report.WriteJUnit, report.WriteMarkdown, report.WriteHTML} {
		if err := write(&text); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// GT-01/custom GT GT-01
	// GT-01/group GT GT-01
	// GT-01/typed GT GT-01
	// 0 failed: <nil>
	// get MUST 3 passed
	// 0 of what a server may do
}

// All cases, and the rules without cases.
func ExampleCases() {
	must := 0
	for _, c := range conformance.Cases() {
		if c.Level == conformance.Must {
			must++
		}
	}
	fmt.Println(must > 500, len(conformance.UncheckedRules()) < 40)
	// Output: true true
}

// A configuration can be checked before any request.
func ExampleConfig_SelectedCases() {
	config := conformance.Config{
		BaseURL: "https://127.0.0.1:6443",
		Run:     regexp.MustCompile("^BM-"),
		Skip:    map[string]string{"BM-01": "it is known"},
	}
	if err := config.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range config.SelectedCases() {
		if why := config.SkipReason(c); why != "" {
			fmt.Println(c.ID, why)
		}
	}
	// Output:
	// BM-01/custom it is known
	// BM-01/typed it is known
	// BM-08/minute it takes 1m40s, and Config.Patience is 0s
}
