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

// recordingServer accepts every POST and records the requests. If respond is set, it can answer
// instead.
type recordingServer struct {
	respond func(w http.ResponseWriter, r *http.Request) (done bool)

	mu        sync.Mutex // guards requested
	requested []string   // method and path
}

func (s *recordingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requested = append(s.requested, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	if s.respond != nil && s.respond(w, r) {
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

func (s *recordingServer) requests(prefix string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []string
	for _, one := range s.requested {
		if strings.HasPrefix(one, prefix) {
			found = append(found, one)
		}
	}
	return found
}

// start starts the server, and returns a configuration that runs these cases.
func (s *recordingServer) start(t *testing.T, cases string) conformance.Config {
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return conformance.Config{BaseURL: server.URL + "/", Client: server.Client(), Run: regexp.MustCompile(cases), Timeout: time.Minute}
}

func respondWith(code int, contentType, body string) func(http.ResponseWriter, *http.Request) bool {
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

func onlyResult(t *testing.T, report conformance.Report) conformance.Result {
	t.Helper()
	require.Len(t, report.Results, 1)
	return report.Results[0]
}

func TestCorrectServerPasses(t *testing.T) {
	s := &recordingServer{respond: respondWith(404, "text/plain; charset=utf-8", "404 page not found\n")}
	report, err := conformance.Execute(t.Context(), s.start(t, `^PV-16$`))
	require.NoError(t, err)
	require.Equal(t, conformance.Passed, onlyResult(t, report).Outcome)
	require.NoError(t, report.Err())
}

func TestFailureMessage(t *testing.T) {
	s := &recordingServer{respond: respondWith(404, "application/json", `{"kind":"Status"}`)}
	report, err := conformance.Execute(t.Context(), s.start(t, `^PV-16$`))
	require.NoError(t, err)
	failed := onlyResult(t, report)
	require.Equal(t, conformance.Failed, failed.Outcome)
	for _, part := range []string{"GET http://", "/apis/absent.", "expected Content-Type text/plain", `{"kind":"Status"}`} {
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
		"no URL":       {conformance.Config{}, "BaseURL"},
		"no scheme":    {conformance.Config{BaseURL: "localhost:80"}, "BaseURL"},
		"invalid URL":  {conformance.Config{BaseURL: "http://a b"}, "BaseURL"},
		"unknown case": {conformance.Config{BaseURL: "http://x", Skip: map[string]string{"PV-99": "why not"}}, `unknown case or rule "PV-99" in Skip`},
		"long prefix":  {conformance.Config{BaseURL: "http://x", NamespacePrefix: "a-name-that-leaves-too-little-room-for-the-rest"}, "invalid NamespacePrefix"},
		"upper case":   {conformance.Config{BaseURL: "http://x", NamespacePrefix: "Upper"}, "invalid NamespacePrefix"},
		"unknown gate": {conformance.Config{BaseURL: "http://x", Features: map[string]bool{"Wach": true}}, `unknown feature gate "Wach"`},
		"no cases":     {conformance.Config{BaseURL: "http://x", Parallel: -1}, "must not be negative"},
		"no time":      {conformance.Config{BaseURL: "http://x", RunTimeout: -1}, "must not be negative"},
		"no reason":    {conformance.Config{BaseURL: "http://x", Skip: map[string]string{"PV-16": " "}}, `no reason for "PV-16" in Skip`},
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
	s := &recordingServer{}
	c := s.start(t, `^(PV-15|PV-20|PV-16)$`)
	c.MinLevel = conformance.Must
	report, err := conformance.Execute(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, "PV-16", onlyResult(t, report).Case.ID)
}

func TestSkip(t *testing.T) {
	s := &recordingServer{}
	c := s.start(t, `^PV-(06|16)`)
	c.Skip = map[string]string{"PV-06": "all of the rule", "PV-16": "just this"}
	report, err := conformance.Execute(t.Context(), c)
	require.NoError(t, err)
	require.NoError(t, report.Err())
	require.Equal(t, 3, report.Count(conformance.Skipped))
	require.Equal(t, "all of the rule", report.Results[0].Reason)
	require.Equal(t, []string{"GET /version"}, s.requests(""), "skipped cases send no requests")
}

func TestSkipsCasesWithoutCustomResources(t *testing.T) {
	s := &recordingServer{respond: respondWith(404, "text/plain", "404 page not found")}
	report, err := conformance.Execute(t.Context(), s.start(t, `^PV-06/custom$`))
	require.NoError(t, err)
	require.Equal(t, conformance.Skipped, onlyResult(t, report).Outcome)
	require.Equal(t, "the server does not serve customresourcedefinitions of apiextensions.k8s.io/v1", onlyResult(t, report).Reason)
}

func TestCleanUpAfterFailure(t *testing.T) {
	s := &recordingServer{}
	report, err := conformance.Execute(t.Context(), s.start(t, `^NM-02/typed$`)) // the server accepts the second create too
	require.NoError(t, err)
	require.Equal(t, conformance.Failed, onlyResult(t, report).Outcome)
	require.Empty(t, onlyResult(t, report).Leftovers)
	created := s.requests("POST /api/v1/namespaces/")
	require.Len(t, created, 2)
	namespace := strings.TrimSuffix(strings.TrimPrefix(created[0], "POST "), "/secrets")
	require.Equal(t, []string{"DELETE " + namespace + "/secrets/a", "DELETE " + namespace}, s.requests("DELETE"))
}

func TestCleanUpAfterCancellation(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	s := &recordingServer{respond: func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/secrets") {
			return false
		}
		cancel(enough)
		<-r.Context().Done() // the client closes the connection
		return true
	}}
	c := s.start(t, `^(GT-01/typed|LS-01/typed)$`)
	c.Parallel = 1
	report, err := conformance.Execute(ctx, c)
	require.ErrorIs(t, err, enough)
	require.Len(t, report.Results, 2)
	for _, result := range report.Results {
		require.Equal(t, conformance.Skipped, result.Outcome)
		require.Contains(t, result.Reason, "enough")
	}
	require.False(t, report.Results[0].NotReached)
	require.True(t, report.Results[1].NotReached)
	require.Len(t, s.requests("DELETE /api/v1/namespaces/conformance-"), 1)
}

func TestLeftoversAreReported(t *testing.T) {
	s := &recordingServer{respond: func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return respondWith(404, "text/plain", "404 page not found")(w, r)
	}}
	report, err := conformance.Execute(t.Context(), s.start(t, `^PV-16$`))
	require.NoError(t, err)
	require.Equal(t, conformance.Passed, onlyResult(t, report).Outcome)
	require.Len(t, onlyResult(t, report).Leftovers, 1)
	require.ErrorContains(t, report.Err(), "PV-16 could not clean up: DELETE http://")
}

func TestCleanUpRemovesFinalizers(t *testing.T) {
	s := &recordingServer{respond: func(w http.ResponseWriter, r *http.Request) bool {
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

func TestCaseTimeout(t *testing.T) {
	s := &recordingServer{respond: func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && r.URL.Path != "/version" {
			<-r.Context().Done()
			return true
		}
		return false
	}}
	c := s.start(t, `^PV-16$`)
	c.Timeout = 2 * time.Second // enough for the requests before the one that hangs
	report, err := conformance.Execute(t.Context(), c)
	require.NoError(t, err)
	require.ErrorContains(t, onlyResult(t, report).Err, "the case did not end within 2s")
	require.Len(t, s.requests("DELETE"), 1)
}

// Requests that a server rejects because it is busy or not ready are repeated as often as a client
// does.
func TestRetriesBusyServer(t *testing.T) {
	refusals := 0
	busy := func(most int) conformance.Config {
		refusals = 0
		s := &recordingServer{respond: func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet && r.URL.Path != "/version" && refusals < most {
				refusals++
				w.Header().Set("Retry-After", "0")
				return respondWith(429, "application/json", `{}`)(w, r)
			}
			return respondWith(404, "text/plain; charset=utf-8", "404 page not found\n")(w, r)
		}}
		return s.start(t, `^PV-16$`)
	}
	report, err := conformance.Execute(t.Context(), busy(10))
	require.NoError(t, err)
	require.Equal(t, conformance.Passed, onlyResult(t, report).Outcome)
	require.Equal(t, 10, refusals)
	report, err = conformance.Execute(t.Context(), busy(1000))
	require.NoError(t, err)
	require.ErrorContains(t, onlyResult(t, report).Err, "got 429")
	require.Equal(t, 11, refusals, "PV-16 asks once")
}

func TestFailingHooks(t *testing.T) {
	s := &recordingServer{respond: respondWith(200, "application/json", `{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}`)}
	c := s.start(t, `^RS-07/exact/typed$`)
	c.Compact = func(context.Context) error { return errors.New("no can do") }
	report, err := conformance.Execute(t.Context(), c)
	require.NoError(t, err)
	require.ErrorContains(t, onlyResult(t, report).Err, "Config.Compact: no can do")
}

func TestReport(t *testing.T) {
	s := &recordingServer{respond: func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/version" {
			return respondWith(200, "application/json", `{"gitVersion":"v1.37.9"}`)(w, r)
		}
		return respondWith(404, "text/plain", "404 page not found\n")(w, r)
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
