package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// runningScenario is a running serve --scenario, with its output.
type runningScenario struct {
	running
	*outputBuffer
	cancel context.CancelFunc
	status chan int
	stderr *bytes.Buffer
}

// outputBuffer is an output that a test can wait for. It is safe for concurrent use.
type outputBuffer struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{}
}

func (s *outputBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return s.text.Write(p)
}

func (s *outputBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// waitFor waits until text was printed.
func (s *outputBuffer) waitFor(t *testing.T, text string) {
	t.Helper()
	for !strings.Contains(s.String(), text) {
		select {
		case <-s.more:
		case <-t.Context().Done():
			t.Fatalf("%q was not printed; output:\n%s", text, s)
		}
	}
}

// playScenario starts serve with a scenario and waits for the announcement.
func playScenario(t *testing.T, text string, args ...string) runningScenario {
	t.Helper()
	scripts(t, map[string]string{"case.txtar": text})
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	p := runningScenario{outputBuffer: &outputBuffer{more: make(chan struct{}, 1)}, cancel: cancel, status: make(chan int, 1), stderr: new(bytes.Buffer)}
	go func() {
		p.status <- run(ctx, append([]string{"serve", "--scenario", "case.txtar"}, args...), p.outputBuffer, p.stderr)
	}()
	p.waitFor(t, "ends it.\n")
	head, _, _ := strings.Cut(p.String(), "ends it.\n")
	p.running = parseAnnouncement(t, head+"ends it.\n")
	return p
}

// as sends a request with a user agent and returns the status code.
func (r running) as(t *testing.T, agent, method, path, body string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("User-Agent", agent)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	_, err = io.Copy(io.Discard, answer.Body)
	require.NoError(t, err)
	return answer.StatusCode
}

const (
	conversationScenario = `fault busy: when userAgent(curl) && verb(create) && first(1) do status(429, retryAfter(1s))
run curl
eventually 1m expect configmap/made
eventually 1m expect requests curl "POST" 2
`
	made       = `{"metadata":{"name":"made"}}`
	configMaps = "/api/v1/namespaces/default/configmaps"
)

// A client that is not written in Go plays a role over the network.
func TestServeScenario(t *testing.T) {
	p := playScenario(t, conversationScenario)
	p.waitFor(t, `waiting for a request of client curl: a user agent that begins with "curl"`+"\n")
	require.Equal(t, http.StatusTooManyRequests, p.as(t, "curl/8.5.0", http.MethodPost, configMaps, made))
	p.waitFor(t, "client curl: POST "+configMaps+" 429 Retry-After 1\n")
	require.Equal(t, http.StatusCreated, p.as(t, "curl/8.5.0", http.MethodPost, configMaps, made))
	require.Equal(t, exitOK, <-p.status)
	require.Empty(t, p.stderr.String())
	require.Contains(t, p.String(), "=== case.txtar\nseed 0\n")
	require.Contains(t, p.String(), "fault busy: before create configmaps in default: status(429, retryAfter(1s))\n")
	require.True(t, strings.HasSuffix(p.String(), "ok    case.txtar\n"), p.String())
	_, err := http.Get(p.url)
	require.Error(t, err, "the server has ended")
}

// A failed scenario sets the exit status, even if the server keeps serving afterwards.
func TestServeScenarioFails(t *testing.T) {
	p := playScenario(t, "run curl\nexpect cm/a\n", "--stay")
	require.Equal(t, http.StatusOK, p.as(t, "curl/8.5.0", http.MethodGet, "/version", ""))
	p.waitFor(t, "FAIL  case.txtar\n")
	require.Equal(t, http.StatusOK, p.as(t, "kubectl", http.MethodGet, configMaps, ""))
	p.cancel()
	require.Equal(t, exitError, <-p.status)
	require.Equal(t, "fakeapi: case.txtar:2: expect cm/a: expected cm/a; saw none\n", p.stderr.String())
}

func TestServeScenarioInterrupted(t *testing.T) {
	p := playScenario(t, conversationScenario)
	p.waitFor(t, "waiting for")
	require.Equal(t, http.StatusOK, p.as(t, "wget", http.MethodGet, "/version", ""))
	p.waitFor(t, `unexpected request from "wget"`)
	p.cancel()
	require.Equal(t, exitError, <-p.status)
	require.Equal(t, `fakeapi: interrupted: case.txtar:2: run curl: context canceled; `+
		`expected a request of client curl: a user agent that begins with "curl"; saw none; other user agents: wget`+"\n", p.stderr.String())
}

func TestServeScenarioRefused(t *testing.T) {
	scripts(t, map[string]string{"text.txtar": "fly\n", "own.txtar": "run fake\n"})
	requireFailure(t, "fakeapi: --scenario none.txtar: no such file or directory", "--scenario", "none.txtar")
	requireFailure(t, "fakeapi: own.txtar: a client cannot be named fake: the user agent of the command's own requests begins with it", "--scenario", "own.txtar")
	got := runCommand(t, "serve", "--scenario", "text.txtar")
	require.Equal(t, exitError, got.status)
	require.Regexp(t, "^fakeapi: text.txtar:1: expected a step ", got.stderr)
	require.Equal(t, result{status: exitUsage, stderr: "fakeapi: serve: --stay requires --scenario; see fakeapi help serve\n"}, runCommand(t, "serve", "--stay"))
}
