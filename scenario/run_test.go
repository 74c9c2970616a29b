package scenario

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
)

// childEnv selects the scenario of TestChild.
const childEnv = "SCENARIO_TEST_CHILD"

// TestChild does nothing except in the processes that TestRunFailsItsTest starts.
func TestChild(t *testing.T) {
	late := func(context.Context, *rest.Config) error { time.Sleep(time.Hour); return nil }
	never := func(context.Context, *rest.Config) error { <-make(chan int); return nil }
	clients := map[string]Client{"late": late, "never": never}
	files := fstest.MapFS{
		"good.txtar":    {Data: []byte("compact\n")},
		"sub/bad.txtar": {Data: []byte("compact\nexpect cm/a\n")},
		"text.txtar":    {Data: []byte("fly\n")},
	}
	switch os.Getenv(childEnv) {
	case "step":
		Run(t, Config{}, Compact(), Expect(Ref{Kind: "cm", Name: "a"}))
		t.Error("Run has returned")
	case "files":
		RunDir(t, files, Config{})
	case "late":
		require.Contains(t, Run(t, Config{Clients: clients}, RunClient("late")).String(), "run late")
	case "never":
		Run(t, Config{Clients: clients}, RunClient("never"))
	case "catalogue":
		RunCatalogue(t, "mirror", idleClient, map[string]string{"watch-expired-event": "it is idle", "no-case": "why"})
	case "explore":
		Explore(t, Config{Clients: clients}, Generator{Client: "late"}, 7, 1)
	case "role":
		RunCatalogue(t, "king", idleClient, nil)
	case "otherwise":
		newCase(t, "run mirror\n").mustFail(t, late, "it is late")
	case "survives":
		newCase(t, "run mirror\n").mustFail(t, idleClient, "it is idle")
	}
}

// A failing scenario ends its test with the message, and does not prevent other files from running.
// A client that does not return is reported, even if the bubble then panics.
func TestRunFailsItsTest(t *testing.T) {
	for which, want := range map[string][]string{
		"step": {"run_test.go:", "step 2: expect cm/a\n", "expected cm/a; saw none\n", "transcript so far:\n", "--- FAIL: TestChild "},
		"files": {"--- PASS: TestChild/good ", "--- FAIL: TestChild/sub/bad ", "sub/bad.txtar:2: expect cm/a\n",
			"--- FAIL: TestChild/text ", "text.txtar:1: expected a step"},
		"late": {"at the end: expected client late to return when its context ends; saw it still runs 1m0s later", "--- FAIL: TestChild "},
		"catalogue": {"--- PASS: TestChild/watch-expired-event ", "--- FAIL: TestChild/bookmark-missing ", "027-bookmark-missing.txtar:",
			"A client must: not rely on bookmarks, ", "See https://github.com/kubernetes-client/python/issues/1796\n",
			`the catalogue has no case "no-case" for the role mirror; there are: watch-expired-event, `},
		"explore":   {"scenario: seed 7 fails. 2 of ", " steps remain after shrinking:\n        \n        run late\n", "--- FAIL: TestChild "},
		"role":      {`the catalogue has no case for the role "king"`},
		"otherwise": {"expected that an expectation fails (it is late), but the error is: at the end: "},
		"survives":  {"the client passes a-case, which it is known to fail (it is idle)", "run mirror"},
		"never":     {"at the end: expected client never to return when its context ends", "deadlock"},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v")
		cmd.Env = append(os.Environ(), childEnv+"="+which)
		out, err := cmd.CombinedOutput()
		require.Error(t, err, which)
		for _, w := range want {
			require.Contains(t, string(out), w, which)
		}
		require.NotContains(t, string(out), "Run has returned", which)
	}
}

// A failing scenario saves the page of its timeline, and does not log the lines of the timeline
// beside the transcript. A scenario that is expected to fail saves nothing.
func TestRunSavesTimelinePage(t *testing.T) {
	folder := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), childEnv+"=step", "FAKEAPI_ARTIFACTS="+folder)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	page := filepath.Join(folder, "TestChild.html")
	require.Contains(t, string(out), " as a page: "+page+"\n")
	require.FileExists(t, page)
	require.Equal(t, 1, strings.Count(string(out), "transcript so far:"))
	require.NotContains(t, string(out), "fakeapi: the timeline of ")

	folder = t.TempDir()
	t.Setenv("FAKEAPI_ARTIFACTS", folder)
	_, err = Play("it.txtar", "expect cm/a\n", Config{})
	require.Error(t, err)
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// The steps of a scenario, and how one failed, are in the timeline of its server.
func TestRunNotesStepsInTimeline(t *testing.T) {
	var notes []fakeapi.Note
	_, err := Play("it.txtar", "advance 1s\ncompact\nexpect cm/a\n", Config{AfterRun: func(server *fakeapi.Server, _ error) {
		notes = server.Timeline().Notes
	}})
	require.Error(t, err)
	var texts []string
	for _, n := range notes {
		require.Equal(t, len(texts) == 4, n.Failed)
		texts = append(texts, n.Source+": "+n.Text)
	}
	require.Len(t, texts, 5)
	require.Equal(t, []string{"scenario: advance 1s", "scenario: compact", "server: Compact", "scenario: expect cm/a"}, texts[:4])
	require.Contains(t, texts[4], "scenario: expected")
}
