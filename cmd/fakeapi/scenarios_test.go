package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/clients"
)

const (
	outageScenario  = "fault away: when verb(list) && !after(10m) do status(503)\nadvance 10m\nexpect list configmap\n"
	failingScenario = "compact\nexpect cm/a\n"
)

// scripts writes scenarios into a new directory and makes it the working directory.
func scripts(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(writeScripts(t, files))
}

// writeScripts writes scenarios into a new directory, and returns it.
func writeScripts(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		file := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return folder
}

func TestRunPrintsTheTranscript(t *testing.T) {
	scripts(t, map[string]string{"outage.txtar": outageScenario})
	got := runCommand(t, "run", "outage.txtar", "--seed", "7")
	require.Equal(t, result{status: exitOK, stdout: `=== outage.txtar
seed 7
       0s  fault away: when verb(list) && !after(10m0s) do status(503)
       0s  advance 10m0s
    10m0s  expect list configmap
             GET /api/v1/namespaces/default/configmaps 200
ok    outage.txtar
`}, got)
}

// A failing step is reported with its line and sets the exit status; the other scenarios still run.
// A directory stands for all scenarios below it.
func TestRunFails(t *testing.T) {
	scripts(t, map[string]string{"a/outage.txtar": outageScenario, "a/sub/broken.txtar": failingScenario, "text.txtar": "fly\n", "a/notes.txt": "no"})
	got := runCommand(t, "run", "-q", "a", "text.txtar")
	require.Equal(t, exitError, got.status)
	require.Equal(t, "ok    a/outage.txtar\nFAIL  a/sub/broken.txtar\nFAIL  text.txtar\n3 scenarios, 2 failed\n", got.stdout)
	report := strings.Split(got.stderr, "\n")
	require.Equal(t, "fakeapi: a/sub/broken.txtar:2: expect cm/a: expected cm/a; saw none", report[0])
	require.Regexp(t, "^fakeapi: text.txtar:1: expected a step ", report[1])

	got = runCommand(t, "run", "a/sub/broken.txtar")
	require.Equal(t, exitError, got.status)
	require.Contains(t, got.stdout, "GET /api/v1/namespaces/default/configmaps/a 404\nFAIL  a/sub/broken.txtar\n")
	require.NotContains(t, got.stderr, "transcript", "the transcript is on stdout")
}

// Pages are written for passing and failing scenarios, also in real time. A missing directory is an
// error.
func TestRunWritesPages(t *testing.T) {
	scripts(t, map[string]string{"good.txtar": "expect absent cm/a\n", "a/broken.txtar": failingScenario})
	require.NoError(t, os.Mkdir("pages", 0o700))
	require.Equal(t, exitError, runCommand(t, "run", "-q", "--html", "pages", "good.txtar", "a/broken.txtar").status)
	for _, name := range []string{"good", "broken"} {
		page, err := os.ReadFile(filepath.Join("pages", name+".html"))
		require.NoError(t, err)
		require.Contains(t, string(page), "/api/v1/namespaces/default/configmaps/a", name)
		require.NoError(t, os.Remove(filepath.Join("pages", name+".html")))
	}
	require.Equal(t, exitOK, runCommand(t, "run", "-q", "--html", "pages", "--real-time", "good.txtar").status)
	require.FileExists(t, "pages/good.html")
	got := runCommand(t, "run", "--html", "nowhere", "good.txtar", "a/broken.txtar")
	require.Equal(t, exitError, got.status)
	require.Contains(t, got.stderr, "nowhere/good.html")
	require.NotContains(t, got.stdout, "broken")

	// Pages of scenarios with the same name do not overwrite each other.
	scripts(t, map[string]string{"a/same.txtar": "compact\n", "b/same.txtar": "expire\n"})
	require.NoError(t, os.Mkdir("pages", 0o700))
	require.Equal(t, exitOK, runCommand(t, "run", "-q", "--html", "pages", "a", "b").status)
	require.FileExists(t, "pages/same.html")
	require.FileExists(t, "pages/same-2.html")
}

func TestRunUsage(t *testing.T) {
	scripts(t, map[string]string{"empty/notes.txt": "no"})
	for _, test := range []struct {
		args, want string
		status     int
	}{
		{"run", "fakeapi: run: name a FILE, a DIRECTORY or a CASE, or - for stdin; see fakeapi help run", exitUsage},
		{"run --list --all", "fakeapi: run: --list and --all are mutually exclusive; see fakeapi help run", exitUsage},
		{"run --list 1", `fakeapi: run: unexpected argument "1" beside --list or --all; see fakeapi help run`, exitUsage},
		{"run a --sed 1", "fakeapi: run: unknown flag --sed (did you mean --seed?); see fakeapi help run", exitUsage},
		{"run 1 --client absent", `fakeapi: run: invalid value "absent" for flag -client: no such client; the clients are: mirror=informer, `, exitUsage},
		{"run 1 --client pager", "fakeapi: watch-expired-event: --client pager does not have the role mirror; the clients are: informer, ", exitError},
		{"run nowhere", "fakeapi: nowhere: neither a file nor a case of the catalogue; see fakeapi run --list", exitError},
		{"run empty", "fakeapi: empty: no file with the extension .txtar", exitError},
	} {
		t.Run(test.args, func(t *testing.T) {
			got := runCommand(t, strings.Fields(test.args)...)
			require.Equal(t, test.status, got.status)
			require.Empty(t, got.stdout)
			require.Contains(t, got.stderr, test.want)
			require.Equal(t, 1, strings.Count(got.stderr, "\n"))
		})
	}
}

