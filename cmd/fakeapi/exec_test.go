//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// TestMain lets the test binary be the supervisor of the commands that exec, stress and perturb
// run, and the controller of TestPerturb.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == controllerName {
		runTestController()
	}
	if len(os.Args) > 1 && slices.Contains([]string{superviseName, "perturb"}, os.Args[1]) {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// The command has the server's kubeconfig and URLs. Its status is that of exec, and after it
// nothing is left.
func TestExec(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	got := runCommand(t, "exec", "--load", manifest(t, "a.yaml", namespaceManifest), "--", "sh", "-c", `cat "$KUBECONFIG"; echo "$FAKEAPI_URL $FAKEAPI_CONTROL $1"`, "zero", "a b")
	require.Zero(t, got.status, got.stderr)
	require.Empty(t, got.stderr)
	url := regexp.MustCompile(`(?m)^    server: (http://127\.0\.0\.1:\d+)$`).FindStringSubmatch(got.stdout)
	require.NotNil(t, url, got.stdout)
	require.Regexp(t, `(?m)^`+url[1]+` http://127\.0\.0\.1:\d+/fakeapi/v1 a b$`, got.stdout)
	_, err := http.Get(url[1])
	require.Error(t, err, "the server has ended")
	requireEmptyDir(t, os.Getenv("TMPDIR"))
}

// A command that fails leaves the page of the timeline; one that does not start does not.
func TestExecFails(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	got := runCommand(t, "exec", "sh", "-c", "exit 3")
	require.Equal(t, 3, got.status)
	page := regexp.MustCompile(`^fakeapi: the timeline of http://127\.0\.0\.1:\d+: (.*\.html)\n$`).FindStringSubmatch(got.stderr)
	require.NotNil(t, page, got.stderr)
	require.Equal(t, os.Getenv("TMPDIR"), filepath.Dir(page[1]))
	require.NoError(t, os.Remove(page[1]))

	require.Equal(t, 143, runCommand(t, "exec", "--timeline=false", "sh", "-c", "kill -TERM $$").status)
	require.Equal(t, result{127, "", "fakeapi: no-such-command: command not found\n"}, runCommand(t, "exec", "--", "no-such-command"))
	require.Equal(t, result{126, "", "fakeapi: /: is a directory\n"}, runCommand(t, "exec", "/"))
	require.Equal(t, result{125, "", "fakeapi: address \"0.0.0.0:0\" is not a loopback address\n"}, runCommand(t, "exec", "--address", "0.0.0.0:0", "true"))
	require.Equal(t, result{2, "", "fakeapi: exec: a COMMAND is required; see fakeapi help exec\n"}, runCommand(t, "exec", "--tls"))
	require.Equal(t, result{2, "", "fakeapi: exec: unknown flag --tsl (did you mean --tls?); see fakeapi help exec\n"}, runCommand(t, "exec", "--tsl", "true"))
	requireEmptyDir(t, os.Getenv("TMPDIR"))
}

// The environment variables apply to the server, as flags do.
func TestExecEnvironment(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("FAKEAPI_FAULTS", "busy: when verb(list) do status(429)")
	t.Setenv("FAKEAPI_ARTIFACTS", dir+"/pages")
	t.Setenv("FAKEAPI_ACCESS_REPORT", dir+"/access.yaml")
	t.Setenv("FAKEAPI_CONTROL", dir+"/control")
	get := func(path string) result {
		return runCommand(t, "exec", "--authorization-mode", "RBAC", "--ca-file", dir+"/ca.pem", "--", os.Args[0], "-test.run", "^TestGetControl$", path)
	}
	got := get("/faults")
	require.Zero(t, got.status, got.stderr)
	require.Contains(t, got.stdout, "busy: when verb(list) do status(429)\n")
	require.FileExists(t, dir+"/ca.pem")
	require.FileExists(t, dir+"/access.yaml")
	control, err := os.ReadFile(dir + "/control")
	require.NoError(t, err)
	require.Contains(t, got.stdout, strings.TrimSpace(string(control)))
	pages, err := filepath.Glob(dir + "/pages/*.html")
	require.NoError(t, err)
	require.Len(t, pages, 1)

	t.Setenv("FAKEAPI_FAULTS", "when x do hang")
	for _, command := range []string{"exec", "serve"} {
		got = runCommand(t, command, "--kubeconfig", dir+"/config", "true")
		if command == "serve" {
			got = runCommand(t, command, "--kubeconfig", dir+"/config")
		}
		require.NotZero(t, got.status)
		require.Contains(t, got.stderr, `fakeapi: FAKEAPI_FAULTS: fault rule, line 1, column 6: unknown predicate "x"`)
	}
	require.NoFileExists(t, dir+"/config")
}

// The audit log is that of the policy, and is appended to.
func TestExecAuditLog(t *testing.T) {
	policy := manifest(t, "policy.yaml", "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n")
	log := filepath.Join(t.TempDir(), "audit.log")
	for count := range 2 {
		got := runCommand(t, "exec", "--audit-policy-file", policy, "--audit-log-path", log, "--", os.Args[0], "-test.run", "^TestGetNamespaces$")
		require.Zero(t, got.status, got.stderr)
		content, err := os.ReadFile(log)
		require.NoError(t, err)
		require.Equal(t, count+1, strings.Count(string(content), `"stage":"ResponseComplete"`), "%s", content)
	}
	require.Contains(t, runCommand(t, "exec", "--audit-log-path", log, "true").stderr, "--audit-policy-file and --audit-log-path require each other")
	require.Contains(t, runCommand(t, "exec", "--audit-policy-file", log+"x", "--audit-log-path", log, "true").stderr, "x: no such file or directory")
	require.Contains(t, runCommand(t, "exec", "--audit-policy-file", manifest(t, "x.yaml", "kind: Pod"), "--audit-log-path", log, "true").stderr, "--audit-policy-file ")
	require.Contains(t, runCommand(t, "serve", "--audit-policy-file", policy, "--audit-log-path", log+"/x").stderr, "/x: not a directory")
}

// TestGetNamespaces is the command of TestExecAuditLog.
func TestGetNamespaces(t *testing.T) {
	if url := os.Getenv("FAKEAPI_URL"); url != "" {
		response, err := http.Get(url + "/api/v1/namespaces")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
}

// TestGetControl is the command of TestExecEnvironment: it requests a path of the control API.
func TestGetControl(t *testing.T) {
	control := os.Getenv("FAKEAPI_CONTROL")
	if !strings.HasPrefix(control, "http://") {
		return
	}
	response, err := http.Get(control + "/faults")
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(os.Stdout, response.Body)
	require.NoError(t, err)
	_, _ = os.Stdout.WriteString(control + "\n")
}

// execution is a process of exec whose command runs.
type execution struct {
	*exec.Cmd
	temp       string
	url        string
	kubeconfig string
	ids        []int // of the command and of a process that it started
	stderr     bytes.Buffer
}

func startExecution(t *testing.T, binary string) *execution {
	t.Helper()
	e := &execution{temp: t.TempDir()}
	e.Cmd = exec.CommandContext(t.Context(), binary, "exec", "--", "sh", "-c",
		`sleep 1000 >/dev/null 2>&1 & trap 'kill $!; exit 9' TERM INT; echo "$FAKEAPI_URL $KUBECONFIG $$ $!"; wait; wait`)
	e.Env = append(os.Environ(), "TMPDIR="+e.temp)
	e.Cmd.Stderr = &e.stderr
	stdout, err := e.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, e.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	words := strings.Fields(line)
	e.url, e.kubeconfig = words[0], words[1]
	for _, word := range words[2:] {
		id, err := strconv.Atoi(word)
		require.NoError(t, err)
		e.ids = append(e.ids, id)
	}
	config, err := clientcmd.BuildConfigFromFlags("", e.kubeconfig)
	require.NoError(t, err)
	_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	return e
}

// requireGone waits until no process and no kubeconfig is left.
func (e *execution) requireGone(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, id := range e.ids {
			if syscall.Kill(id, 0) == nil && !isZombie(id) {
				return false
			}
		}
		_, err := os.Stat(e.kubeconfig)
		return os.IsNotExist(err)
	}, time.Minute, time.Millisecond)
	_, err := http.Get(e.url)
	require.Error(t, err, "the server has ended")
}

