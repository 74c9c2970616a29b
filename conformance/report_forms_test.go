package conformance_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"example.com/fakeapi/conformance"
	"example.com/fakeapi/internal/printable"
)

// hostileText is text of a server that could be interpreted as markup in reports.
const hostileText = "</pre><script>alert(1)</script> ]]> \x00\x1b\u009b\u202e &amp; | `x` ```\n## no heading"

// newReport returns a report with all outcomes, leftovers, and hostile text in every field that a
// server controls.
func newReport() conformance.Report {
	of := func(id string, level conformance.Level) conformance.Case {
		return conformance.Case{ID: id, Level: level, Title: "a < b | c", Why: "clients break", Source: "a page"}
	}
	return conformance.Report{
		RunID: "abcde", Server: "v1.37.2" + hostileText, Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Duration: 90 * time.Second,
		Results: []conformance.Result{
			{Case: of("AU-01", conformance.Should), Outcome: conformance.Skipped, Reason: "it needs | two users " + hostileText},
			{Case: of("LS-01/typed", conformance.Must), Outcome: conformance.Passed, Duration: 1500 * time.Millisecond},
			{Case: of("LS-02", conformance.Must), Outcome: conformance.Failed, Err: errors.New(hostileText)},
			{Case: of("LS-03", conformance.May), Outcome: conformance.Passed, Leftovers: []error{errors.New("DELETE " + hostileText)}},
			{Case: of("PV-16", conformance.Must), Outcome: conformance.Skipped, Reason: "none", Leftovers: []error{errors.New("stays")}},
		},
		Leftovers: []error{errors.New("the definition cannot be deleted " + hostileText)},
	}
}

func writeToString(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, write(&b))
	return b.String()
}

func TestTallies(t *testing.T) {
	require.Equal(t, []conformance.Tally{
		{Group: "PV", Level: conformance.Must, Skipped: 1},
		{Group: "LS", Level: conformance.Must, Passed: 1, Failed: 1},
		{Group: "LS", Level: conformance.May, Passed: 1},
		{Group: "AU", Level: conformance.Should, Skipped: 1},
	}, newReport().Tallies())
	require.Equal(t, conformance.Tally{Level: conformance.Must, Passed: 1, Failed: 1, Skipped: 1}, newReport().LevelTally(conformance.Must))
}

// Cases of a group without a title would be missing in reports.
func TestEveryGroupHasATitle(t *testing.T) {
	for _, one := range conformance.Cases() {
		require.NotEmpty(t, conformance.GroupTitle(one.Group()), one.ID)
	}
	require.Empty(t, conformance.GroupTitle("XX"))
}

func TestReportAsJSON(t *testing.T) {
	var got conformance.ReportJSON
	decoder := json.NewDecoder(strings.NewReader(writeToString(t, newReport().WriteJSON)))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&got))
	require.Equal(t, 2, got.Passed)
	require.Equal(t, 1, got.Failed)
	require.Equal(t, 2, got.Skipped)
	require.InDelta(t, 90, got.Seconds, 0.001)
	require.Len(t, got.Tallies, 4)
	require.Equal(t, conformance.TallyJSON{Group: "LS", Title: "list", Level: "MUST", Passed: 1, Failed: 1}, got.Tallies[1])
	require.Equal(t, conformance.CaseJSON{
		ID: "LS-01/typed", Rule: "LS-01", Group: "LS", Level: "MUST", Title: "a < b | c", Why: "clients break", Source: "a page", Outcome: "passed", Seconds: 1.5,
	}, got.Cases[1])
	require.Equal(t, hostileText, got.Cases[2].Error)
	require.Len(t, got.Leftovers, 1)
}

// element is an element of an XML document.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []element  `xml:",any"`
	Text     string     `xml:",chardata"`
}

func (e element) attr(name string) string {
	for _, one := range e.Attrs {
		if one.Name.Local == name {
			return one.Value
		}
	}
	return ""
}

// junitSchema is what the schemas of Ant and Jenkins both allow: the attributes of an element, and
// its children in order. Ant requires or allows all of them.
var junitSchema = map[string]struct{ attrs, children []string }{
	"testsuites": {nil, []string{"testsuite"}},
	"testsuite": {
		[]string{"package", "id", "name", "timestamp", "hostname", "tests", "failures", "errors", "skipped", "time"},
		[]string{"properties", "testcase", "system-out", "system-err"},
	},
	"properties": {nil, []string{"property"}},
	"property":   {[]string{"name", "value"}, nil},
	"testcase":   {[]string{"name", "classname", "time"}, []string{"skipped", "error", "failure"}},
	"skipped":    {[]string{"message"}, nil},
	"error":      {[]string{"message", "type"}, nil},
	"failure":    {[]string{"message", "type"}, nil},
	"system-out": {}, "system-err": {},
}

func requireJUnit(t *testing.T, e element) {
	t.Helper()
	schema, known := junitSchema[e.XMLName.Local]
	require.True(t, known, e.XMLName.Local)
	var attrs []string
	for _, one := range e.Attrs {
		attrs = append(attrs, one.Name.Local)
	}
	require.ElementsMatch(t, schema.attrs, attrs, e.XMLName.Local)
	at := 0
	for _, child := range e.Children {
		next := slices.Index(schema.children, child.XMLName.Local)
		require.GreaterOrEqual(t, next, at, "%s in %s", child.XMLName.Local, e.XMLName.Local)
		at = next
		requireJUnit(t, child)
	}
	if e.XMLName.Local == "testcase" {
		require.LessOrEqual(t, len(e.Children), 1)
	}
}

