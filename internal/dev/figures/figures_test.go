package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/cmd/load"
)

const printed = `goos: linux
BenchmarkGet/server-2         	    2000	    150000 ns/op	   9.5 MB/s	    5000 allocs/op
BenchmarkGet/bare-2           	    2000	    100000 ns/op
BenchmarkCustom/list-10000-2  	       3	         2.5 x-configmap
PASS
`

func TestParse(t *testing.T) {
	require.Equal(t, sample{
		"Get/server":        {"ns/op": 150000, "MB/s": 9.5, "allocs/op": 5000},
		"Get/bare":          {"ns/op": 100000},
		"Custom/list-10000": {"x-configmap": 2.5},
	}, parse([]byte(printed), 2))
	one := parse([]byte(strings.ReplaceAll(printed, "-2 ", " ")), 1)
	require.Contains(t, one, "Custom/list-10000", "with one processor no number is appended")
}

func TestRatios(t *testing.T) {
	rounds := []sample{parse([]byte(printed), 2), {"Get/server": {"ns/op": 1}, "Get/bare": {"ns/op": 0.25}}}
	got, err := figure{top: "Get/bare", bottom: "Get/server", unit: "ns/op"}.ratios(rounds)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0.25, 0.667}, got, 0.001)
	got, err = figure{top: "Get/server", unit: "allocs/item"}.ratios(rounds[:1])
	require.NoError(t, err)
	require.Equal(t, []float64{0.5}, got)
	_, err = figure{top: "Get/server", unit: "B/op"}.ratios(rounds)
	require.ErrorContains(t, err, "Get/server did not print B/op")
}

func TestPrintFigures(t *testing.T) {
	f := figure{what: "GET", suite: "fake", bench: "^BenchmarkGet$", top: "Get/bare", bottom: "Get/server", unit: "ns/op", goal: 0.8, atLeast: true}
	var out bytes.Buffer
	require.NoError(t, printFigures(&out, []figure{f}, samples{{"fake", "^BenchmarkGet$"}: {parse([]byte(printed), 2)}}))
	require.Contains(t, out.String(), "\n| GET | 0.67 | at least 0.8: not met | `fake`: `Get/bare` |\n")
	require.Equal(t, "at least 0.8: met", f.verdict(0.8))
	require.Equal(t, "under 2: met", figure{goal: 2}.verdict(1.9))
	require.Equal(t, "under 2: not met", figure{goal: 2}.verdict(2))
	require.Equal(t, "", figure{}.verdict(2))
	require.Equal(t, "at least 0.8: not measured", f.verdict(math.NaN()))
	require.Equal(t, "2 (1 to 4)", spread([]float64{1, 2, 4}))
}

func TestPrintRatios(t *testing.T) {
	report := func(rate, p50, processor float64) *load.Report {
		return &load.Report{Version: "v1.37.2", Figures: []load.Figure{
			{Name: "pod create", Resource: "pods", Clients: 4, PerSecond: rate, P50: p50, ProcessorTime: processor},
			{Name: "get", Clients: 1, PerSecond: 1, P50: 1, ProcessorTime: 2},
			{Name: "events to 1", Clients: 16, PerSecond: 1},
		}}
	}
	var out bytes.Buffer
	require.NoError(t, printRatios(&out, []*load.Report{report(50, 1, 100)}, []*load.Report{report(4, 4, 1200)}))
	require.Contains(t, out.String(), "Beside Kubernetes v1.37.2")
	require.Contains(t, out.String(), "| pod create | 4 | 100 µs | 1200 µs | 12 | at least 10: met | 12 | 0.25 |\n| get | 1 | 2 µs | 2 µs | 1 |  | 1 | 1 |\n| events to 1 | 16 |  |  |  |  | 1 |  |\n")
	require.Error(t, printRatios(&out, []*load.Report{report(50, 1, 1)}, []*load.Report{{}}))
}

// Every figure refers to an existing benchmark.
func TestBenchmarksExist(t *testing.T) {
	for _, f := range figures() {
		files, err := filepath.Glob(filepath.Join("../../..", f.suite, "*_test.go"))
		require.NoError(t, err)
		var all strings.Builder
		for _, name := range files {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			all.Write(text)
		}
		for _, name := range []string{f.top, f.bottom} {
			if name == "" {
				continue
			}
			top, _, _ := strings.Cut(name, "/")
			require.Contains(t, all.String(), "func Benchmark"+top+"(b *testing.B)", f.what)
			first, _, _ := strings.Cut(f.bench, "/")
			require.Regexp(t, first, "Benchmark"+top, f.what)
			require.GreaterOrEqual(t, strings.Count(name, "/"), strings.Count(f.bench, "/"), "%s: the pattern selects only benchmarks below", f.what)
		}
	}
}

// The table has a line for the measured figure.
func TestTables(t *testing.T) {
	t.Chdir("../../..")
	var out bytes.Buffer
	o := options{run: regexp.MustCompile("^.BenchmarkMemory"), rounds: 2, benchtime: "1x"}
	require.NoError(t, tables(t.Context(), o, &out))
	require.Regexp(t, "(?m)^\\| memory of a live object .* \\| [\\d.]+ \\([\\d.]+ to [\\d.]+\\) \\| under 2.5: (not )?met \\| `memstore`: `Memory/live` \\|$", out.String())
	o.rounds = 0
	require.ErrorContains(t, tables(t.Context(), o, &out), "usage")
}

// The command lines in the documents are valid.
func TestDocumentedCalls(t *testing.T) {
	calls := 0
	for _, name := range []string{"BENCHMARKS.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(filepath.Join("../../..", name))
		require.NoError(t, err)
		for _, call := range regexp.MustCompile(`(?m)^    go run \./internal/dev/figures([^#\n]*)`).FindAllStringSubmatch(string(text), -1) {
			_, err := readOptions(strings.Fields(call[1]))
			require.NoError(t, err, call[0])
			calls++
		}
	}
	require.GreaterOrEqual(t, calls, 3)
	_, err := readOptions([]string{"--nonsense"})
	require.Error(t, err)
	_, err = readOptions([]string{"more"})
	require.EqualError(t, err, `unexpected argument "more"`)
}
