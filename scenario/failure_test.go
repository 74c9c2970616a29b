package scenario

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// playText plays a text and returns the transcript, and the message if it failed.
func playText(t *testing.T, config Config, text string) (transcript, failure string) {
	t.Helper()
	s, err := parseScript("it.txtar", text)
	require.NoError(t, err, text)
	synctest.Test(t, func(t *testing.T) {
		log, err := playWithTB(t, func(err error) { failure = err.Error() }, config, s)
		transcript = log.String()
		if err != nil {
			failure = err.Error()
		}
	})
	return transcript, failure
}

const object = "\n-- a --\n" + manifest

// A step that fails has its position, the expected and the actual value.
func TestFailures(t *testing.T) {
	for _, test := range failingTexts() {
		_, failure := playText(t, Config{Clients: badClients()}, test.text)
		require.Contains(t, failure, test.want, test.text)
		require.Contains(t, failure, "transcript so far:\n    seed 0\n", test.text)
	}
}

// badClients are faulty clients under test.
func badClients() map[string]Client {
	return map[string]Client{
		"fails": func(context.Context, *rest.Config) error { return errors.New("no progress") },
		"loops": func(ctx context.Context, config *rest.Config) error {
			client, err := kubernetes.NewForConfig(config)
			for err == nil && ctx.Err() == nil {
				_, err = client.CoreV1().Namespaces().Get(ctx, "nowhere", metav1.GetOptions{})
				if err != nil && ctx.Err() == nil {
					err = nil // retry at once
				}
			}
			return err
		},
		"polls": func(ctx context.Context, config *rest.Config) error {
			client, err := kubernetes.NewForConfig(config)
			for ; err == nil; err = sleep(ctx, time.Second) {
				if _, err = client.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{}); err != nil {
					return err
				}
			}
			return err
		},
		"maker": func(ctx context.Context, config *rest.Config) error {
			client, err := kubernetes.NewForConfig(config)
			if err == nil {
				err = sleep(ctx, 3500*time.Millisecond)
			}
			if err == nil {
				made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "made"}}
				_, err = client.CoreV1().ConfigMaps("default").Create(ctx, made, metav1.CreateOptions{})
			}
			return err
		},
		"stays": func(context.Context, *rest.Config) error { time.Sleep(24 * time.Hour); return nil },
		"waits": func(ctx context.Context, _ *rest.Config) error { return sleep(ctx, time.Minute) },
	}
}

// Steps of Go code that no line can express fail.
func TestInvalidSteps(t *testing.T) {
	config := Config{Clients: map[string]Client{"none": nil}}
	for _, test := range []struct {
		step Step
		want string
	}{
		{RunClient("none"), `the client "none" in the Config is nil`},
		{ExpectChanges("CREATED", Ref{Kind: "cm", Name: "a"}, Exactly(0)), `expected ADDED, MODIFIED or DELETED, found "CREATED"`},
		{Expect(Ref{"ns", "default", ""}, Field{"a..b", "1"}), `path "a..b": expected the name of a field`},
		{Expect(Ref{"ns", "default", ""}, Field{"a=b", "1"}), `path "a=b": expected the end, found "=b"`},
		{Discovery("lose", "apps"), `expected one of fail, flap, hide, reset, stale, found "lose"`},
		{Webhook(AdmissionWebhook{Name: "a.b.c", Kind: "cm", Timeout: -time.Second, Answer: []faults.Effect{faults.Allow()}}), "expected a timeout from 1s to 30s"},
		{Webhook(AdmissionWebhook{Name: "a.b.c", Kind: "cm"}), `fault rule "a.b.c": it has no effects`},
		{Fault(faults.Rule{}), "it has no effects"},
	} {
		_, err := playSteps(t, config, test.step)
		var failure *Failure
		require.ErrorAs(t, err, &failure, test.want)
		require.ErrorContains(t, failure.Cause, test.want)
	}
}

// These texts pass.
func TestPasses(t *testing.T) {
	for _, text := range passingTexts() {
		_, failure := playText(t, Config{Clients: badClients()}, text)
		require.Empty(t, failure, text)
	}
}

