package fakeapi_test

import (
	"context"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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
			srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
			replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
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

// pages finds what failed tests have left below a folder.
func pages(t *testing.T, folder string) (found []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".html" {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Contains(t, string(text), "<!doctype html>")
			require.Contains(t, string(text), "TestChild, http://", "the title")
			found = append(found, path)
		}
		return err
	}))
	return found
}

// The page goes to the artifacts of the test, else to the folder of the variable, and
// its path is told; with neither the test tells how to get it.
func TestFailedTestLeavesThePage(t *testing.T) {
	const hint = "fakeapi: for the timeline as a page: go test -artifacts, or FAKEAPI_ARTIFACTS=FOLDER"
	for _, which := range []string{"fails", "bubble"} {
		require.Contains(t, child(t, which, nil), hint)

		byFlag, byName := t.TempDir(), filepath.Join(t.TempDir(), "new", "folder")
		variable := []string{"FAKEAPI_ARTIFACTS=" + byName}
		out := child(t, which, variable, "-test.artifacts", "-test.outputdir="+byFlag)
		require.NotContains(t, out, hint)
		require.NoDirExists(t, byName)
		left := pages(t, byFlag)
		require.Len(t, left, 2)
		for i, name := range []string{"timeline-2.html", "timeline.html"} {
			require.Equal(t, name, filepath.Base(left[i]))
			require.Contains(t, out, " as a page: "+left[i]+"\n")
		}

		for range 2 { // the second run overwrites nothing
			out = child(t, which, variable)
		}
		left = pages(t, byName)
		require.Len(t, left, 4)
		for i, name := range []string{"TestChild-2.html", "TestChild-3.html", "TestChild-4.html", "TestChild.html"} {
			require.Equal(t, filepath.Join(byName, name), left[i])
		}
		require.Contains(t, out, left[1]+"\n")
		require.NotContains(t, out, left[3])
	}
}

// namedTB is a TB that knows a name and no more.
type namedTB struct {
	fakeapi.TB
	name string
}

func (n namedTB) Name() string { return n.name }

// Names of tests are made safe; a folder that cannot be is told.
func TestKeepTimeline(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	folder := t.TempDir()
	t.Setenv("FAKEAPI_ARTIFACTS", folder)
	for name, want := range map[string]string{
		"TestA/b=c_d/..":         "TestA_b=c_d_...html",
		"Test über:*?\\":         "Test__ber____.html",
		strings.Repeat("x", 999): strings.Repeat("x", 150) + ".html",
		"":                       "fakeapi.html",
	} {
		require.Equal(t, "the timeline of "+srv.URL()+" as a page: "+filepath.Join(folder, want), srv.SaveTimeline(namedTB{t, name}))
		require.FileExists(t, filepath.Join(folder, want))
	}
	t.Setenv("FAKEAPI_ARTIFACTS", filepath.Join(folder, "fakeapi.html", "below"))
	require.Contains(t, srv.SaveTimeline(namedTB{t, "x"}), "the timeline could not be written: ")
}