func TestReportAsJUnit(t *testing.T) {
	text := writeToString(t, newReport().WriteJUnit)
	var got element
	require.NoError(t, xml.Unmarshal([]byte(text), &got))
	requireJUnit(t, got)
	require.Len(t, got.Children, 4)

	lists := got.Children[1]
	require.Equal(t, "LS list", lists.attr("name"))
	require.Equal(t, []string{"3", "1", "1", "0", "1.500", "2026-01-02T03:04:05"}, []string{
		lists.attr("tests"), lists.attr("failures"), lists.attr("errors"), lists.attr("skipped"), lists.attr("time"), lists.attr("timestamp"),
	})
	failed := lists.Children[2]
	require.Equal(t, "LS-02 a < b | c", failed.attr("name"))
	require.Equal(t, "MUST", failed.Children[0].attr("type"))
	require.Contains(t, failed.Children[0].Text, "</pre><script>")
	require.Contains(t, got.Children[2].Children[1].Children[0].attr("message"), "it needs | two users")
	require.Equal(t, "clean-up", got.Children[3].attr("name"))
}

func TestReportAsHTML(t *testing.T) {
	text := writeToString(t, newReport().WriteHTML)
	require.NotContains(t, text, "<script")
	require.Contains(t, text, "&lt;script&gt;alert(1)")
	require.Contains(t, text, "default-src &#39;none&#39;", "nothing is asked for")
	for _, outside := range []string{"http:", "https:", "url(", "@import", "src="} {
		require.NotContains(t, text, outside)
	}
	require.NotContains(t, text, "ZgotmplZ", "what html/template puts for what it found unsafe")
	require.Contains(t, text, `<details class="group" open>`+"\n<summary><b>LS</b> list")
	require.Contains(t, text, `<tr id="LS-02">`)
	requireWellFormed(t, text)
}

// requireWellFormed checks that all elements are closed in order, and that a parser finds exactly
// the elements that are written, so that text of the server has not opened or closed any.
func requireWellFormed(t *testing.T, text string) {
	t.Helper()
	void := []string{"meta", "link", "br"}
	var open, names []string
	tokens := html.NewTokenizer(strings.NewReader(text))
	for {
		kind := tokens.Next()
		name, _ := tokens.TagName()
		switch kind {
		case html.ErrorToken:
			require.ErrorIs(t, tokens.Err(), io.EOF)
			require.Empty(t, open, "left open")
			parsed, err := html.Parse(strings.NewReader(text))
			require.NoError(t, err)
			var found []string
			for node := range parsed.Descendants() {
				if node.Type == html.ElementNode {
					found = append(found, node.Data)
				}
			}
			require.Equal(t, names, found)
			return
		case html.StartTagToken:
			names = append(names, string(name))
			if !slices.Contains(void, string(name)) {
				open = append(open, string(name))
			}
		case html.EndTagToken:
			require.NotEmpty(t, open, "</%s> closes nothing", name)
			require.Equal(t, open[len(open)-1], string(name))
			open = open[:len(open)-1]
		}
	}
}

func TestReportAsMarkdown(t *testing.T) {
	text := writeToString(t, newReport().WriteMarkdown)
	require.Contains(t, text, "| LS list | MUST | 1 | 1 | 0 |\n")
	require.Contains(t, text, "### LS-02, MUST: a \\< b \\| c\n\n````text\n"+printable.Text(hostileText)+"\n````\n")
	require.Contains(t, text, `| AU-01 | SHOULD | it needs \| two users \</pre\>\<script\>`)
	require.Contains(t, text, "## Left behind\n")
	inside := false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "````") {
			inside = !inside
		}
		require.False(t, !inside && strings.HasPrefix(line, "## no heading"), "text of the server is a heading")
	}
	require.False(t, inside)
}

// Reports for people have no control characters of the server, and no version that could be taken
// for other text.
func TestReportsEscapeControlCharacters(t *testing.T) {
	r := newReport()
	for name, write := range map[string]func(io.Writer) error{
		"text": func(w io.Writer) error { _, err := r.WriteTo(w); return err }, "junit": r.WriteJUnit, "html": r.WriteHTML, "markdown": r.WriteMarkdown,
	} {
		text := writeToString(t, write)
		require.Equal(t, printable.Text(text), text, name)
		require.NotContains(t, text, "\ufffd", name)
		require.Contains(t, text, "u009b", name)
	}
	require.Contains(t, writeToString(t, func(w io.Writer) error { _, err := r.WriteTo(w); return err }), `server "v1.37.2</pre>`)
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestReportWriteErrors(t *testing.T) {
	r := newReport()
	for _, write := range []func(io.Writer) error{r.WriteJSON, r.WriteJUnit, r.WriteHTML, r.WriteMarkdown} {
		require.ErrorContains(t, write(failingWriter{}), "the disk is full")
	}
}
