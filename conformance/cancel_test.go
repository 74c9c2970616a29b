package conformance_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

// The cleanup waits for a create that was cancelled and has not been answered, and removes its
// object afterwards.
func TestCleanUpWaitsForCreate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &recordingServer{}
	s.respond = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/secrets") {
			require.Empty(t, s.requests("DELETE"), "the clean-up waits")
			cancel()
			require.NoError(t, r.Context().Err())
		}
		return false
	}
	report, err := conformance.Execute(ctx, s.start(t, `^NM-02/typed$`))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, conformance.Skipped, onlyResult(t, report).Outcome)
	require.Len(t, s.requests("DELETE"), 2, "the secret and the namespace")
	require.NotEmpty(t, report.RunID)
}

// A run calls back before and after each case, but only after a skipped one. Without parallelism
// the cases run in the order of their IDs.
func TestProgressCallbacks(t *testing.T) {
	s := &recordingServer{}
	c := s.start(t, `^PV-(15|16|20)$`)
	c.Skip, c.Parallel = map[string]string{"PV-16": "just this"}, 1
	var calls []string
	c.CaseStarted = func(one conformance.Case) { calls = append(calls, "began "+one.ID) }
	c.CaseFinished = func(one conformance.Result) { calls = append(calls, string(one.Outcome)+" "+one.Case.ID) }
	require.Len(t, c.SelectedCases(), 3)
	require.NoError(t, c.Validate())
	report, err := conformance.Execute(t.Context(), c)
	require.NoError(t, err)
	var want []string
	for _, one := range report.Results {
		if one.Outcome != conformance.Skipped {
			want = append(want, "began "+one.Case.ID)
		}
		want = append(want, string(one.Outcome)+" "+one.Case.ID)
	}
	require.Equal(t, want, calls)
	require.Contains(t, calls, "skipped PV-16")
}

// A definition whose deletion the server accepted and cannot complete is a leftover.
func TestReportsRemainingCRDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		c := configOf(srv)
		c.Run, c.Skip = regexp.MustCompile(`^CD-01$`), nil
		c.Client = &http.Client{Transport: finalizerTransport{srv.Client().Transport}}
		report, err := conformance.Execute(t.Context(), c)
		require.NoError(t, err)
		require.Equal(t, conformance.Passed, onlyResult(t, report).Outcome)
		require.Empty(t, onlyResult(t, report).Leftovers)
		require.Len(t, report.Leftovers, 1)
		require.Regexp(t, `^\S+/gears\.g1\.`+report.RunID+`\.conformance\.example\.com was deleted, and is still there$`, report.Leftovers[0])
	})
}

// finalizerTransport adds a finalizer that the suite does not know to all definitions.
type finalizerTransport struct{ next http.RoundTripper }

func (h finalizerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/customresourcedefinitions") {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		changed := bytes.Replace(body, []byte(`"metadata":{`), []byte(`"metadata":{"finalizers":["example.com/stays"],`), 1)
		r = r.Clone(r.Context())
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(changed)), int64(len(changed))
	}
	return h.next.RoundTrip(r)
}
