package compare_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/internal/cmd/compare"
	"example.com/fakeapi/internal/cmd/httpdiff"
	"example.com/fakeapi/internal/printable"
)

// allCases compares two servers by all cases, which is slow.
var allCases = flag.Bool("whole", false, "compare two servers by all cases of the suite, on virtual time")

// newSide returns a Side for srv.
func newSide(srv *fakeapi.Server, cases string) compare.Side {
	return compare.Side{Name: "a server", Config: conformance.Config{
		BaseURL: srv.URL(), Client: srv.Client(), NamespacePrefix: "conformance", Run: regexp.MustCompile(cases), Patience: 5 * time.Minute,
		Compact:       func(context.Context) error { srv.Compact(); return nil },
		ExpireWatches: func(context.Context) error { srv.ForgetHistory(); return nil },
	}}
}

// fewCases selects cases of every kind: errors, lists and pages, watches, races, retries, protobuf
// and generated names.
const fewCases = `^(GT-0|LS-0[1-4]|CH-0[1-4]|CR-20|NM-06|NM-22|OC-14|PB-0|WA-0[1-9]|SI-01|DL-1|CD-01|TB-05|SA-0|HT-|DI-18/index|CN-|SE-0)`

// Two fakeapi servers are equal, whatever their uids, names, times and the order of concurrent
// requests.
func TestSame(t *testing.T) {
	cases := fewCases
	if *allCases {
		cases = ""
	}
	synctest.Test(t, func(t *testing.T) {
		// Without controllers the result does not depend on when they run.
		left, right := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers()), fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers(), fakeapi.WithSeed(2))
		var reported []string
		report, err := compare.Suites(t.Context(), newSide(left, cases), newSide(right, cases), func(one compare.Case) { reported = append(reported, one.ID) })
		require.NoError(t, err)
		var text strings.Builder
		require.NoError(t, report.WriteText(&text))
		require.Zero(t, report.Count(compare.Different)+report.Count(compare.LeftOnly)+report.Count(compare.RightOnly), text.String())
		require.Greater(t, report.Count(compare.Same), 100)
		require.True(t, report.Clean())
		require.Len(t, reported, len(report.Cases))
		compared := 0
		for _, one := range report.Cases {
			compared += one.Exchanges
		}
		require.Greater(t, compared, 300)
	})
}

// compareWithFault compares a server with one that has a fault rule.
func compareWithFault(t *testing.T, cases, rule string) (report *compare.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		left, right := fakeapi.Start(t, fakeapi.WithInMemoryNetwork()), fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		fault, err := faults.Parse(rule)
		require.NoError(t, err)
		_, err = right.Faults().Add(fault)
		require.NoError(t, err)
		report, err = compare.Suites(t.Context(), newSide(left, cases), newSide(right, cases), nil)
		require.NoError(t, err)
	})
	return report
}

// differingCases maps the IDs of the cases that differ to their first difference.
func differingCases(report *compare.Report) map[string]string {
	found := map[string]string{}
	for _, one := range report.Cases {
		if one.Verdict == compare.Different {
			found[one.ID] = one.Differing[0].Differences[0].String()
		}
	}
	return found
}

// A fault causes differences only in the cases that it affects.
func TestDifferent(t *testing.T) {
	for name, test := range map[string]struct {
		cases, rule string
		want        map[string]string
	}{
		"a field": {
			`^(GT-0[12]|LS-01)/`, `lie: when verb(get) && resource(secrets) && code(200) do set(/type, other)`,
			map[string]string{"GT-02/typed": `body.type: want "Opaque" got "other"`},
		},
		"a message": {
			`^GT-0[12]/`, `lie: when code(404) && resource(secrets) do set(/message, "gone fishing")`,
			map[string]string{"GT-01/typed": `body.message: want "secrets \"a\" not found" got "gone fishing"`},
		},
		"a code": {
			`^(GT-01|LS-01)/(typed|custom)$`, `lie: when verb(list) && resource(secrets) do status(503, ServiceUnavailable, "not now")`,
			map[string]string{"LS-01/typed": `code: want`},
		},
		"a header": {
			`^GT-0[12]/`, `lie: when verb(get) && code(200) && resource(secrets) do header(Cache-Control, public)`,
			map[string]string{"GT-02/typed": `header Cache-Control: want "no-cache, private" got "public"`},
		},
		"an event": {
			`^WA-03/`, `lie: when event(DELETED) && resource(secrets) do set(/type, MODIFIED)`,
			map[string]string{"WA-03/typed": `event`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := differingCases(compareWithFault(t, test.cases, test.rule))
			require.Len(t, found, len(test.want), found)
			for id, begin := range test.want {
				require.Contains(t, found[id], begin)
			}
		})
	}
}