// Each kind of step is in one of the texts.
func TestAllStepsAreRun(t *testing.T) {
	texts := passingTexts()
	for _, test := range failingTexts() {
		texts = append(texts, test.text)
	}
	covered := map[string]bool{}
	for _, text := range texts {
		s, err := parseScript("it.txtar", text)
		require.NoError(t, err)
		for _, p := range s {
			kind, _, err := findStepKind(p.step.String())
			require.NoError(t, err)
			covered[kind.name()] = true
		}
	}
	for _, kind := range stepKinds() {
		require.True(t, covered[kind.name()], "no row for %q", kind.name())
	}
}

// Counts are an error if there are more hits in a step than a rule set remembers, or more requests
// than a transcript has.
func TestCountLimits(t *testing.T) {
	const begin = "fault all: when verb(get) do delay(1ms)\nrun polls\n"
	clients := Config{Clients: badClients()}
	_, failure := playText(t, clients, begin+"advance 9m\nadvance 9m\nexpect hits all 1079\n")
	require.Empty(t, failure)
	_, failure = playText(t, clients, begin+"advance 18m\nexpect hits all 1079\n")
	require.Contains(t, failure, "too many hits within one step: 54 are not counted")
	_, failure = playText(t, clients, begin+"advance 18m\nexpect requests polls GET 1079\n")
	require.Contains(t, failure, "client polls has sent more than 1000 requests, which are not counted")
}

func TestScriptFiles(t *testing.T) {
	empty := &fstest.MapFile{}
	names, err := scriptFiles(fstest.MapFS{"b.txtar": empty, "a.txt": empty, "c/d.txtar": empty, "e.txtar/f": empty})
	require.NoError(t, err)
	require.Equal(t, []string{"b.txtar", "c/d.txtar"}, names)
	_, err = scriptFiles(fstest.MapFS{"a.txt": empty})
	require.EqualError(t, err, "there is no file that ends in .txtar")
}

// The hint about throttled error handlers is added only if it may apply.
func TestThrottleHint(t *testing.T) {
	_, failure := playText(t, Config{Clients: badClients()}, "run waits\nexpect cm/a")
	require.NotContains(t, failure, "throttled", "TestMain has taken the throttle out")
	before := utilruntime.ErrorHandlers
	t.Cleanup(func() { utilruntime.ErrorHandlers = before })
	utilruntime.ErrorHandlers = slices.Concat(before, before)
	_, failure = playText(t, Config{Clients: badClients()}, "run waits\nexpect cm/a")
	require.Contains(t, failure, "throttled")
}

// generateStep is a custom step with a request and a note.
type generateStep struct{}

func (generateStep) String() string { return "generate a name" }

func (generateStep) Run(ctx context.Context, e *Env) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.Server().URL()+"/api/v1/namespaces/default/configmaps",
		strings.NewReader(`{"metadata":{"generateName":"made-"}}`))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	client, err := rest.HTTPClientFor(e.Config())
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	e.Note("found at %s", answer.Header.Get("Date"))
	return answer.Body.Close()
}

// unknownFieldStep writes an object with an unknown field and ignores the warning.
type unknownFieldStep struct{}

func (unknownFieldStep) String() string { return "be sloppy" }

func (unknownFieldStep) Run(ctx context.Context, e *Env) error {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "color": "red",
	}}
	resource, err := e.resourceOf(o)
	if err != nil {
		return err
	}
	_, err = resource.Create(ctx, o, metav1.CreateOptions{FieldValidation: metav1.FieldValidationWarn})
	return err
}

func TestWarningsInTranscript(t *testing.T) {
	require.Contains(t, Run(t, Config{}, unknownFieldStep{}).String(), `warning: unknown field "color"`)
}

func TestRun(t *testing.T) {
	watch := Watch("w", Collection{Kind: "cm"})
	one := Run(t, Config{Seed: 7}, watch, generateStep{}).String()
	require.Equal(t, one, Run(t, Config{Seed: 7, Options: []fakeapi.Option{fakeapi.WithSeed(7)}}, watch, generateStep{}).String())
	other := Run(t, Config{Seed: 8}, watch, generateStep{}).String()
	name := func(log string) string {
		_, rest, found := strings.Cut(log, "ADDED made-")
		require.True(t, found, log)
		return rest[:5]
	}
	require.NotEqual(t, name(one), name(other))
	require.Contains(t, one, "POST /api/v1/namespaces/default/configmaps 201\n")
	require.Contains(t, one, "found at Sat, 01 Jan 2000 00:00:00 GMT\n")
}