// isZombie reports whether a process has ended and waits for its parent.
func isZombie(id int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(id) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// execProcess ends exec and its command in different ways.
func execProcess(t *testing.T, binary string) {
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		e := startExecution(t, binary)
		require.NoError(t, e.Process.Signal(signal))
		_ = e.Wait() // the exit status is checked
		require.Equal(t, 9, e.ProcessState.ExitCode())
		require.Contains(t, e.stderr.String(), "the timeline of "+e.url)
		e.requireGone(t)
	}
	e := startExecution(t, binary)
	require.NoError(t, syscall.Kill(e.ids[0], syscall.SIGKILL))
	_ = e.Wait() // the exit status is checked
	require.Equal(t, 137, e.ProcessState.ExitCode())
	require.NoError(t, syscall.Kill(e.ids[1], syscall.SIGKILL), "what a command leaves when it ends is its own")
	e.requireGone(t)

	e = startExecution(t, binary)
	require.NoError(t, e.Process.Kill())
	_ = e.Wait() // it was killed
	e.requireGone(t)
}

// With --output json serve prints one line when it is ready.
func TestServeReadyLine(t *testing.T) {
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "config")
	read, write := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, []string{"serve", "--output", "json", "--port", "0", "--kubeconfig", kubeconfig, "--ca-file", dir + "/ca.pem",
			"--token", "s3cret", "--control-address", "127.0.0.1:0"}, write, io.Discard)
		_ = write.Close()
	}()
	lines := bufio.NewScanner(read)
	require.True(t, lines.Scan())
	var ready struct{ URL, Kubeconfig, CA, Token, ControlURL, Version string }
	require.NoError(t, json.Unmarshal(lines.Bytes(), &ready))
	require.Equal(t, kubeconfig, ready.Kubeconfig)
	require.Equal(t, "s3cret", ready.Token)
	require.Regexp(t, `^v1\.37\.`, ready.Version)
	ca, err := os.ReadFile(dir + "/ca.pem")
	require.NoError(t, err)
	require.Equal(t, string(ca), ready.CA)
	config, err := clientcmd.LoadFromFile(kubeconfig)
	require.NoError(t, err)
	require.Equal(t, ready.URL, config.Clusters[serverConfigName].Server)
	require.Equal(t, ca, config.Clusters[serverConfigName].CertificateAuthorityData)
	response, err := http.Get(ready.ControlURL + "/hits")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	cancel()
	require.False(t, lines.Scan(), lines.Text())
	require.Equal(t, exitOK, <-status)

	// The kubeconfig is removed before anything fails.
	require.FileExists(t, kubeconfig)
	require.Equal(t, exitError, runCommand(t, "serve", "--kubeconfig", kubeconfig, "--load", dir+"/missing").status)
	require.NoFileExists(t, kubeconfig)
	for _, test := range []struct{ args, want string }{
		{"--output yaml", "--output yaml is none of text, json"},
		{"--output json --scenario x", "--output json cannot be used with --scenario"},
		{"--port 70000", `"70000" is not a port`},
	} {
		got := runCommand(t, append([]string{"serve"}, strings.Fields(test.args)...)...)
		require.Equal(t, exitUsage, got.status)
		require.Contains(t, got.stderr, test.want)
	}
	require.Contains(t, runCommand(t, "serve", "--ca-file", dir+"/missing/ca.pem").stderr, "--ca-file "+dir+"/missing/ca.pem: no such file or directory")
}
