//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/cmd/stress"
	"example.com/fakeapi/internal/printable"
)

// script returns the path of a shell script.
func script(t *testing.T, text string) string {
	t.Helper()
	path := manifest(t, "script", "#!/bin/sh\n"+text+"\n")
	require.NoError(t, os.Chmod(path, 0o700))
	return path
}

// The command runs without faults, and then with each set. A failure is printed with the command
// that repeats it.
func TestStress(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("FAKEAPI_FAULTS", "when x do hang")
	log := filepath.Join(t.TempDir(), "log")
	command := script(t, `echo "$FAKEAPI_SEED $FAKEAPI_WATCH_CACHE_DELAY $(basename $FAKEAPI_ARTIFACTS) $(cat $FAKEAPI_FAULTS /dev/null | grep -c 'do status(409)')" >> `+printable.ShellWord(log)+`
		test -x $KUBEBUILDER_ASSETS/kube-apiserver || exit 5
		case $FAKEAPI_ARTIFACTS in */conflicts) touch $FAKEAPI_ARTIFACTS/page.html; echo reason; exit 3;; esac`)
	report := filepath.Join(t.TempDir(), "report.json")
	got := runCommand(t, "stress", "--only", "conflicts,stale", "--seed", "7", "-q", "--report", "text", "--report", "json="+report, "--", command)
	require.Equal(t, exitError, got.status, got.stderr)
	lines, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, "7  none 0\n7  conflicts 3\n7 300ms stale 0\n", string(lines))
	folder := filepath.Join(filepath.Dir(filepath.Dir(strings.TrimSpace(strings.Split(got.stdout, "timeline: ")[1]))), "conflicts")
	require.Equal(t, "PACKAGE"+strings.Repeat(" ", len(command)-5)+"NONE  CONFLICTS  STALE\n"+command+"  ok    FAIL       ok\n\nconflicts: "+command+": failed\n"+
		"    | reason\n    | exit status 3\n    repeat: KUBEBUILDER_ASSETS="+assetsOf(t)+" FAKEAPI_FAULTS="+folder+"/rules FAKEAPI_SEED=7 FAKEAPI_ARTIFACTS="+folder+" "+command+
		"\n    timeline: "+folder+"/page.html\n", got.stdout)
	content, err := os.ReadFile(report)
	require.NoError(t, err)
	var result stress.Report
	require.NoError(t, json.Unmarshal(content, &result))
	require.Len(t, result.Runs, 3)
	require.Len(t, result.Failures(), 1)
}

// assetsOf returns the folder of KUBEBUILDER_ASSETS.
func assetsOf(t *testing.T) string {
	t.Helper()
	executable, err := currentExecutable()
	require.NoError(t, err)
	folder, err := assetsFolder(executable, nil)
	require.NoError(t, err)
	return printable.ShellWord(folder)
}

// A command that passes leaves nothing. One that fails without faults is not run with faults.
func TestStressEnds(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	got := runCommand(t, "stress", "--only", "stale", "--", "true")
	require.Equal(t, exitOK, got.status, got.stderr)
	require.Equal(t, "PACKAGE  NONE  STALE\ntrue     ok    ok\n", got.stdout)
	require.Regexp(t, `=== stale\n    1 of 1 ok in \d+s\n`, got.stderr)
	requireEmptyDir(t, os.Getenv("TMPDIR"))

	got = runCommand(t, "stress", "--artifacts", t.TempDir(), "false")
	require.Equal(t, exitError, got.status)
	require.Contains(t, got.stdout, "PACKAGE  NONE\nfalse    FAIL\n\nFails without faults, so that nothing follows from the runs with faults: false\n    | exit status 1\n")
	require.Contains(t, got.stderr, "nothing passes without faults\n")

	require.Equal(t, result{127, "", "fakeapi: no-such-command: command not found\n"}, runCommand(t, "stress", "-q", "--artifacts", t.TempDir(), "no-such-command"))
}

func TestStressUsage(t *testing.T) {
	for args, want := range map[string]string{
		"":                           "a COMMAND is required",
		"--only other -- true":       `--only: "other" is none of watch-cuts, `,
		"--only stale --all -- true": "--only and --all cannot be combined",
		"--list true":                "--list takes no COMMAND",
		"--report xml true":          "it is none of text, json",
	} {
		got := runCommand(t, append([]string{"stress"}, strings.Fields(args)...)...)
		require.Equal(t, exitUsage, got.status, got.stderr)
		require.Contains(t, got.stderr, want)
	}
	got := runCommand(t, "stress", "--list", "--user-agent", "manager/v1")
	require.Zero(t, got.status)
	for _, s := range stress.Sets(stress.Options{}) {
		require.Contains(t, got.stdout, s.Name)
	}
	require.Contains(t, got.stdout, "    FAKEAPI_WATCH_CACHE_DELAY=300ms\n")
	require.Contains(t, got.stdout, `userAgent("manager/v1")`)
}
