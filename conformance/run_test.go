package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
)

// recorder is a server that says yes to every POST, remembers what it was asked, and leaves the rest to answer, where that is set.
type recorder struct {
	answer func(w http.ResponseWriter, r *http.Request) (done bool)

	mu    sync.Mutex // guards asked
	asked []string   // method and path
}

func (s *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	if s.answer != nil && s.answer(w, r) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodPost {
		return
	}
	var o map[string]any
	if json.NewDecoder(r.Body).Decode(&o) == nil {
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(o)
	}
}

func (s *recorder) requests(prefix string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []string
	for _, one := range s.asked {
		if strings.HasPrefix(one, prefix) {
			found = append(found, one)
		}
	}
	return found
}

// start serves, and gives a configuration that runs these cases.
func (s *recorder) start(t *testing.T, cases string) conformance.Config {
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return conformance.Config{BaseURL: server.URL + "/", Client: server.Client(), Run: regexp.MustCompile(cases), Timeout: 5 * time.Second}
}

func answerWith(code int, contentType, body string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
		return true
	}
}

func only(t *testing.T, report conformance.Report) conformance.Result {
	t.Helper()
	require.Len(t, report.Results, 1)
	return report.Results[0]
}

func TestTruthPasses(t *testing.T) {
	s := &recorder{answer: answerWith(404, "text/plain; charset=utf-8", "404 page not found\n")}
	report, err := conformance.Execute(t.Context(), s.start(t, `^PV-16$`))
	require.NoError(t, err)
	require.Equal(t, conformance.Passed, only(t, report).Outcome)
	require.NoError(t, report.Err())
}

func TestFailureSaysWhatWasExpectedAndSeen(t *testing.T) {
	s := &recorder{answer: answerWith(404, "application/json", `{"kind":"Status"}`)}
	report, err := conformance.Execute(t.Context(), s.start(t, `^PV-16$`))
	require.NoError(t, err)
	failed := only(t, report)
	require.Equal(t, conformance.Failed, failed.Outcome)
	for _, part := range []string{"GET http://", "/apis/nobody.", "expected Content-Type text/plain", `{"kind":"Status"}`} {
		require.ErrorContains(t, failed.Err, part)
	}
	for _, part := range []string{"PV-16 [MUST]", failed.Case.Why, failed.Case.Source} {
		require.ErrorContains(t, report.Err(), part)
	}
	require.ErrorContains(t, conformance.Check(t.Context(), s.start(t, `^PV-16$`)), "expected Content-Type text/plain")
}

func TestConfigErrors(t *testing.T) {
	for name, one := range map[string]struct {
		config conformance.Config
		says   string
	}{
		"no URL":         {conformance.Config{}, "BaseURL"},
		"half a URL":     {conformance.Config{BaseURL: "localhost:80"}, "BaseURL"},
		"broken URL":     {conformance.Config{BaseURL: "http://a b"}, "BaseURL"},
		"skips nothing":  {conformance.Config{BaseURL: "http://x", Skip: map[string]string{"PV-99": "why not"}}, `Skip names "PV-99"`},
		"long prefix":    {conformance.Config{BaseURL: "http://x", NamespacePrefix: "a-name-that-leaves-too-little-room-for-the-rest"}, "does not begin a name"},
		"no prefix":      {conformance.Config{BaseURL: "http://x", NamespacePrefix: "Upper"}, "does not begin a name"},
		"unknown gate":   {conformance.Config{BaseURL: "http://x", Features: map[string]bool{"Wach": true}}, `Features names "Wach"`},
		"skips silently": {conformance.Config{BaseURL: "http://x", Skip: map[string]string{"PV-16": " "}}, `Skip of "PV-16" gives no reason`},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := conformance.Execute(t.Context(), one.config)
			require.ErrorContains(t, err, one.says)
			require.Empty(t, report.Results)
			require.ErrorContains(t, conformance.Check(t.Context(), one.config), one.says)
		})
	}
}

func TestSelection(t *testing.T) {
	s := &recorder{}
	c := s.start(t, `^(PV-15|PV-20|PV-16)$`)
	c.MinLevel = conformance.Must
	report, err := conformance.Execute(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, "PV-16", only(t, report).Case.ID)
}

func TestSkip(t *testing.T) {
	s := &recorder{}
	c := s.start(t, `^PV-(06|16)`)
	c.Skip = map[string]string{"PV-06": "all of the rule", "PV-16": "just this"}
	report, err := conformance.Execute(t.Context(), c)
	require.NoError(t, err)
	require.NoError(t, report.Err())
	require.Equal(t, 3, report.Count(conformance.Skipped))
	require.Equal(t, "all of the rule", report.Results[0].Reason)
	require.Equal(t, []string{"GET /version"}, s.requests(""), "skipped cases ask nothing")
}

func TestWithoutCustomResourcesTheirCasesAreSkipped(t *testing.T) {
	s := &recorder{answer: answerWith(404, "text/plain", "404 page not found")}
	report, err := conformance.Execute(t.Context(), s.start(t, `^PV-06/custom$`))
	require.NoError(t, err)
	require.Equal(t, conformance.Skipped, only(t, report).Outcome)
	require.Equal(t, "the server does not serve customresourcedefinitions of apiextensions.k8s.io/v1", only(t, report).Reason)
}

