package soak

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	prom "github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// scrape reads /metrics once. It returns a function that returns the metrics of a family, which
// must be one of names, in lines such as "resource=pods verb=list 3", in sorted order.
func scrape(t *testing.T, srv *fakeapi.Server, names ...string) func(name string) []string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL()+"/metrics", nil)
	require.NoError(t, err)
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, "text/plain; version=0.0.4; charset=utf-8; escaping=underscores", resp.Header.Get("Content-Type"))
	parser := expfmt.NewTextParser(prom.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(familyLines(string(body), names)))
	require.NoError(t, err)
	return func(name string) (lines []string) {
		for _, m := range families[name].GetMetric() {
			lines = append(lines, formatMetric(m))
		}
		slices.Sort(lines)
		return lines
	}
}

// familyLines returns the lines of some families. It saves the time to parse the others.
func familyLines(text string, names []string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(bare, name) }) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// formatMetric returns the labels of a metric that are not empty, in sorted order, and its value.
// The value of a histogram is the number of observations.
func formatMetric(m *dto.Metric) string {
	var words []string
	for _, l := range m.Label {
		if l.GetValue() != "" && l.GetName() != "component" && l.GetName() != "version" {
			words = append(words, l.GetName()+"="+l.GetValue())
		}
	}
	slices.Sort(words)
	value := m.GetCounter().GetValue() + m.GetGauge().GetValue()
	if h := m.GetHistogram(); h != nil {
		value = float64(h.GetSampleCount())
	}
	return strings.Join(append(words, fmt.Sprint(value)), " ")
}
