package fakeapi_test

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/cmd/golden"
)

// recordings are what a real API server of the version that is served answered.
const recordings = "../internal/cmd/golden/testdata/v1.37"

// knownDifference is a recording that the server does not live up to.
type knownDifference struct {
	steps  []int // the steps that differ
	reason string
}

// knownDifferences are the differences that stay, as the recorded server was not all that a real
// one is. One that is in here and passes fails the test.
var knownDifferences = map[string]knownDifference{
	"crd-lifecycle": {[]int{6, 10}, "the program that was recorded had another name, by which it owns the status of definitions"},
	"discovery":     {[]int{2, 3, 5, 10, 11, 13, 14, 23, 24}, "it served fewer types and groups, and some that are not served here"},
	"err-404-path":  {[]int{20, 21, 22}, "so do its lists of paths and resources"},
	"openapi":       {[]int{1, 4, 5, 6, 12}, "and its documents, whose descriptions are the upstream ones"},
}

// Every recorded exchange has the recorded outcome. Each is replayed against a
// server of its own on virtual time, on which its pauses cost nothing.
func TestGolden(t *testing.T) {
	cases, err := golden.Load(os.DirFS(recordings))
	require.NoError(t, err)
	known := map[string]bool{}
	for _, c := range cases {
		known[c.Name] = true
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { checkResult(t, c.Name, replay(t, c)) })
		})
	}
	for name := range knownDifferences {
		require.True(t, known[name], "%s is expected to differ but is not played", name)
	}
}

// fixturesFor are the manifests that a case needs.
func fixturesFor(t *testing.T, c golden.Case) fs.FS {
	files := fstest.MapFS{}
	for _, name := range c.CRDs {
		body, err := fs.ReadFile(os.DirFS(recordings), name)
		require.NoError(t, err)
		files[name] = &fstest.MapFile{Data: body}
	}
	return files
}

// replay plays a case against a new server.
func replay(t *testing.T, c golden.Case) golden.Result {
	// The recorded server had no controllers.
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers(), fakeapi.WithManifests(fixturesFor(t, c)))
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

// checkResult fails the test for differences that are not expected, and for expected
// ones that are gone.
func checkResult(t *testing.T, name string, result golden.Result) {
	if result.Err != nil {
		t.Errorf("not played to its end: %v", result.Err)
	}
	differing := map[int]bool{}
	for _, s := range result.Differing() {
		differing[s.Number] = true
		if !slices.Contains(knownDifferences[name].steps, s.Number) {
			t.Errorf("step %d %s:\n\t%s", s.Number, s.Name, strings.Join(s.Differences.Lines(), "\n\t"))
		}
	}
	for _, n := range knownDifferences[name].steps {
		if !differing[n] {
			t.Errorf("step %d passes by now; take it out of what is expected", n)
		}
	}
}