// A case whose requests depend on responses is compared up to the first request that differs.
// Differences after the first are marked as later ones.
func TestLaterDifferences(t *testing.T) {
	report := compareWithFault(t, `^CH-02/typed$`, `lie: when verb(list) && resource(secrets) && query(limit) do ignore(limit)`)
	require.Len(t, report.Cases, 1)
	one := report.Cases[0]
	require.Equal(t, compare.Different, one.Verdict)
	require.False(t, one.Differing[0].Later)
	for _, later := range one.Differing[1:] {
		require.True(t, later.Later)
	}
	require.Equal(t, "request", one.Differing[len(one.Differing)-1].Differences[0].At)
	require.Equal(t, conformance.Failed, one.Right.Outcome)
}

// A case that only one side can run has its own verdict.
func TestOneSideOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, right := newSide(fakeapi.Start(t, fakeapi.WithInMemoryNetwork()), `^(EX-04|GT-01)/typed$`), newSide(fakeapi.Start(t, fakeapi.WithInMemoryNetwork()), `^(EX-04|GT-01)/typed$`)
		right.Config.Compact = nil
		for verdict, sides := range map[compare.Verdict][2]compare.Side{compare.LeftOnly: {left, right}, compare.RightOnly: {right, left}, compare.Neither: {right, right}} {
			report, err := compare.Suites(t.Context(), sides[0], sides[1], nil)
			require.NoError(t, err)
			require.Equal(t, verdict, report.Cases[0].Verdict)
			require.Equal(t, compare.Same, report.Cases[1].Verdict)
			require.Contains(t, report.Cases[0].Left.Reason+report.Cases[0].Right.Reason, "Config.Compact")
		}
	})
}

// Both sides may be the same server, which then serves two runs at the same time.
func TestOneServerTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		side := newSide(fakeapi.Start(t, fakeapi.WithInMemoryNetwork()), `^(GT-0|LS-0[12]|SA-0[12]|WA-0[12])`)
		report, err := compare.Suites(t.Context(), side, side, nil)
		require.NoError(t, err)
		require.Empty(t, differingCases(report))
	})
}

func TestSuitesRefuses(t *testing.T) {
	good := newSide(fakeapi.Start(t), `^GT-01/typed$`)
	bad := good
	bad.Config.BaseURL = "nowhere"
	_, err := compare.Suites(t.Context(), good, bad, nil)
	require.ErrorContains(t, err, "a server: conformance: BaseURL")
	other := good
	other.Config.Run = nil
	_, err = compare.Suites(t.Context(), good, other, nil)
	require.ErrorContains(t, err, "the two sides select different cases")
}

// An interrupted comparison cleans up and reports the remaining cases as not run.
func TestSuitesInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var once sync.Once
		left, right := fakeapi.Start(t, fakeapi.WithInMemoryNetwork()), fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		report, err := compare.Suites(ctx, newSide(left, `^(GT|LS)-`), newSide(right, `^(GT|LS)-`), func(one compare.Case) { once.Do(cancel) })
		require.ErrorIs(t, err, context.Canceled)
		require.Greater(t, report.Count(compare.Neither)+report.Count(compare.LeftOnly)+report.Count(compare.RightOnly), 10)
		require.True(t, report.Clean())
		for _, srv := range []*fakeapi.Server{left, right} {
			response, err := srv.Client().Get(srv.URL() + "/api/v1/secrets")
			require.NoError(t, err)
			var list struct{ Items []any }
			require.NoError(t, json.NewDecoder(response.Body).Decode(&list))
			require.NoError(t, response.Body.Close())
			require.Empty(t, list.Items)
		}
	})
}

