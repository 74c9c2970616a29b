package fakeapi_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/golden"
)

// recordings are what a real API server of the version that is served answered.
const recordings = "../internal/golden/testdata/v1.37"

// expectation is a recording that the server does not live up to yet.
type expectation struct {
	steps  []int // the steps that differ; none means that any may
	reason string
}

// notYet can only shrink: what is in here and passes fails the test.
var notYet = map[string]expectation{}

// Every recorded exchange has the recorded outcome. Each is replayed against a
// server of its own on virtual time, on which its pauses cost nothing.
func TestGolden(t *testing.T) {
	cases, err := golden.Load(os.DirFS(recordings))
	require.NoError(t, err)
	var pending []string
	known := map[string]bool{}
	for _, c := range cases {
		if len(c.CRDs) > 0 {
			pending = append(pending, c.Name)
			continue
		}
		known[c.Name] = true
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { judge(t, c.Name, replay(t, c)) })
		})
	}
	for name := range notYet {
		require.True(t, known[name], "%s is expected to differ but is not played", name)
	}
	t.Logf("%d of %d cases wait for custom resources: %s", len(pending), len(cases), strings.Join(pending, ", "))
}

// replay plays a case against a new server.
func replay(t *testing.T, c golden.Case) golden.Result {
	// The recorded server had no controllers.
	srv := fakeapi.Start(t, fakeapi.InMemory(), fakeapi.WithoutControllers())
	player := golden.Player{
		BaseURL:   srv.URL(),
		Client:    srv.Client(),
		Compact:   func(context.Context) error { srv.Compact(); return nil },
		Namespace: "replayed",
	}
	limit := time.Duration(c.TookMs)*time.Millisecond + 30*time.Second
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return player.Play(ctx, c)
}

// judge fails the test for differences that are not expected, and for expected
// ones that are gone.
func judge(t *testing.T, name string, result golden.Result) {
	expected, listed := notYet[name]
	if listed && result.Same() {
		t.Errorf("passes by now; take it out of notYet")
		return
	}
	if listed {
		t.Logf("not yet as recorded: %s", expected.reason)
	}
	anyStep := listed && len(expected.steps) == 0
	if result.Err != nil && !anyStep {
		t.Errorf("not played to its end: %v", result.Err)
	}
	differing := map[int]bool{}
	for _, s := range result.Differing() {
		differing[s.Number] = true
		if !anyStep && !slices.Contains(expected.steps, s.Number) {
			t.Errorf("step %d %s:\n\t%s", s.Number, s.Name, strings.Join(s.Differences, "\n\t"))
		}
	}
	for _, n := range expected.steps {
		if !differing[n] {
			t.Errorf("step %d passes by now; take it out of notYet", n)
		}
	}
}
