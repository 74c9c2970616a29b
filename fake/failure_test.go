package fakeapi_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// failingChild names the test that this binary runs for the tests of what a failed test
// tells.
const failingChild = "FAKEAPI_TEST_CHILD"

// TestChild does nothing, except in the processes that the tests below start.
func TestChild(t *testing.T) {
	ask := func(t *testing.T, srv *fakeapi.Server, paths ...string) {
		for _, path := range paths {
			send(t, srv, http.MethodGet, path, "", nil)
		}
	}
	switch os.Getenv(failingChild) {
	case "passes":
		ask(t, fakeapi.Start(t), "/livez")
	case "fails":
		srv := fakeapi.Start(t)
		ask(t, srv, "/livez", "/nonsense/../x")
		ask(t, fakeapi.Start(t, fakeapi.WithoutTimeline()), "/readyz")
		fakeapi.Start(t)
		t.Error("it fails")
	case "bubble":
		synctest.Test(t, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.InMemory())
			replica, err := srv.Replica(fakeapi.InMemory())
			require.NoError(t, err)
			ask(t, replica.Server, "/healthz")
			for range 100 {
				ask(t, srv, "/livez")
			}
			t.Error("it fails")
		})
	}
}

// child runs TestChild in a process of its own and gives what it writes.
func child(t *testing.T, which string, env []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], append(args, "-test.run=^TestChild$", "-test.v")...)
	cmd.Env = append(append(os.Environ(), failingChild+"="+which, "FAKEAPI_ARTIFACTS="), env...)
	out, err := cmd.CombinedOutput()
	require.Equal(t, which != "passes", err != nil, "%s", out)
	return string(out)
}

func TestFailedTestTellsTheTimeline(t *testing.T) {
	require.NotContains(t, child(t, "passes", nil), "timeline")

	out := child(t, "fails", nil)
	require.Regexp(t, `fakeapi: the timeline of http://127.0.0.1:\d+:\n +\+\d\.\d{3}s #1 Go-http-client/1.1 GET /livez -> 200`, out)
	require.Contains(t, out, "GET /nonsense/../x -> 404")
	require.NotContains(t, out, "readyz", "which has no timeline")
	require.Contains(t, out, "nobody has asked for anything")
	require.Equal(t, 2, strings.Count(out, "fakeapi: the timeline of "))

	out = child(t, "bubble", nil)
	require.Contains(t, out, "... 40 lines left out ...\n")
	require.Equal(t, 60, strings.Count(out, " GET /livez -> 200"))
	require.Equal(t, 1, strings.Count(out, " GET /healthz -> 200"), "of the replica")
}
