//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProcess builds the command and runs it as a process, with signals.
func TestProcess(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "fakeapi")
	// With -exec cp, "go run" copies the program instead of running it. Unlike "go build", it keeps
	// the linked program in the build cache.
	out, err := exec.CommandContext(t.Context(), "go", "run", "-exec", "cp", ".", binary).CombinedOutput()
	require.NoError(t, err, "%s", out)

	gizmos := manifest(t, "gizmos.yaml", gizmoManifest+"---"+crdManifest)
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) {
			temp := t.TempDir()
			command := exec.CommandContext(t.Context(), binary, "--load", gizmos)
			command.Env = append(os.Environ(), "TMPDIR="+temp)
			var stderr bytes.Buffer
			command.Stderr = &stderr
			stdout, err := command.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, command.Start())

			r := parseAnnouncement(t, announcement(t, stdout))
			require.Equal(t, temp, filepath.Dir(filepath.Dir(r.kubeconfig)))
			require.Equal(t, http.StatusOK, r.get(t, "/readyz", nil))
			require.Equal(t, http.StatusOK, r.get(t, "/apis/shop.example.com/v1/namespaces/default/gizmos/a", nil))
			watch, err := http.Get(r.url + "/api/v1/pods?watch=true")
			require.NoError(t, err)
			defer func() { _ = watch.Body.Close() }()

			require.NoError(t, command.Process.Signal(signal))
			require.NoError(t, command.Wait(), "exit status 0")
			require.Empty(t, stderr.String())
			requireEmptyDir(t, temp)
		})
	}

	t.Run("usage", func(t *testing.T) {
		err := exec.CommandContext(t.Context(), binary, "--nonsense").Run()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		require.Equal(t, exitUsage, exit.ExitCode())
	})

	t.Run("exec", func(t *testing.T) { execProcess(t, binary) })
	t.Run("serve --until-stdin-ends", func(t *testing.T) { endWithStdin(t, binary) })
	t.Run("run", func(t *testing.T) { runProcess(t, binary) })
	t.Run("run interrupted", func(t *testing.T) { interruptProcess(t, binary) })
	t.Run("conformance interrupted", func(t *testing.T) { interruptConformance(t, binary) })
	t.Run("serve --scenario", func(t *testing.T) { scenarioProcess(t, binary) })
	t.Run("reports to descriptors", func(t *testing.T) { reportToDescriptors(t, binary) })
	t.Run("limited files", func(t *testing.T) { limitFiles(t, binary) })
	t.Run("interrupted at a FIFO", func(t *testing.T) { interruptAtFIFO(t, binary) })
	t.Run("assets", func(t *testing.T) { assetsProcess(t, binary) })
	t.Run("bench", func(t *testing.T) { benchProcess(t, binary) })
	t.Run("documents", func(t *testing.T) { runDocumentedCommands(t, binary) })
}

// endWithStdin ends a server by the end of its stdin.
func endWithStdin(t *testing.T, binary string) {
	temp := t.TempDir()
	command := exec.CommandContext(t.Context(), binary, "serve", "--output=json", "--until-stdin-ends")
	command.Env = append(os.Environ(), "TMPDIR="+temp)
	stdin, err := command.StdinPipe()
	require.NoError(t, err)
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	require.NoError(t, err)
	var ready struct{ URL string }
	require.NoError(t, json.Unmarshal(line, &ready))
	response, err := http.Get(ready.URL + "/readyz")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.NoError(t, response.Body.Close())
	require.NoError(t, stdin.Close())
	require.NoError(t, command.Wait(), "exit status 0")
	requireEmptyDir(t, temp)
}

