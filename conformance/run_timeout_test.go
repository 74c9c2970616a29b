package conformance_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
)

// hangAfter answers n requests, and none from the next one on that is no DELETE, so that the first
// that is not answered is one of a case and not of its clean-up.
func hangAfter(n int64) fault {
	var requests atomic.Int64
	var hangs atomic.Bool
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(r *http.Request) (*http.Response, error) {
			if requests.Add(1) > n && r.Method != http.MethodDelete {
				hangs.Store(true)
			}
			if hangs.Load() {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return next.RoundTrip(r)
		})
	}
}

// A run against a server that hangs ends with a report: the running cases fail, and the report
// names those that were not reached.
func TestRunTimeout(t *testing.T) {
	const reason = "the run did not end within 1m20s"
	for name, answered := range map[string]int64{"never answers": 0, "hangs after some requests": 2000} {
		for _, parallel := range []int{1, 8} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					c := configInMemory(t)
					c.Run, c.Parallel, c.RunTimeout = regexp.MustCompile(`^(CD|CR|GT|LS|NM|SA|WH)`), parallel, 80*time.Second
					c.Client = &http.Client{Transport: hangAfter(answered)(c.Client.Transport)}
					report, err := conformance.Execute(t.Context(), c)
					require.EqualError(t, err, reason)
					require.ErrorContains(t, report.Err(), reason)
					require.Less(t, report.Duration, c.RunTimeout+70*time.Second)
					require.Len(t, report.Results, len(c.SelectedCases()))
					require.Equal(t, answered > 0, report.Count(conformance.Passed) > 0)
					running, missed := 0, 0
					for _, result := range report.Results {
						switch {
						case result.NotReached:
							missed++
							require.Equal(t, conformance.Skipped, result.Outcome)
							require.Equal(t, "not reached: "+reason, result.Reason)
						case result.Outcome == conformance.Failed && strings.Contains(result.Err.Error(), reason):
							running++
						}
					}
					require.NotZero(t, running)
					require.LessOrEqual(t, running, parallel)
					require.Greater(t, missed, 100)
					requireNamed(t, report)
				})
			})
		}
	}
}

// requireNamed requires that each report names the cases that were not reached.
func requireNamed(t *testing.T, report conformance.Report) {
	t.Helper()
	var text, junit, markdown, html, encoded bytes.Buffer
	_, err := report.WriteTo(&text)
	require.NoError(t, err)
	require.NoError(t, report.WriteJUnit(&junit))
	require.NoError(t, report.WriteMarkdown(&markdown))
	require.NoError(t, report.WriteHTML(&html))
	require.NoError(t, report.WriteJSON(&encoded))
	var decoded conformance.ReportJSON
	require.NoError(t, json.Unmarshal(encoded.Bytes(), &decoded))
	for i, result := range report.Results {
		require.Equal(t, result.NotReached, decoded.Cases[i].NotReached)
		if !result.NotReached {
			continue
		}
		id := regexp.QuoteMeta(result.Case.ID)
		require.Regexp(t, `(?m)^skipped `+id+` .*\n\treason: not reached: `, text.String())
		require.Regexp(t, `<testcase name="`+id+` [^>]*>\s*<skipped message="not reached: `, junit.String())
		require.Regexp(t, `(?m)^\| `+id+` \| \w+ \| not reached: `, markdown.String())
		require.Regexp(t, `<tr id="`+id+`">[^§]*?not reached: `, html.String())
	}
}
