package differential_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/internal/cmd/differential"
)

// startSide starts a server without controllers, whose writes would be at random times. seed is
// that of its uids and generated names.
func startSide(t *testing.T, seed uint64, opts ...fakeapi.Option) (differential.Side, *fakeapi.Server) {
	t.Helper()
	srv := fakeapi.Start(t, append(opts, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers(), fakeapi.WithoutSystemObjects(), fakeapi.WithoutTimeline(), fakeapi.WithSeed(seed))...)
	return differential.Side{Name: "a server", BaseURL: srv.URL(), Client: srv.Client()}, srv
}

// Two servers of package fakeapi do not differ, and a run leaves nothing behind.
func TestRunFindsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, srv := startSide(t, 1)
		right, _ := startSide(t, 2)
		steps := 2000
		if testing.Short() {
			steps = 300
		}
		report, err := differential.Run(t.Context(), differential.Config{Left: left, Right: right, Seed: 7, Steps: steps})
		require.NoError(t, err)
		var text bytes.Buffer
		require.NoError(t, report.WriteText(&text))
		require.Empty(t, report.Classes, text.String())
		require.Empty(t, report.Unconfirmed)
		require.GreaterOrEqual(t, report.Steps, steps)
		require.Greater(t, report.Definitions, 1)
		require.Regexp(t, `seed 7: \d+ steps in \d+ sequences with \d+ definitions: 0 classes of differences`, text.String())
		requireEmpty(t, srv)
	})
}

// requireEmpty expects that a run has left nothing on a server.
func requireEmpty(t *testing.T, srv *fakeapi.Server) {
	t.Helper()
	require.NoError(t, srv.RunControllers(t.Context()))
	get := func(path string) string {
		response, err := srv.Client().Get(srv.URL() + path)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return string(body)
	}
	for _, path := range []string{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/apps/v1/deployments", "/api/v1/configmaps"} {
		require.Contains(t, get(path), `"items":[]`, path)
	}
	require.NotContains(t, get("/api/v1/namespaces"), `"name":"random-`)
}

// A run that only one server refuses leaves nothing on the other one.
func TestRunRemovesAfterFailure(t *testing.T) {
	for _, fault := range []string{
		"when verb(create) && resource(customresourcedefinitions) do reset",
		"when verb(create) && resource(namespaces) do status(500)",
	} {
		synctest.Test(t, func(t *testing.T) {
			rule, err := faults.Parse(fault)
			require.NoError(t, err)
			left, srv := startSide(t, 1)
			right, _ := startSide(t, 2, fakeapi.WithFaults(rule))
			_, err = differential.Run(t.Context(), differential.Config{Left: left, Right: right})
			require.Error(t, err)
			requireEmpty(t, srv)
		})
	}
}

// A faulty server is found, by the smallest sequence.
func TestRunFindsAndShrinks(t *testing.T) {
	for name, test := range map[string]struct {
		middleware func(http.Handler) http.Handler
		signature  string
		steps      int // of the smallest sequence
		example    string
	}{
		"status code": {
			middleware: changeResponses(func(r *http.Request, response *httptest.ResponseRecorder) {
				if r.Method == http.MethodPatch && response.Code == http.StatusCreated {
					response.Code = http.StatusOK
				}
			}),
			signature: `^PATCH /.*/NAME apply-patch\+yaml code: 201 \| 200$`, steps: 1, example: `^PATCH `,
		},
		"body": {
			middleware: changeResponses(func(r *http.Request, response *httptest.ResponseRecorder) {
				if r.Method == http.MethodPatch && strings.HasPrefix(r.Header.Get("Content-Type"), "application/merge") {
					replaceBody(response, `"kind":"Widget"`, `"kind":"Other"`)
				}
			}),
			signature: `^PATCH /.* merge-patch\+json body.kind: string \| string$`, steps: 2, example: `^PATCH `,
		},
		"answer to a deletion": {
			middleware: changeResponses(func(r *http.Request, response *httptest.ResponseRecorder) {
				if r.Method == http.MethodDelete && r.URL.Query().Get("dryRun") == "" {
					replaceBody(response, `"kind":"Status"`, `"kind":"Other"`)
				}
			}),
			signature: `^DELETE .* body.kind: string \| string$`, steps: 1, example: `^DELETE `,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				left, _ := startSide(t, 1)
				right, _ := startSide(t, 2, fakeapi.WithMiddleware(test.middleware))
				var found []string
				config := differential.Config{Left: left, Right: right, Seed: 3, Steps: 400, Parallel: 1, OnFinding: func(signature string) { found = append(found, signature) }}
				report, err := differential.Run(t.Context(), config)
				require.NoError(t, err)
				require.NotEmpty(t, report.Unlisted())
				smallest := 1000
				for _, class := range report.Unlisted() {
					require.Contains(t, found, class.Signature)
					if !regexp.MustCompile(test.signature).MatchString(class.Signature) {
						continue
					}
					steps := class.Example.Steps
					smallest = min(smallest, len(steps))
					require.Regexp(t, test.example, steps[len(steps)-1].String())
				}
				require.Equal(t, test.steps, smallest)
				config.Listed = []differential.ListedDifference{{Pattern: regexp.MustCompile(``), Reason: "expected"}}
				report, err = differential.Run(t.Context(), config)
				require.NoError(t, err)
				require.Empty(t, report.Unlisted())
				require.NotEmpty(t, report.Classes)
			})
		})
	}
}

