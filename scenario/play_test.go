package scenario

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
)

// panicStep is a step that panics.
type panicStep struct{}

func (panicStep) Run(context.Context, *Env) error { panic("of a step") }
func (panicStep) String() string                  { return "panics" }

// playSteps plays steps without a text.
func playSteps(t *testing.T, config Config, steps ...Step) (*Transcript, error) {
	t.Helper()
	return playInBubble(config, newScript(steps))
}

// Failures without a test are returned as errors and do not end the process.
func TestPlayFails(t *testing.T) {
	forever := func(context.Context, *rest.Config) error { <-make(chan int); return nil }
	leaves := func(context.Context, *rest.Config) error {
		go func() { <-make(chan int) }()
		return nil
	}
	for name, test := range map[string]struct {
		config Config
		steps  []Step
		want   []string
	}{
		"a step": {steps: []Step{Compact(), Expect(Ref{Kind: "cm", Name: "a"})},
			want: []string{"step 2: expect cm/a\n    expected cm/a; saw none\ntranscript so far:\n    seed 0\n"}},
		"a panic of a step":        {steps: []Step{panicStep{}}, want: []string{"step 1: panics\n", "the step panicked: of a step\n", "play_test.go:"}},
		"a step that calls Goexit": {steps: []Step{goexitStep{}}, want: []string{"called runtime.Goexit"}},
		"no server": {config: Config{Options: []fakeapi.Option{fakeapi.WithAddress("nowhere")}},
			want: []string{`address "nowhere"`}},
		"a client that does not return": {config: Config{Clients: map[string]Client{"mine": forever}}, steps: []Step{RunClient("mine")},
			want: []string{"at the end: expected client mine to return when its context ends; saw it still runs 1m0s later",
				"the run is deadlocked", "play_test.go:"}},
		"a goroutine that does not end": {config: Config{Clients: map[string]Client{"mine": leaves}}, steps: []Step{RunClient("mine")},
			want: []string{"the run is deadlocked", "play_test.go:"}},
	} {
		t.Run(name, func(t *testing.T) {
			log, err := playSteps(t, test.config, test.steps...)
			require.Error(t, err)
			for _, want := range test.want {
				require.Contains(t, err.Error(), want)
			}
			require.Contains(t, log.String(), "seed 0\n")
		})
	}
}

// goexitStep ends its goroutine, as a failing assertion of a test does.
type goexitStep struct{}

func (goexitStep) Run(context.Context, *Env) error { runtime.Goexit(); return nil }
func (goexitStep) String() string                  { return "leave" }

// A Failure has the step in its fields, and a message on one line.
func TestFailureFields(t *testing.T) {
	_, err := Play("a.txtar", "compact\nexpect cm/a\n", Config{})
	var failure *Failure
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "a.txtar:2", failure.Position)
	require.Equal(t, "expect cm/a", failure.Step)
	require.ErrorAs(t, err, &mismatch{})
	require.Equal(t, "a.txtar:2: expect cm/a: expected cm/a; saw none", failure.Brief())

	fails := func(context.Context, *rest.Config) error { return errors.New("no\nway") }
	_, err = Play("b.txtar", "run mine\n", Config{Clients: map[string]Client{"mine": fails}})
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "at the end: expected no error of client mine; saw no; way", failure.Brief())

	_, err = Play("c.txtar", "fly\n", Config{})
	require.ErrorAs(t, err, new(*SyntaxError))
}

// A server that cannot be closed because of a hanging request is reported.
func TestPlayReportsHangingRequest(t *testing.T) {
	slow := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.UserAgent() == "mine" {
				time.Sleep(time.Hour)
			}
			next.ServeHTTP(w, r)
		})
	}
	get := func(ctx context.Context, config *rest.Config) error {
		_, err := kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
		return err
	}
	config := Config{Clients: map[string]Client{"mine": get}, Options: []fakeapi.Option{fakeapi.WithMiddleware(slow)}}
	log, err := Play("a.txtar", "run mine\n", config)
	require.ErrorContains(t, err, "closing the server: still open: GET /api/v1/namespaces/default (for 5s)")
	require.Contains(t, log.String(), "run mine\n")
}
