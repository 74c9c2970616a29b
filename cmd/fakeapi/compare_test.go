package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/internal/cmd/compare"
)

// recorded are exchanges recorded with a real server.
const recorded = "golden:../../internal/cmd/golden/recordings/testdata/v1.37"

// startFaultyServer starts a server with a fault rule.
func startFaultyServer(t *testing.T, rule string) *fakeapi.Server {
	t.Helper()
	srv := fakeapi.Start(t, fakeapi.WithNamespaceDeletionDelay(0))
	_, err := srv.Faults().Add(parseFault(t, rule))
	require.NoError(t, err)
	return srv
}

func parseFault(t *testing.T, rule string) faults.Rule {
	t.Helper()
	fault, err := faults.Parse(rule)
	require.NoError(t, err)
	return fault
}

func TestCompare(t *testing.T) {
	srv := fakeapi.Start(t)
	file := filepath.Join(t.TempDir(), "report")
	got := runCommand(t, "compare", "--left", "self", "--right", kubeconfigOf(t, srv), "--run", "^(GT-0[12]|LS-01)", "--namespace", "trial", "--report", "json="+file)
	require.Equal(t, exitOK, got.status, got.stdout)
	require.Regexp(t, `(?m)^LS +\d+ +0 +0 +0 +0 +list$`, got.stdout)
	require.Regexp(t, `left self \(v1\.37\.\d+\), right \S+ \(v1\.37\.\d+\): \d+ same, 0 different, 0 left only, 0 right only, 0 neither\n$`, got.stdout)
	require.Regexp(t, `(?m)^ +\d+/\d+  0 different, 0 on one side only +\d+s  LS, list$`, got.stderr)
	require.True(t, hasRequest(srv, "GET /api/v1/namespaces/trial-"))
	requireNothingLeft(t, srv)
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	var report compare.Report
	require.NoError(t, json.Unmarshal(content, &report))
	require.Equal(t, len(report.Cases), report.Count(compare.Same))
}

// The exit status is 1 if responses differ or if only one side can run a case.
func TestCompareDiffers(t *testing.T) {
	srv := startFaultyServer(t, `lie: when verb(get) && resource(secrets) && code(200) do set(/type, other)`)
	got := runCommand(t, "compare", "--left", "self", "--right", kubeconfigOf(t, srv), "--run", "^GT-0[12]/", "--report", "markdown")
	require.Equal(t, exitError, got.status)
	require.Contains(t, got.stdout, "\n## GT-02/typed [MUST] ")
	require.Contains(t, got.stderr, "DIFFERENT  GT-02/typed [MUST] ")
	require.Contains(t, got.stderr, "    body.type\n      left:  \"Opaque\"\n      right: \"other\"\n")
	require.NotContains(t, got.stderr, "DIFFERENT  GT-02/custom")

	got = runCommand(t, "compare", "--left", "self", "--right", kubeconfigOf(t, fakeapi.Start(t)), "--run", "^EX-04/typed$", "-q")
	require.Equal(t, exitError, got.status)
	require.Contains(t, got.stdout, "LEFT ONLY  EX-04/typed [MUST] ")
}

// A --compact URL enables the cases that need a compaction.
func TestCompareCompacts(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithControlAPI())
	got := runCommand(t, "compare", "--left", "self", "--right", kubeconfigOf(t, srv), "--right-compact", srv.URL()+"/fakeapi/v1/compact", "--run", "^EX-04/typed$")
	require.Equal(t, exitOK, got.status, got.stdout+got.stderr)
	got = runCommand(t, "compare", "--left", "self", "--right", kubeconfigOf(t, srv), "--right-compact", srv.URL()+"/none", "--run", "^EX-04/typed$")
	require.Equal(t, exitError, got.status)
	require.Contains(t, got.stdout, "/none returned 404 Not Found")
}

// Recordings are replayed against a server in this process, and against one with a kubeconfig,
// where the CustomResourceDefinitions are created and removed again.
func TestCompareRecordings(t *testing.T) {
	t.Parallel()
	cases := "^(get-rv--cm|list-paging--wd|update-noop--wd|create-basic--wd)$"
	got := runCommand(t, "compare", "--left", recorded, "--right", "self", "--controllers=false", "--run", cases)
	require.Equal(t, exitOK, got.status, got.stdout)
	require.Contains(t, got.stdout, "4 same, 0 different, 0 left only")

	srv := startFaultyServer(t, `lie: when verb(list) && resource(widgets.oracle.example.com) && query(limit) do remove(/metadata/remainingItemCount)`)
	got = runCommand(t, "compare", "--left", recorded, "--right", kubeconfigOf(t, srv), "--run", cases, "--namespace", "trial")
	require.Equal(t, exitError, got.status, got.stderr)
	require.Contains(t, got.stdout, "DIFFERENT  list-paging--wd ")
	require.Contains(t, got.stdout, "    body.metadata.remainingItemCount\n")
	require.Contains(t, got.stdout, " 1 different, 0 left only")
	require.True(t, hasRequest(srv, "GET /api/v1/namespaces/trial-"))
	require.True(t, hasRequest(srv, "DELETE "+definitions+"/widgets.oracle.example.com"))
	requireNothingLeft(t, srv)

	got = runCommand(t, "compare", "--left", recorded, "--right", kubeconfigOf(t, srv), "--run", "^list-expired--cm$")
	require.Equal(t, exitError, got.status)
	require.Contains(t, got.stdout, "LEFT ONLY  list-expired--cm ")
	require.Contains(t, got.stdout, "--right-compact")
}

