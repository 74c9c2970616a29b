package soak

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/verify/harness"
)

// TestSoakDetectsFaults runs servers with one fault each, which a check must report.
func TestSoakDetectsFaults(t *testing.T) {
	const harmed = `!userAgent(` + faultFreeAgent + `) && `
	for name, tt := range map[string]struct {
		lie  string               // a fault rule, or
		wrap fakeapi.Option       // middleware, or
		do   func(s *environment) // requests that are not recorded
		want string
	}{
		"dropped event":   {lie: harmed + `event(MODIFIED) && chance(0.2, 1) do drop`, want: "lost: MODIFIED"},
		"doubled event":   {lie: harmed + `event(MODIFIED) && chance(0.2, 1) do duplicate`, want: "repeated or out of order: MODIFIED"},
		"early bookmark":  {lie: harmed + `event(BOOKMARK) && !initialEventsEnd do set(/object/metadata/resourceVersion, "999999999")`, want: "early BOOKMARK 999999999"},
		"deaf informer":   {lie: `userAgent(informer-1) && event(ADDED,MODIFIED) do drop`, want: "unequal: informer of"},
		"skipping page":   {lie: harmed + `verb(list) && query(limit) && during(committed) && code(200) do remove(/items/0)`, want: "wrong list: there was"},
		"torn list":       {lie: harmed + `verb(list) && query(continue) && during(committed) && code(200) do set(/metadata/resourceVersion, "7")`, want: "torn: a page of"},
		"false content":   {lie: harmed + `verb(get) && during(committed) && code(200) && chance(0.3, 1) do set(/metadata/annotations/serial, "of nobody")`, want: "not linearizable (Illegal)"},
		"undeserved code": {lie: harmed + `verb(watch) && during(before) && chance(0.3, 1) do status(403)`, want: "undeserved 403"},
		"stale read":      {wrap: fakeapi.WithMiddleware(withStaleReads), want: "not linearizable (Illegal)"},
		"no update":       {wrap: fakeapi.WithMiddleware(withDryRuns(http.MethodPatch)), want: "not linearizable (Illegal)"},
		"no delete":       {wrap: fakeapi.WithMiddleware(withDryRuns(http.MethodDelete)), want: "not linearizable (Illegal)"},
		"somebody else": {do: func(s *environment) {
			s.writeUnrecorded("POST", "/api/v1/namespaces/g02/configmaps", `{"metadata":{"name":"a","annotations":{}}}`)
		}, want: "nobody's doing: create of g02/a"},
		"nothing to tell": {do: func(s *environment) {
			s.writeUnrecorded("POST", "/api/v1/namespaces/g02/secrets", `{"metadata":{"name":"a"}}`)
		}, want: "uncounted: "},
		"miscounted": {do: func(s *environment) {
			s.writeUnrecorded("POST", "/api/v1/namespaces/g02/configmaps?dryRun=All", `{"metadata":{"name":"a"}}`)
		}, want: "miscounted: "},
		"leaked watch": {do: (*environment).leakWatch, want: "leak: there should be 35 watches"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outside, stop := startOutsideBubble()
			defer stop()
			synctest.Test(t, func(t *testing.T) {
				opts := []fakeapi.Option{}
				if tt.wrap != nil {
					opts = append(opts, tt.wrap)
				}
				var total harness.Counter
				s := newEnvironment(t, 1, &total, outside, opts...)
				defer s.close()
				s.opsPerRound = 6
				if tt.lie != "" {
					for _, srv := range s.servers() {
						_, err := srv.Faults().AddText("lie: when " + tt.lie)
						require.NoError(t, err)
					}
				}
				if tt.do != nil {
					tt.do(s)
				}
				require.Contains(t, strings.Join(s.runRound(), "\n"), tt.want)
			})
		})
	}
}

// writeUnrecorded sends a write that no client records.
func (s *environment) writeUnrecorded(method, path, body string) {
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.srv.URL()+path, strings.NewReader(body))
	require.NoError(s.t, err)
	r.Header.Set("Content-Type", harness.JSON)
	resp, err := s.srv.Client().Do(r)
	require.NoError(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Less(s.t, resp.StatusCode, 300, resp.Status)
}

// leakWatch opens a watch that no check expects and leaves it open until the test ends.
func (s *environment) leakWatch() {
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.srv.URL()+"/api/v1/pods?watch=1&timeoutSeconds=3600", nil)
	require.NoError(s.t, err)
	resp, err := s.srv.Client().Do(r)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, resp.StatusCode)
	s.t.Cleanup(func() { _ = resp.Body.Close() })
}

// withStaleReads answers every other read of an object with the first response that it had.
func withStaleReads(next http.Handler) http.Handler {
	var mu sync.Mutex
	first, turn := map[string]*httptest.ResponseRecorder{}, 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.RawQuery != "" || !strings.Contains(r.URL.Path, "/namespaces/g") || strings.Count(r.URL.Path, "/") < 6 {
			next.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		mu.Lock()
		if turn++; first[r.URL.Path] == nil {
			first[r.URL.Path] = answer
		}
		if turn%2 == 0 {
			answer = first[r.URL.Path]
		}
		body := answer.Body.Bytes()
		mu.Unlock()
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(body)
	})
}

// withDryRuns turns every third write of a method into a dry run.
func withDryRuns(method string) func(next http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		var mu sync.Mutex
		turn := 0
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			turn++
			lies := r.Method == method && turn%3 == 0
			mu.Unlock()
			if lies {
				r = r.Clone(r.Context())
				query := r.URL.Query()
				query.Set("dryRun", "All")
				r.URL = &url.URL{Path: r.URL.Path, RawQuery: query.Encode()}
				if method == http.MethodDelete { // the server ignores options in the query if there is a body (DL-17)
					r.Body, r.ContentLength = http.NoBody, 0
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}
