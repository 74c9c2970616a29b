package conformance_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
)

// runningCases counts the cases that run.
type runningCases struct {
	mu      sync.Mutex // guards the fields below
	running map[string]bool
	most    int
}

// watch sets the callbacks of a configuration.
func (r *runningCases) watch(c *conformance.Config) {
	r.running = map[string]bool{}
	c.CaseStarted = func(one conformance.Case) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.running[one.ID] = true
		r.most = max(r.most, len(r.running))
	}
	c.CaseFinished = func(one conformance.Result) {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.running, one.Case.ID)
	}
}

// ids returns the cases that run.
func (r *runningCases) ids() (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.running {
		ids = append(ids, id)
	}
	return ids
}

// Cases run at the same time, as many as are allowed, but alone while they change the state of the
// whole server.
func TestCasesRunBesideOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := configInMemory(t)
		c.Run, c.Parallel = regexp.MustCompile(`^(BM|CH|EX|GT|PV|RS|ST|WA)-`), 24
		var seen runningCases
		seen.watch(&c)
		alone := map[string]int{}
		use := func(what string) {
			assert.Len(t, seen.ids(), 1, what)
			alone[what]++
		}
		compact, expire, start := c.Compact, c.ExpireWatches, c.BeginStartup
		c.Compact = func(ctx context.Context) error { use("compact"); return compact(ctx) }
		c.ExpireWatches = func(ctx context.Context) error { use("expire"); return expire(ctx) }
		c.BeginStartup = func(ctx context.Context) (func(), error) { use("start"); return start(ctx) }
		report, err := conformance.Execute(t.Context(), c)
		require.NoError(t, err)
		require.NoError(t, report.Err())
		require.Equal(t, 24, seen.most)
		require.Len(t, alone, 3)
		// One case after the other would wait for more than two minutes.
		require.Less(t, report.Duration, 40*time.Second)
	})
}

// changing matches what differs between two runs on servers in the same state.
var changing = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b\d{4}-\d\d-\d\dT[\d:.]+Z|(resourceVersion|continue)[\\":=]+[\w-]+|resource version: \d+`)

// comparable returns a report as text, without what differs between two runs.
func comparable(r conformance.Report) string {
	r.Duration, r.Started = 0, time.Time{}
	for i := range r.Results {
		r.Results[i].Duration = 0
	}
	var b strings.Builder
	_, _ = r.WriteTo(&b) // a strings.Builder returns no errors
	return changing.ReplaceAllString(b.String(), "*")
}

// The report is the same for any number of cases at a time.
func TestReportIsTheSame(t *testing.T) {
	t.Parallel()
	var reports []string
	for _, n := range []int{1, 3, 32} {
		synctest.Test(t, func(t *testing.T) {
			c := configInMemory(t)
			c.Run, c.Parallel, c.RunID = regexp.MustCompile(`^(AP-0|CD-0|CR|DL-0|GT|HT|NM|SA-1|WH-[01])`), n, "abcde"
			c.Client = &http.Client{Transport: withoutCode(http.StatusConflict)(c.Client.Transport)}
			report, err := conformance.Execute(t.Context(), c)
			require.NoError(t, err)
			require.Greater(t, report.Count(conformance.Failed), 10)
			require.Greater(t, report.Count(conformance.Passed), 200)
			reports = append(reports, comparable(report))
		})
	}
	for _, other := range reports[1:] {
		require.Equal(t, reports[0], other)
	}
}

// A server that applies webhooks or policies to the objects of other cases fails the cases about
// them, and no others.
func TestWrongSelectionFailsNoOtherCases(t *testing.T) {
	t.Parallel()
	for about, wrong := range map[string]fault{
		"^(WH-|DR-07$)": withoutWebhookField("namespaceSelector"),
		"^AP-":          changeMatching(func(m map[string]any) { delete(m, "namespaceSelector") }),
	} {
		synctest.Test(t, func(t *testing.T) {
			c := configInMemory(t)
			c.Run, c.Parallel = regexp.MustCompile(`^(AP-[01]|CR|DR|GT|MD|NM|SA-1|WH-[01])`), 32
			c.Client = &http.Client{Transport: wrong(c.Client.Transport)}
			report, err := conformance.Execute(t.Context(), c)
			require.NoError(t, err)
			require.NotZero(t, report.Count(conformance.Failed))
			for _, result := range report.Results {
				if result.Outcome == conformance.Failed {
					assert.Regexp(t, about, result.Case.ID, result.Err)
				}
			}
		})
	}
}