func TestCompareLists(t *testing.T) {
	got := runCommand(t, "compare", "--list", "--run", "^PV-(16|20)$")
	require.Equal(t, exitOK, got.status)
	require.Regexp(t, `(?m)^PV-16 +MUST +PV-16 +an unknown group`, got.stdout)
	got = runCommand(t, "compare", "--list", "--left", recorded, "--run", "^get-rv")
	require.Equal(t, exitOK, got.status)
	require.Regexp(t, `(?m)^get-rv--cm +list +\d+ `, got.stdout)

	srv := fakeapi.Start(t)
	got = runCommand(t, "compare", "--dry-run", "--left", "self", "--right", kubeconfigOf(t, srv), "--run", "^GT-02/typed$")
	require.Equal(t, exitOK, got.status)
	require.Regexp(t, `(?m)^GT-02/typed +MUST +1 +1 +0 `, got.stdout)
	require.Contains(t, got.stdout, "Nothing was created on servers of this process and "+srv.URL()+".")
	require.Len(t, srv.Timeline().Exchanges, 1, "only the version is requested")
	got = runCommand(t, "compare", "--dry-run", "--left", recorded, "--right", kubeconfigOf(t, srv), "--run", "^list-paging--wd$")
	require.Equal(t, exitOK, got.status)
	require.Contains(t, got.stdout, "crd.yaml, which are created if")
	require.Contains(t, got.stdout, "  GET /apis/oracle.example.com/v1/namespaces/$ns/widgets?limit=")
	require.Len(t, srv.Timeline().Exchanges, 1)
}

// If the comparison cannot be made, the exit status is 2.
func TestCompareUsage(t *testing.T) {
	empty := t.TempDir()
	for _, test := range []struct{ args, want string }{
		{"", "compare: --left and --right are required; see fakeapi help compare"},
		{"--left self", "compare: --left and --right are required; see"},
		{"--list --dry-run", "compare: --list and --dry-run are mutually exclusive; see"},
		{"--list --report json", "compare: --report requires a run; see"},
		{"--left self --right self --run ^XX", "compare: --run and --level select no case; see"},
		{"--left self --right self --report junit", "it is none of json, markdown, with or without =FILE; see"},
		{"--left self --right self --left-context a", "compare: --left-context requires a kubeconfig; see"},
		{"--left self --right self --right-compact http://a", "compare: --right-compact requires a kubeconfig; see"},
		{"--left self --right self --namespace Upper --run ^GT-01", `invalid NamespacePrefix "Upper": `},
		{"--left self --right golden:x", "compare: only the left side can be recordings; see"},
		{"--left /none --right self", "fakeapi: --left /none: no such file or directory"},
		{"--left self --right /none", "fakeapi: --right /none: no such file or directory"},
		{"--left golden:/none --right self", "fakeapi: --left golden:/none: no such file or directory"},
		{"--left golden:compare_test.go --right self", "fakeapi: --left golden:compare_test.go: it is not a folder"},
		{"--left golden:" + empty + " --right self", "no *.json file found"},
		{"--left " + recorded + " --right self --run ^x$", "compare: --run selects no case; see"},
		{"--left " + recorded + " --right self --level MUST", "compare: --level and --patience apply to the suite only; see"},
		{"--left self --right self --run ^GT-01 --report json=/none/x", "fakeapi: --report json=/none/x: no such file or directory"},
	} {
		t.Run(test.args, func(t *testing.T) {
			got := runCommand(t, append([]string{"compare"}, strings.Fields(test.args)...)...)
			require.Equal(t, exitUsage, got.status, got.stderr)
			require.Empty(t, got.stdout)
			require.Contains(t, got.stderr, test.want)
			require.Equal(t, 1, strings.Count(got.stderr, "\n"))
		})
	}
}

// A signal ends the comparison on both sides, and everything is removed.
func TestCompareInterrupted(t *testing.T) {
	for name, side := range map[string]struct{ left, run, after, rule string }{
		"suite":      {"self", "^(GT|LS)-", "POST /api/v1/namespaces", longRun},
		"recordings": {recorded, "--wd$", "POST /apis/oracle.example.com", "long: when verb(get) && resource(widgets.oracle.example.com) && first(1) do hang"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := startFaultyServer(t, side.rule)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var stdout, stderr bytes.Buffer
			status := make(chan int, 1)
			args := []string{"compare", "--left", side.left, "--right", kubeconfigOf(t, srv), "--run", side.run}
			go func() { status <- run(ctx, args, &stdout, &stderr) }()
			require.Eventually(t, func() bool { return hasRequest(srv, side.after) }, time.Minute, time.Millisecond)
			cancel()
			require.Equal(t, exitUsage, <-status, stderr.String())
			require.Contains(t, stderr.String(), "interrupted at ")
			require.Contains(t, stderr.String(), "fakeapi: interrupted: the comparison is not complete")
			requireNothingLeft(t, srv)
			require.Equal(t, hasRequest(srv, "POST "+definitions), hasRequest(srv, "DELETE "+definitions))
		})
	}
}