// Objects that cannot be removed are reported.
func TestLeftBehind(t *testing.T) {
	report := compareWithFault(t, `^GT-01/typed$`, `stuck: when verb(delete) && resource(namespaces) do status(403)`)
	require.False(t, report.Clean())
	require.Empty(t, report.Left.Leftovers)
	require.Regexp(t, `^GT-01/typed: DELETE http://\S+/api/v1/namespaces/conformance-\w{5}-1: `, report.Right.Leftovers[0])
	var text bytes.Buffer
	require.NoError(t, report.WriteText(&text))
	require.Contains(t, text.String(), "LEFT BEHIND on a server: GT-01/typed: ")
}

// All report formats contain the difference and its case.
func TestReports(t *testing.T) {
	report := compareWithFault(t, `^(GT-01|EX-04)/typed$`, `lie: when code(404) && resource(secrets) do set(/message, "gone | fishing")`)
	for name, write := range map[string]func(*compare.Report) (string, error){
		"text": func(r *compare.Report) (string, error) {
			var b bytes.Buffer
			err := r.WriteText(&b)
			return b.String(), err
		},
		"markdown": func(r *compare.Report) (string, error) {
			var b bytes.Buffer
			err := r.WriteMarkdown(&b)
			return b.String(), err
		},
		"json": func(r *compare.Report) (string, error) {
			var b bytes.Buffer
			err := r.WriteJSON(&b)
			return b.String(), err
		},
	} {
		text, err := write(report)
		require.NoError(t, err)
		require.Contains(t, text, "GT-01/typed", name)
		require.Contains(t, text, "body.message", name)
		require.Contains(t, text, "fishing", name)
		require.Contains(t, text, "/secrets/a", name)
	}
	var b bytes.Buffer
	require.NoError(t, report.WriteText(&b))
	require.Regexp(t, `(?m)^GT +0 +1 +0 +0 +0 +get$`, b.String())
	require.Regexp(t, `left a server \(v1\.37\.\d+\), right a server \(v1\.37\.\d+\): 1 same, 1 different, 0 left only, 0 right only, 0 neither\n$`, b.String())
	b.Reset()
	require.NoError(t, report.WriteMarkdown(&b))
	require.Contains(t, b.String(), "| GT | 0 | 1 | 0 | 0 | 0 | get |")
	require.Contains(t, b.String(), `gone \| fishing`)
	b.Reset()
	require.NoError(t, report.WriteJSON(&b))
	var got struct {
		Cases  []compare.Case
		Counts map[compare.Verdict]int
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &got))
	require.Equal(t, 1, got.Counts[compare.Different])
	require.Len(t, got.Cases, 2)
}

// Control characters of a server are escaped, and its text is on one line.
func TestReportsEscapeControlCharacters(t *testing.T) {
	const hostile = "a\x1b[2J\u009b\u202e\n# h"
	report := &compare.Report{
		Left: compare.Endpoint{Name: "left", Server: hostile, Leftovers: []string{hostile}}, Right: compare.Endpoint{Name: "right", Server: "v1.37.2"},
		Cases: []compare.Case{
			{ID: "GT-01", Rule: "GT-01", Verdict: compare.Different, Error: hostile, Differing: []compare.Exchange{
				{Number: 1, Request: hostile, Differences: httpdiff.Differences{{At: hostile, Left: hostile, Right: hostile, Note: hostile}}},
			}},
			{ID: "GT-02", Rule: "GT-02", Verdict: compare.LeftOnly, Right: compare.Outcome{Reason: hostile}},
			{ID: "GT-03", Rule: "GT-03", Verdict: compare.RightOnly, Left: compare.Outcome{Reason: hostile}},
		},
	}
	for name, write := range map[string]func(io.Writer) error{"text": report.WriteText, "markdown": report.WriteMarkdown} {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		require.Equal(t, printable.Text(b.String()), b.String(), name)
		require.Contains(t, b.String(), `"a\x1b[2J\u009b\u202e\n# h"`, name)
		require.NotRegexp(t, `(?m)^# h`, b.String(), name)
	}
}
