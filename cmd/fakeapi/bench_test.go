package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/internal/cmd/load"
)

// quick has the flags of a run that takes about a second.
const quick = " --objects 40 --clients 4 --watchers 1,10 --duration 20ms"

// quickServe returns the arguments of a server on which the namespace of a run is deleted at once.
func quickServe() []string { return []string{"serve", "--namespace-deletion-delay", "1ms"} }

func TestBenchKubeconfig(t *testing.T) {
	for _, flags := range [][]string{nil, {"--token", "s3cret"}} {
		r := start(t, append(quickServe(), flags...)...)
		got := runCommand(t, strings.Fields("bench -q --json --kubeconfig "+r.kubeconfig+quick)...)
		require.Equal(t, exitOK, got.status, got.stderr)
		require.Empty(t, got.stderr)
		var report load.Report
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &report))
		require.Equal(t, r.url, strings.TrimSuffix(report.Server, "/"))
		require.Equal(t, 40, report.Objects)
		names := map[string]bool{}
		for _, f := range report.Figures {
			names[f.Name] = true
		}
		require.True(t, names["fan-out to 10"] && names["apply"] && names["watch list"], "%v", names)
		if runtime.GOOS == "linux" {
			require.Equal(t, "process_resident_memory_bytes of /metrics", report.MemorySource)
			require.NotEmpty(t, report.Memory)
			for _, m := range report.Memory {
				require.Greater(t, m.Bytes, uint64(10<<20), m.When)
			}
		}
		r.stop()
	}
}

func TestBenchURL(t *testing.T) {
	r := start(t, quickServe()...)
	got := runCommand(t, strings.Fields("bench --url "+r.url+quick)...)
	require.Equal(t, exitOK, got.status, got.stderr)
	require.Contains(t, got.stdout, "PER SECOND")
	require.Contains(t, got.stderr, "fan-out, watchers: 10\n")
	var namespaces corev1.NamespaceList
	r.get(t, "/api/v1/namespaces", &namespaces)
	for _, n := range namespaces.Items {
		require.NotContains(t, n.Name, "bench")
	}
}

func TestBenchSelf(t *testing.T) {
	got := runCommand(t, strings.Fields("bench -q --self"+quick)...)
	require.Equal(t, exitOK, got.status, got.stderr)
	require.Regexp(t, `(?m)^start, the first +1 +1 +0 `, got.stdout)
	require.Regexp(t, `(?m)^start +1 +19 +0 `, got.stdout)
	require.Contains(t, got.stdout, "memory (live heap of this process")
	require.Regexp(t, `(?m)^  with the objects +[\d.]+ MiB$`, got.stdout)
}

// Failed requests are reported, and the exit status is not 0.
func TestBenchFailures(t *testing.T) {
	rules := t.TempDir() + "/rules"
	require.NoError(t, os.WriteFile(rules, []byte("when verb(update) do status(500)\n"), 0o600))
	r := start(t, append(quickServe(), "--faults", rules)...)
	got := runCommand(t, strings.Fields("bench -q --url "+r.url+quick)...)
	require.Equal(t, exitError, got.status)
	require.Regexp(t, `^fakeapi: \d+ requests failed, the first: PUT .* 500 `, got.stderr)
	require.Contains(t, got.stdout, "PER SECOND")
}

func TestBenchUsage(t *testing.T) {
	for args, want := range map[string]string{
		"":                            "name the server by one of --kubeconfig, --url and --self",
		"--self --url http://x":       "name the server by one of --kubeconfig, --url and --self",
		"--self --context x":          "--context requires --kubeconfig",
		"--self --clients 0":          "0 clients: must be 1 to 256",
		"--self --objects 3":          "3 objects: must be 16 (the number of clients) to 100000",
		"--self --watchers 1,many":    `invalid value "1,many" for flag -watchers: "many" is not a number`,
		"--self --duration 24h":       "duration 24h0m0s: must be positive and at most 10m0s",
		"--self more":                 `unexpected argument "more"`,
		"--self --watchers 1,1000000": "1000000 watchers: must be 1 to 10000",
	} {
		got := runCommand(t, strings.Fields("bench "+args)...)
		require.Equal(t, result{exitUsage, "", "fakeapi: bench: " + want + "; see fakeapi help bench\n"}, got, args)
	}
	got := runCommand(t, "bench", "--kubeconfig", "/nonexistent")
	require.Equal(t, exitError, got.status)
	require.Contains(t, got.stderr, "/nonexistent")
}

// benchProcess runs bench against a server in another process: once for about a second, and once
// for long until it is interrupted.
func benchProcess(t *testing.T, binary string) {
	r := start(t, quickServe()...)
	namespaces := func() (all corev1.NamespaceList) {
		r.get(t, "/api/v1/namespaces", &all)
		return all
	}
	out, err := exec.CommandContext(t.Context(), binary, strings.Fields("bench -q --kubeconfig "+r.kubeconfig+quick)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Regexp(t, `(?m)^get +4 +\d+ +0 `, string(out))

	command := exec.CommandContext(t.Context(), binary, strings.Fields("bench --duration 10m --kubeconfig "+r.kubeconfig)...)
	var stdout bytes.Buffer
	command.Stdout = &stdout
	stderr, err := command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	progressText := make([]byte, 4096)
	for seen := ""; !strings.Contains(seen, "get, clients: 1\n"); {
		n, err := stderr.Read(progressText)
		require.NoError(t, err, seen)
		seen += string(progressText[:n])
	}
	require.Len(t, namespaces().Items, 5, "the run has created its namespace")
	require.NoError(t, command.Process.Signal(os.Interrupt))
	require.Error(t, command.Wait())
	require.Equal(t, exitError, command.ProcessState.ExitCode())
	require.Contains(t, stdout.String(), "create")
	require.Len(t, namespaces().Items, 4, "the run has removed its namespace")
}
