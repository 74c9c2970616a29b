package scenario

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
)

// lineBuffer is a writer that a test can wait for.
type lineBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func newLineBuffer() *lineBuffer { return &lineBuffer{more: make(chan struct{}, 1)} }

func (l *lineBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return l.text.Write(p)
}

func (l *lineBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// waitFor waits until text was written.
func (l *lineBuffer) waitFor(t *testing.T, text string) {
	t.Helper()
	for !strings.Contains(l.String(), text) {
		select {
		case <-l.more:
		case <-t.Context().Done():
			t.Fatalf("%q did not come, only:\n%s", text, l)
		}
	}
}

// request sends one request with a user agent.
func request(t *testing.T, server *fakeapi.Server, agent, method, path, body string) (code int, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, server.URL()+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("User-Agent", agent)
	r.Header.Set("Content-Type", "application/json")
	answer, err := server.Client().Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

// playResult is the result of Play.
type playResult struct {
	log *Transcript
	err error
}

// startLiveRun starts playing a text in real time.
func startLiveRun(t *testing.T, ctx context.Context, config Config, text string) (s *LiveRun, out *lineBuffer, results <-chan playResult) {
	t.Helper()
	s, err := NewLiveRun("it.txtar", text, config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	out = newLineBuffer()
	done := make(chan playResult, 1)
	go func() {
		log, err := s.Play(ctx, out)
		done <- playResult{log, err}
	}()
	return s, out, done
}

const configMaps = "/api/v1/namespaces/default/configmaps"

// Requests of an external client are delayed until its step, match the rules for the client, and
// are in the transcript.
func TestLiveRun(t *testing.T) {
	s, out, ended := startLiveRun(t, t.Context(), Config{}, `
watch here cm
fault busy: when userAgent(mine) && verb(create) && first(1) do status(429, retryAfter(1s))
fault lost: when during(committed) && userAgent(mine) && verb(create) && first(1) do reset
run mine
eventually 1m expect requests mine "POST" 3
expect cm/made
expect events here ADDED made
expect requests mine "429 Retry-After 1" 1
expect requests mine "POST /api/v1/namespaces/default/configmaps no answer" 1
expect hits busy 1
`)
	require.Equal(t, []string{"mine"}, s.ExternalClients())
	out.waitFor(t, `waiting for a request of client mine: a user agent that begins with "mine"`)
	_, err := request(t, s.Server(), "other/1", http.MethodGet, configMaps, "")
	require.NoError(t, err)
	out.waitFor(t, `unexpected request from "other/1"`)

	const made = `{"metadata":{"name":"made"}}`
	code, err := request(t, s.Server(), "mine/1.0 (any)", http.MethodPost, configMaps, made)
	require.NoError(t, err)
	require.Equal(t, http.StatusTooManyRequests, code)
	_, err = request(t, s.Server(), "mine/1.0 (any)", http.MethodPost, configMaps, made)
	require.Error(t, err, "the reply is lost")
	code, err = request(t, s.Server(), "mine/1.0 (any)", http.MethodPost, configMaps, made)
	require.NoError(t, err)
	require.Equal(t, http.StatusConflict, code)

	end := <-ended
	require.NoError(t, end.err)
	requests := "client mine\n" +
		"           POST /api/v1/namespaces/default/configmaps 429 Retry-After 1\n" +
		"           POST /api/v1/namespaces/default/configmaps no answer\n" +
		"           POST /api/v1/namespaces/default/configmaps 409\n"
	require.Contains(t, end.log.String(), requests)
	for _, line := range strings.Split(strings.TrimSpace(end.log.String()), "\n") {
		require.Contains(t, out.String(), strings.TrimSpace(line), "what was told while it happened")
	}
	require.NotContains(t, end.log.String(), "waiting for")
}

// An external client whose requests arrive before its step sees the result of the steps before.
func TestLiveRunHoldsExternalClients(t *testing.T) {
	s, out, ended := startLiveRun(t, t.Context(), Config{}, "run first\napply a\nrun second\neventually 1m expect requests second 200 1\n"+object)
	out.waitFor(t, "waiting for a request of client first")
	got := make(chan int, 1)
	go func() {
		code, _ := request(t, s.Server(), "second", http.MethodGet, configMaps+"/a", "")
		got <- code
	}()
	<-s.traffic.clients[0].firstRequest // the longest name
	_, err := request(t, s.Server(), "first", http.MethodGet, "/version", "")
	require.NoError(t, err)
	require.NoError(t, (<-ended).err)
	require.Equal(t, http.StatusOK, <-got, "not 404")
}

// Errors end a live run.
func TestLiveRunFails(t *testing.T) {
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s, out, ended := startLiveRun(t, ctx, Config{}, "run mine\n")
		out.waitFor(t, "waiting for")
		_, err := request(t, s.Server(), "other", http.MethodGet, "/version", "")
		require.NoError(t, err)
		cancel()
		err = (<-ended).err
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, `it.txtar:1: run mine`)
		require.ErrorContains(t, err, `saw none; other user agents: other`)
	})
	for _, step := range []string{"stop mine", "switch mine main"} {
		t.Run(step, func(t *testing.T) {
			s, out, ended := startLiveRun(t, t.Context(), Config{}, "run mine\n"+step+"\n")
			out.waitFor(t, "waiting for")
			_, err := request(t, s.Server(), "mine", http.MethodGet, "/version", "")
			require.NoError(t, err)
			require.ErrorContains(t, (<-ended).err, "client mine is external and cannot be controlled by steps")
		})
	}
	t.Run("run twice", func(t *testing.T) {
		s, out, ended := startLiveRun(t, t.Context(), Config{}, "run mine\nrun mine\n")
		out.waitFor(t, "waiting for")
		_, err := request(t, s.Server(), "mine", http.MethodGet, "/version", "")
		require.NoError(t, err)
		require.ErrorContains(t, (<-ended).err, `external client "mine" is already running`)
	})
	for text, want := range map[string]string{
		"replica b\nrun mine --on b\n":   "can only be run on the first server",
		"replica b\non b run mine\n":     "cannot be run inside of another step",
		"run mine --restart-after 10s\n": "is not started by steps",
		"run mine --of two\n":            "is not started by steps",
		"run mine --user ann\n":          "has its own credentials",
		"run mine --as ann\n":            "has its own credentials",
		"run mine --user ann --as bob\n": "has its own credentials",
		"eventually 1s run mine\n":       "cannot be run inside of another step",
	} {
		t.Run(text, func(t *testing.T) {
			_, _, ended := startLiveRun(t, t.Context(), Config{}, text)
			require.ErrorContains(t, (<-ended).err, `external client "mine" `+want)
		})
	}
	t.Run("expect done", func(t *testing.T) {
		s, out, ended := startLiveRun(t, t.Context(), Config{}, "run mine\nexpect done mine\n")
		out.waitFor(t, "waiting for")
		_, err := request(t, s.Server(), "mine", http.MethodGet, "/version", "")
		require.NoError(t, err)
		require.ErrorContains(t, (<-ended).err, "saw it is external, and its return is not known")
	})
	t.Run("failing step", func(t *testing.T) {
		_, _, ended := startLiveRun(t, t.Context(), Config{}, "compact\nexpect cm/a\n")
		var failure *Failure
		require.ErrorAs(t, (<-ended).err, &failure)
		require.Equal(t, "it.txtar:2: expect cm/a: expected cm/a; saw none", failure.Brief())
	})
	t.Run("syntax error", func(t *testing.T) {
		_, err := NewLiveRun("it.txtar", "fly\n", Config{})
		require.ErrorAs(t, err, new(*SyntaxError))
	})
	t.Run("invalid client name", func(t *testing.T) {
		_, err := NewLiveRun("it.txtar", "run scen\n", Config{})
		require.ErrorContains(t, err, "it.txtar: an external client cannot be called scen")
	})
	t.Run("server error", func(t *testing.T) {
		run, err := NewLiveRun("it.txtar", "", Config{Options: []fakeapi.Option{fakeapi.WithAddress("nowhere")}})
		require.ErrorContains(t, err, `address "nowhere"`)
		require.Nil(t, run)
	})
}

// Clients of this process also run in real time. They can be moved, and return.
func TestLiveRunLocalClients(t *testing.T) {
	once := func(ctx context.Context, config *rest.Config) error {
		maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
		_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "made"}}, metav1.CreateOptions{})
		return err
	}
	for name, options := range map[string][]fakeapi.Option{"socket": nil, "memory": {fakeapi.WithInMemoryNetwork()}} {
		t.Run(name, func(t *testing.T) {
			s, out, ended := startLiveRun(t, t.Context(), Config{Clients: map[string]Client{"mine": once}, Options: options}, `
run mine
eventually 1m expect done mine
expect cm/made
delete cm/made
replica second
run mine --on second
eventually 1m expect requests mine 201 2
expect cm/made
`)
			require.Empty(t, s.ExternalClients())
			require.NoError(t, (<-ended).err)
			require.Contains(t, out.String(), "client mine: POST /api/v1/namespaces/default/configmaps 201\n")
			require.Contains(t, out.String(), "client mine: POST /api/v1/namespaces/default/configmaps 201 on second\n")
		})
	}
}
