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
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// childVariable is the environment variable that selects what TestChild does.
const childVariable = "FAKEAPI_TEST_CHILD"

// TestChild does nothing, except in the processes that runChild starts.
func TestChild(t *testing.T) {
	ask := func(t *testing.T, srv *fakeapi.Server, paths ...string) {
		for _, path := range paths {
			send(t, srv, http.MethodGet, path, "", nil)
		}
	}
	switch os.Getenv(childVariable) {
	case "passes":
		ask(t, fakeapi.Start(t), "/livez")
	case "fails":
		srv := fakeapi.Start(t)
		ask(t, srv, "/livez", "/nonsense/../x")
		ask(t, fakeapi.Start(t, fakeapi.WithoutTimeline()), "/readyz")
		fakeapi.Start(t)
		t.Error("failed")
	case "bubble":
		synctest.Test(t, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
			replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
			require.NoError(t, err)
			ask(t, replica.Server, "/healthz")
			for range 100 {
				ask(t, srv, "/livez")
			}
			t.Error("failed")
		})
	case "forks":
		filled := fakeapi.Start(t)
		for range 2 {
			ask(t, filled.ForkFor(t), "/livez")
		}
		t.Error("failed")
	case "throttled":
		throttle := func(context.Context, error, string, ...any) {}
		utilruntime.ErrorHandlers = append(utilruntime.ErrorHandlers, throttle)
		fakeapi.Start(t)
		synctest.Test(t, func(t *testing.T) {
			filled := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
			filled.ForkFor(t, fakeapi.WithInMemoryNetwork())
			t.Error("failed")
		})
	}
}

// runChild runs TestChild in a new process and returns its output.
func runChild(t *testing.T, mode string, env []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], append(args, "-test.run=^TestChild$", "-test.v")...)
	cmd.Env = append(append(os.Environ(), childVariable+"="+mode, "FAKEAPI_ARTIFACTS="), env...)
	out, err := cmd.CombinedOutput()
	require.Equal(t, mode != "passes", err != nil, "%s", out)
	return string(out)
}

func TestFailedTestLogsTimeline(t *testing.T) {
	require.NotContains(t, runChild(t, "passes", nil), "timeline")

	out := runChild(t, "fails", nil)
	require.Regexp(t, `fakeapi: the timeline of http://127.0.0.1:\d+:\n +\+\d\.\d{3}s #1 Go-http-client/1.1 GET /livez -> 200`, out)
	require.Contains(t, out, "GET /nonsense/../x -> 404")
	require.NotContains(t, out, "readyz", "a server without timeline")
	require.Contains(t, out, "no requests")
	require.Equal(t, 2, strings.Count(out, "fakeapi: the timeline of "))

	out = runChild(t, "bubble", nil)
	require.Contains(t, out, "... 40 lines left out ...\n")
	require.Equal(t, 60, strings.Count(out, " GET /livez -> 200"))
	require.Equal(t, 1, strings.Count(out, " GET /healthz -> 200"), "the request to the replica")
}

// A failed test also logs the timelines of forks.
func TestFailedTestLogsForks(t *testing.T) {
	out := runChild(t, "forks", nil)
	require.Equal(t, 3, strings.Count(out, "fakeapi: the timeline of "))
	require.Equal(t, 2, strings.Count(out, " GET /livez -> 200"))
}

// A test on virtual time logs that client-go throttles the errors that it reports.
func TestThrottledErrorsAreLogged(t *testing.T) {
	const hint = "Add to TestMain: utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]"
	require.NotContains(t, runChild(t, "bubble", nil), hint)
	require.Equal(t, 2, strings.Count(runChild(t, "throttled", nil), hint))
}

// findPages returns the HTML pages below a folder.
func findPages(t *testing.T, folder string) (found []string) {
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

// A failed test writes the timeline as a page to its artifacts or to the folder in
// FAKEAPI_ARTIFACTS, and logs the path. Without either, it logs how to get the page.
func TestFailedTestWritesPage(t *testing.T) {
	const hint = "fakeapi: for the timeline as a page: go test -artifacts, or FAKEAPI_ARTIFACTS=FOLDER"
	for _, mode := range []string{"fails", "bubble"} {
		require.Contains(t, runChild(t, mode, nil), hint)

		outputDir, envDir := t.TempDir(), filepath.Join(t.TempDir(), "new", "folder")
		variable := []string{"FAKEAPI_ARTIFACTS=" + envDir}
		out := runChild(t, mode, variable, "-test.artifacts", "-test.outputdir="+outputDir)
		require.NotContains(t, out, hint)
		require.NoDirExists(t, envDir)
		pages := findPages(t, outputDir)
		require.Len(t, pages, 2)
		for i, name := range []string{"timeline-2.html", "timeline.html"} {
			require.Equal(t, name, filepath.Base(pages[i]))
			require.Contains(t, out, " as a page: "+pages[i]+"\n")
		}

		for range 2 { // the second run overwrites nothing
			out = runChild(t, mode, variable)
		}
		pages = findPages(t, envDir)
		require.Len(t, pages, 4)
		for i, name := range []string{"TestChild-2.html", "TestChild-3.html", "TestChild-4.html", "TestChild.html"} {
			require.Equal(t, filepath.Join(envDir, name), pages[i])
		}
		require.Contains(t, out, pages[1]+"\n")
		require.NotContains(t, out, pages[3])
	}
}

// namedTB is a TB with another name.
type namedTB struct {
	fakeapi.TB
	name string
}

func (n namedTB) Name() string { return n.name }

// The names of tests are converted to file names. A folder that cannot be created is reported.
func TestSaveTimeline(t *testing.T) {
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
