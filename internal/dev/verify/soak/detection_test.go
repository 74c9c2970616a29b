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
	const anyClient = `!userAgent(` + faultFreeAgent + `) && `
	for name, tt := range map[string]struct {
		rule string               // a fault rule, or
		wrap fakeapi.Option       // middleware, or
		do   func(e *environment) // requests that are not recorded
		want string
	}{
		"dropped event":           {rule: anyClient + `event(MODIFIED) && chance(0.2, 1) do drop`, want: "lost: MODIFIED"},
		"duplicated event":        {rule: anyClient + `event(MODIFIED) && chance(0.2, 1) do duplicate`, want: "repeated or out of order: MODIFIED"},
		"early bookmark":          {rule: anyClient + `event(BOOKMARK) && !initialEventsEnd do set(/object/metadata/resourceVersion, "999999999")`, want: "early BOOKMARK 999999999"},
		"informer without events": {rule: `userAgent(informer-1) && event(ADDED,MODIFIED) do drop`, want: "different store: informer of"},
		"skipping page":           {rule: anyClient + `verb(list) && query(limit) && during(committed) && code(200) do remove(/items/0)`, want: "wrong list: the objects were"},
		"inconsistent pages":      {rule: anyClient + `verb(list) && query(continue) && during(committed) && code(200) do set(/metadata/resourceVersion, "7")`, want: "inconsistent pages: one of"},
		"wrong content":           {rule: anyClient + `verb(get) && during(committed) && code(200) && chance(0.3, 1) do set(/metadata/annotations/serial, "unknown")`, want: "not linearizable (Illegal)"},
		"unexpected code":         {rule: anyClient + `verb(watch) && during(before) && chance(0.3, 1) do status(403)`, want: "unexpected 403"},
		"stale read":              {wrap: fakeapi.WithMiddleware(withStaleReads), want: "not linearizable (Illegal)"},
		"no update":               {wrap: fakeapi.WithMiddleware(withDryRuns(http.MethodPatch)), want: "not linearizable (Illegal)"},
		"no delete":               {wrap: fakeapi.WithMiddleware(withDryRuns(http.MethodDelete)), want: "not linearizable (Illegal)"},
		"unrecorded create": {do: func(e *environment) {
			e.writeUnrecorded("POST", "/api/v1/namespaces/g02/configmaps", `{"metadata":{"name":"a","annotations":{}}}`)
		}, want: "unexplained write: create of g02/a"},
		"unrecorded create of another kind": {do: func(e *environment) {
			e.writeUnrecorded("POST", "/api/v1/namespaces/g02/secrets", `{"metadata":{"name":"a"}}`)
		}, want: "missing: "},
		"wrong metric": {do: func(e *environment) {
			e.writeUnrecorded("POST", "/api/v1/namespaces/g02/configmaps?dryRun=All", `{"metadata":{"name":"a"}}`)
		}, want: "wrong metric: "},
		"leaked watch": {do: (*environment).leakWatch, want: "leak: expected are 35 watches"},
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
				e := newEnvironment(t, 1, &total, outside, opts...)
				defer e.close()
				e.opsPerRound, e.sharesProcess = 6, true
				if tt.rule != "" {
					for _, srv := range e.servers() {
						_, err := srv.Faults().AddText("fault: when " + tt.rule)
						require.NoError(t, err)
					}
				}
				if tt.do != nil {
					tt.do(e)
				}
				// Which operations meet in a round is random.
				var problems string
				for round := 0; round < 5 && problems == ""; round++ {
					problems = strings.Join(e.runRound(), "\n")
				}
				require.Contains(t, problems, tt.want)
			})
		})
	}
}

// writeUnrecorded sends a write that no client records.
func (e *environment) writeUnrecorded(method, path, body string) {
	req, err := http.NewRequestWithContext(e.t.Context(), method, e.srv.URL()+path, strings.NewReader(body))
	require.NoError(e.t, err)
	req.Header.Set("Content-Type", harness.JSON)
	resp, err := e.srv.Client().Do(req)
	require.NoError(e.t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Less(e.t, resp.StatusCode, 300, resp.Status)
}

// leakWatch opens a watch that no check expects and leaves it open until the test ends.
func (e *environment) leakWatch() {
	req, err := http.NewRequestWithContext(e.t.Context(), http.MethodGet, e.srv.URL()+"/api/v1/pods?watch=1&timeoutSeconds=3600", nil)
	require.NoError(e.t, err)
	resp, err := e.srv.Client().Do(req)
	require.NoError(e.t, err)
	require.Equal(e.t, http.StatusOK, resp.StatusCode)
	e.t.Cleanup(func() { _ = resp.Body.Close() })
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
		response := httptest.NewRecorder()
		next.ServeHTTP(response, r)
		mu.Lock()
		if turn++; first[r.URL.Path] == nil {
			first[r.URL.Path] = response
		}
		if turn%2 == 0 {
			response = first[r.URL.Path]
		}
		body := response.Body.Bytes()
		mu.Unlock()
		for name, values := range response.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(response.Code)
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
			dryRun := r.Method == method && turn%3 == 0
			mu.Unlock()
			if dryRun {
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