func TestCleanUpAfterFailure(t *testing.T) {
	s := &recorder{}
	report, err := conformance.Execute(t.Context(), s.start(t, `^NM-02/typed$`)) // the second create is accepted too
	require.NoError(t, err)
	require.Equal(t, conformance.Failed, only(t, report).Outcome)
	require.Empty(t, only(t, report).Leftovers)
	created := s.requests("POST /api/v1/namespaces/")
	require.Len(t, created, 2)
	namespace := strings.TrimSuffix(strings.TrimPrefix(created[0], "POST "), "/secrets")
	require.Equal(t, []string{"DELETE " + namespace + "/secrets/a", "DELETE " + namespace}, s.requests("DELETE"))
}

func TestCleanUpAfterCancellation(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	s := &recorder{answer: func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/secrets") {
			return false
		}
		cancel(enough)
		<-r.Context().Done() // the client gives up
		return true
	}}
	report, err := conformance.Execute(ctx, s.start(t, `^(GT-01/typed|LS-01/typed)$`))
	require.ErrorIs(t, err, enough)
	require.Len(t, report.Results, 2)
	for _, result := range report.Results {
		require.Equal(t, conformance.Skipped, result.Outcome)
		require.Contains(t, result.Reason, "enough")
	}
	require.Len(t, s.requests("DELETE /api/v1/namespaces/conformance-"), 1)
}

func TestLeftoversAreToldOf(t *testing.T) {
	s := &recorder{answer: func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return answerWith(404, "text/plain", "404 page not found")(w, r)
	}}
	report, err := conformance.Execute(t.Context(), s.start(t, `^PV-16$`))
	require.NoError(t, err)
	require.Equal(t, conformance.Passed, only(t, report).Outcome)
	require.Len(t, only(t, report).Leftovers, 1)
	require.ErrorContains(t, report.Err(), "PV-16 could not clean up: DELETE http://")
}

func TestFinalizersOfTheSuiteAreTakenOff(t *testing.T) {
	s := &recorder{answer: func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodDelete || !strings.HasSuffix(r.URL.Path, "/a") {
			return false
		}
		_, _ = w.Write([]byte(`{"metadata":{"name":"a","finalizers":["conformance.example.com/hold"]}}`))
		return true
	}}
	_, err := conformance.Execute(t.Context(), s.start(t, `^NM-03/typed$`))
	require.NoError(t, err)
	require.Len(t, s.requests("PATCH"), 1)
}

func TestCaseThatHangs(t *testing.T) {
	s := &recorder{answer: func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && r.URL.Path != "/version" {
			<-r.Context().Done()
			return true
		}
		return false
	}}
	c := s.start(t, `^PV-16$`)
	c.Timeout = 50 * time.Millisecond
	report, err := conformance.Execute(t.Context(), c)
	require.NoError(t, err)
	require.ErrorContains(t, only(t, report).Err, "the case did not end within 50ms")
	require.Len(t, s.requests("DELETE"), 1)
}

// A server that is busy, or not ready, is asked again, as often as a client does.
func TestBusyServerIsAskedAgain(t *testing.T) {
	refusals := 0
	busy := func(most int) conformance.Config {
		refusals = 0
		s := &recorder{answer: func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet && r.URL.Path != "/version" && refusals < most {
				refusals++
				w.Header().Set("Retry-After", "0")
				return answerWith(429, "application/json", `{}`)(w, r)
			}
			return answerWith(404, "text/plain; charset=utf-8", "404 page not found\n")(w, r)
		}}
		return s.start(t, `^PV-16$`)
	}
	report, err := conformance.Execute(t.Context(), busy(10))
	require.NoError(t, err)
	require.Equal(t, conformance.Passed, only(t, report).Outcome)
	require.Equal(t, 10, refusals)
	report, err = conformance.Execute(t.Context(), busy(1000))
	require.NoError(t, err)
	require.ErrorContains(t, only(t, report).Err, "got 429")
	require.Equal(t, 11, refusals, "PV-16 asks once")
}

func TestHooksThatFail(t *testing.T) {
	s := &recorder{answer: answerWith(200, "application/json", `{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}`)}
	c := s.start(t, `^RS-07/exact/typed$`)
	c.Compact = func(context.Context) error { return errors.New("no can do") }
	report, err := conformance.Execute(t.Context(), c)
	require.NoError(t, err)
	require.ErrorContains(t, only(t, report).Err, "Config.Compact: no can do")
}

func TestReport(t *testing.T) {
	s := &recorder{answer: func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/version" {
			return answerWith(200, "application/json", `{"gitVersion":"v1.37.9"}`)(w, r)
		}
		return answerWith(404, "text/plain", "404 page not found\n")(w, r)
	}}
	c := s.start(t, `^PV-(16|20|28)$`)
	report, err := conformance.Execute(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, "v1.37.9", report.Server)
	var b strings.Builder
	n, err := report.WriteTo(&b)
	require.NoError(t, err)
	require.EqualValues(t, b.Len(), n)
	for _, line := range []string{
		`(?m)^passed  PV-16 +MUST +\S+  an unknown group`,
		`(?m)^failed  PV-20 +SHOULD`,
		`(?m)^\tPV-20 \[SHOULD\] GET / lists`,
		`(?m)^skipped PV-28 +SHOULD`,
		`(?m)^\treason: it needs Config.BeginStartup`,
		`(?m)^server v1.37.9: 1 passed, 1 failed, 1 skipped$`,
	} {
		require.Regexp(t, line, b.String())
	}
}