// A watch whose events are lost is found at the end of the sequence.
func TestRunReadsWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule, err := faults.Parse(`lost: when event(DELETED) do drop`)
		require.NoError(t, err)
		left, _ := startSide(t, 1)
		right, _ := startSide(t, 2, fakeapi.WithFaults(rule))
		report, err := differential.Run(t.Context(), differential.Config{Left: left, Right: right, Seed: 5, Steps: 1500})
		require.NoError(t, err)
		require.NotEmpty(t, report.Unlisted())
		for _, class := range report.Unlisted() {
			require.Regexp(t, `^GET watch /.* event`, class.Signature)
			require.NotNil(t, class.Example)
		}
	})
}

// A run ends with its context, and with a server that cannot be used.
func TestRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, _ := startSide(t, 1)
		right, srv := startSide(t, 2)
		ctx, cancel := context.WithCancel(t.Context())
		config := differential.Config{Left: left, Right: right, Steps: 1 << 30, OnProgress: func(steps int) {
			if steps > 100 {
				cancel()
			}
		}}
		report, err := differential.Run(ctx, config)
		require.ErrorIs(t, err, context.Canceled)
		require.Greater(t, report.Steps, 100)
		require.Empty(t, report.Classes)
		require.NoError(t, srv.Close())
		_, err = differential.Run(t.Context(), config)
		require.Error(t, err)
	})
}

func TestReport(t *testing.T) {
	report := &differential.Report{Left: "a", Right: "b", Seed: 1, Steps: 10, Classes: []*differential.Class{
		{Signature: "GET / code: 200 | 404", Count: 2, Example: &differential.Example{
			Steps: []differential.Step{{Method: "PUT", Path: "/a", ContentType: "application/json", Resend: "widgets/a", Body: `{"x":1}`}, {Method: "GET", Path: "/", Query: []string{"a=1", "b=2"}, Accept: "text/plain"}},
		}},
		{Signature: "POST / body: 1 | 2", Count: 3, Reason: "both are right"},
	}}
	var text bytes.Buffer
	require.NoError(t, report.WriteText(&text))
	require.Equal(t, `DIFFERENT  GET / code: 200 | 404
  1. PUT /a
     Content-Type: application/json
     
     (widgets/a as last received, with this merge patch) {"x":1}
  2. GET /?a=1&b=2
     Accept: text/plain
LISTED  3 times  POST / body: 1 | 2
  both are right
left a, right b, seed 1: 10 steps in 0 sequences with 0 definitions: 1 classes of differences, 1 listed ones, 0 not confirmed
`, text.String())
	var markdown bytes.Buffer
	require.NoError(t, report.WriteMarkdown(&markdown))
	require.Contains(t, markdown.String(), "\n## 2 times\n\n````\nGET / code: 200 | 404\n  1. PUT /a\n")
	require.Contains(t, markdown.String(), "| 3 | `POST / body: 1 \\| 2` | `both are right` |\n")
	var written bytes.Buffer
	require.NoError(t, report.WriteJSON(&written))
	var read differential.Report
	require.NoError(t, json.Unmarshal(written.Bytes(), &read))
	require.Equal(t, report, &read)
}

func TestParseListed(t *testing.T) {
	all, err := differential.ParseListed([]byte("- pattern: ^GET\n  reason: slow\n"))
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.True(t, all[0].Pattern.MatchString("GET /"))
	for _, invalid := range []string{"- pattern: '('\n  reason: a", "- pattern: a", "- reason: a", "- other: a", "{"} {
		_, err := differential.ParseListed([]byte(invalid))
		require.Error(t, err, invalid)
	}
}

// changeResponses returns a middleware that changes responses other than watches.
func changeResponses(change func(*http.Request, *httptest.ResponseRecorder)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("watch") {
				next.ServeHTTP(w, r)
				return
			}
			recorded := httptest.NewRecorder()
			next.ServeHTTP(recorded, r)
			change(r, recorded)
			for name, values := range recorded.Header() {
				w.Header()[name] = values
			}
			w.WriteHeader(recorded.Code)
			_, _ = w.Write(recorded.Body.Bytes())
		})
	}
}

// replaceBody replaces text in the body of a response.
func replaceBody(response *httptest.ResponseRecorder, before, after string) {
	response.Body = bytes.NewBufferString(strings.ReplaceAll(response.Body.String(), before, after))
	response.Header().Del("Content-Length")
}