// runProcess runs scenarios from stdin that pass and fail.
func runProcess(t *testing.T, binary string) {
	for text, want := range map[string]result{
		"advance 100h\n": {exitOK, "ok    stdin\n", ""},
		"expect cm/a\n":  {exitError, "FAIL  stdin\n", "fakeapi: stdin:1: expect cm/a: expected cm/a; saw none\n"},
	} {
		var stdout, stderr bytes.Buffer
		command := exec.CommandContext(t.Context(), binary, "run", "-q", "-")
		command.Stdin, command.Stdout, command.Stderr = strings.NewReader(text), &stdout, &stderr
		_ = command.Run() // the exit status is checked below
		require.Equal(t, want, result{command.ProcessState.ExitCode(), stdout.String(), stderr.String()})
	}
}

// interruptProcess interrupts a scenario that takes long on virtual time as well.
func interruptProcess(t *testing.T, binary string) {
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), binary, "run", "long.txtar", "--client", "poller")
	command.Dir = writeScripts(t, map[string]string{"long.txtar": "run mirror\nadvance 1000000h\n"})
	command.Stderr = &stderr
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	head, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "=== long.txtar (mirror: poller)\n", head)
	require.NoError(t, command.Process.Signal(os.Interrupt))
	require.Error(t, command.Wait())
	require.Equal(t, exitError, command.ProcessState.ExitCode())
	require.Equal(t, "fakeapi: interrupted: long.txtar did not end\n", stderr.String())
}

// interruptConformance interrupts runs at different times at which there are objects to remove.
func interruptConformance(t *testing.T, binary string) {
	for _, moment := range []string{"GET /api/v1/namespaces/", "POST " + definitions, "DELETE /api/v1/namespaces/", "PATCH /api/v1/"} {
		srv := startFaultyServer(t, longRun)
		kubeconfig := kubeconfigOf(t, srv)
		report := filepath.Join(t.TempDir(), "report.json")
		var stdout, stderr bytes.Buffer
		command := exec.CommandContext(t.Context(), binary, "conformance", "--kubeconfig", kubeconfig, "--run", "^(GT|SA)-", "--report", "json="+report)
		command.Stdout, command.Stderr = &stdout, &stderr
		require.NoError(t, command.Start())
		require.Eventually(t, func() bool { return hasRequest(srv, moment) }, time.Minute, time.Millisecond, moment)
		require.NoError(t, command.Process.Signal(os.Interrupt))
		_ = command.Wait() // the exit status is checked below
		require.Equal(t, exitError, command.ProcessState.ExitCode())
		require.Contains(t, stderr.String(), "interrupted at ")
		require.True(t, strings.HasSuffix(stderr.String(), "fakeapi: interrupted: the run is not complete\n"), stderr.String())
		require.NotContains(t, stdout.String(), "LEFT")
		require.Contains(t, stdout.String(), "all    MUST")
		require.FileExists(t, report)
		requireNothingLeft(t, srv)
	}
}

// scenarioProcess sends requests with curl's user agent to a scenario in another process, and
// expects its output without delay.
func scenarioProcess(t *testing.T, binary string) {
	command := exec.CommandContext(t.Context(), binary, "serve", "--scenario", "case.txtar")
	command.Dir = writeScripts(t, map[string]string{"case.txtar": conversationScenario})
	var stderr bytes.Buffer
	command.Stderr = &stderr
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	lines := bufio.NewScanner(stdout)
	await := func(text string) (all string) {
		for !strings.HasSuffix(lines.Text(), text) {
			require.True(t, lines.Scan(), "before %q", text)
			all += lines.Text() + "\n"
		}
		return all
	}
	r := parseAnnouncement(t, await("ends it."))
	await(`a user agent that begins with "curl"`)
	require.Equal(t, http.StatusTooManyRequests, r.as(t, "curl/8.5.0", http.MethodPost, configMaps, made))
	await("client curl: POST " + configMaps + " 429 Retry-After 1")
	require.Equal(t, http.StatusCreated, r.as(t, "curl/8.5.0", http.MethodPost, configMaps, made))
	await("ok    case.txtar")
	require.False(t, lines.Scan(), lines.Text())
	require.NoError(t, command.Wait(), "exit status 0")
	require.Empty(t, stderr.String())
	require.NoDirExists(t, filepath.Dir(r.kubeconfig))
}