// Cases of the catalogue are selected by number or name. They run with the first client that
// passes, or with the chosen one.
func TestRunACase(t *testing.T) {
	for _, args := range []string{"run 1 -q", "run -q watch-expired-event", "run -q 1 --client informer-list", "run -q --client mirror=poller 1"} {
		require.Equal(t, result{status: exitOK, stdout: "ok    001-watch-expired-event.txtar\n"}, runCommand(t, strings.Fields(args)...), args)
	}
	require.Contains(t, runCommand(t, "run", "1").stdout, "=== 001-watch-expired-event.txtar (mirror: informer)\nseed 0\n")

	got := runCommand(t, "run", "1", "-q", "--client", "naive")
	require.Equal(t, exitError, got.status)
	require.Regexp(t, `^FAIL  001-watch-expired-event\.txtar \(naive is known to fail: .+\)\n$`, got.stdout)
	require.Regexp(t, `^fakeapi: 001-watch-expired-event\.txtar:\d+: `, got.stderr)
}

// The roles of a file are played by the chosen clients, or by the first ones.
func TestRunRolesOfAFile(t *testing.T) {
	scripts(t, map[string]string{"roles.txtar": `apply mirror.yaml
run creator
run lister
eventually 1m expect configmap/report -n mirror
-- mirror.yaml --
{apiVersion: v1, kind: Namespace, metadata: {name: mirror}}
`})
	require.Contains(t, runCommand(t, "run", "roles.txtar").stdout, "=== roles.txtar (lister: pager, creator: careful)\n")
	got := runCommand(t, "run", "roles.txtar", "--client", "lister=by-hand", "--client", "careless")
	require.Contains(t, got.stdout, "=== roles.txtar (lister: by-hand, creator: careless)\n")
	require.Equal(t, exitOK, got.status, got.stderr)
}

func TestRunList(t *testing.T) {
	got := runCommand(t, "run", "--list")
	require.Equal(t, exitOK, got.status)
	require.Empty(t, got.stderr)
	for _, c := range scenario.Catalogue() {
		require.Regexp(t, `(?m)^`+strings.Join([]string{`\d+`, c.Name, c.Role, namesOrDash(c.Passes)}, ` +`)+`  `, got.stdout)
		require.Contains(t, got.stdout, "  "+c.Title+"\n")
	}
	for _, client := range clients.All() {
		require.Regexp(t, `(?m)^`+client.Role+` +`+client.Name+` +\S`, got.stdout)
	}
}

// The tables list the cases of each role with the clients. The tests of the catalogue's package
// check all results.
func TestRunAll(t *testing.T) {
	got := runCommand(t, "run", "--all", "--client", "careless", "--client", "lister=pager", "--client", "lister=by-hand")
	require.Equal(t, exitOK, got.status, got.stderr)
	require.Empty(t, got.stderr)
	require.Regexp(t, `(?m)^LISTER +pager +by-hand$`, got.stdout)
	require.Regexp(t, `(?m)^39 continue-expired +passes +fails$`, got.stdout)
	require.Regexp(t, `(?m)^CREATOR +careless$`, got.stdout)
	require.NotContains(t, got.stdout, "careful")
	require.NotContains(t, got.stdout, "MIRROR")
	for _, c := range scenario.Catalogue() {
		require.Equal(t, !slices.Contains([]string{"mirror", "custom-mirror", "elector"}, c.Role), strings.Contains(got.stdout, " "+c.Name+" "), c.Name)
	}
}

// Results that the catalogue does not expect are reported.
func TestRunAllReportsUnexpectedResults(t *testing.T) {
	c := scenario.Catalogue()[0]
	c.Fails = map[string]string{"informer": "so it was said"}
	informer, err := clientSelection{}.forCase(scenario.Case{Role: "mirror"})
	require.NoError(t, err)
	result, surprise := new(runFlags).runCase(t.Context(), c, informer)
	require.Equal(t, "passes", result)
	require.Contains(t, surprise, "the catalogue expects informer to fail, but it passes")

	naive := clientSelection{}
	require.NoError(t, naive.add("naive"))
	result, surprise = new(runFlags).runCase(t.Context(), c, naive.clients[0])
	require.Equal(t, "fails", result)
	require.Contains(t, surprise, "naive fails: 001-watch-expired-event.txtar:")
}

// In real time the output is not delayed, and a missing client is an error.
func TestRunInRealTime(t *testing.T) {
	scripts(t, map[string]string{"a.txtar": "run creator\neventually 1m expect requests creator \"configmaps 201\" 1\nexpect cm/only\n", "b.txtar": "run mine\n"})
	got := runCommand(t, "run", "--real-time", "a.txtar")
	require.Equal(t, exitOK, got.status, got.stderr)
	require.Contains(t, got.stdout, "=== a.txtar (creator: careful)\nseed 0\n")
	require.Contains(t, got.stdout, " client creator: POST /api/v1/namespaces/default/configmaps 201\n")
	require.Equal(t, 1, strings.Count(got.stdout, "run creator\n"))

	got = runCommand(t, "run", "--real-time", "-q", "b.txtar")
	require.Equal(t, result{status: exitError, stdout: "FAIL  b.txtar\n", stderr: "fakeapi: b.txtar: no client for: mine; " +
		"name it with --client, or connect it to fakeapi serve --scenario\n"}, got)
}

// An interrupt ends a run that would not end otherwise.
func TestRunInterrupted(t *testing.T) {
	scripts(t, map[string]string{"long.txtar": "run mirror\nadvance 100h\n"})
	for _, args := range [][]string{{"run", "long.txtar", "--client", "poller"}, {"run", "--real-time", "long.txtar"}} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitError, run(ctx, args, &stdout, &stderr))
		require.Regexp(t, `^fakeapi: interrupted: .*long\.txtar`, stderr.String())
	}
}
