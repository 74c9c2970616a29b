package conformance

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // for the parts of the page
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"time"

	"example.com/fakeapi/internal/printable"
)

var (
	//go:embed report.html
	reportHTML string
	//go:embed report.css
	reportCSS string
)

var reportTemplate = template.Must(template.New("report").Parse(reportHTML))

// The data of the page, its groups and their cases. Text of the server is in plain strings, which
// html/template escapes.
type (
	htmlPage struct {
		Policy, Server, ID, Started string
		Duration                    time.Duration
		CSS                         template.CSS
		Levels                      []Tally
		Sections                    []htmlSection
		Leftovers                   []string
	}
	htmlSection struct {
		Group, Title            string
		Passed, Failed, Skipped int
		Cases                   []CaseJSON
	}
)

// WriteHTML writes the report as one HTML page without scripts and external resources. It has all
// cases by group, with the groups that have failures expanded. It returns errors of w.
func (r Report) WriteHTML(w io.Writer) error {
	sum := sha256.Sum256([]byte(reportCSS))
	page := htmlPage{
		// This allows only the style of the page itself.
		Policy: "default-src 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'",
		Server: r.server(), ID: r.RunID, Started: r.Started.UTC().Format(time.RFC3339), Duration: r.Duration.Round(time.Second),
		CSS: template.CSS(reportCSS),
	}
	for _, one := range r.allLeftovers() {
		page.Leftovers = append(page.Leftovers, printable.Text(one))
	}
	for _, level := range []Level{Must, Should, May} {
		page.Levels = append(page.Levels, r.LevelTally(level))
	}
	for _, s := range r.sections() {
		one := htmlSection{Group: s.name, Title: s.title, Passed: s.count(Passed), Failed: s.count(Failed), Skipped: s.count(Skipped)}
		for _, result := range s.results {
			shown := result.json()
			shown.Reason, shown.Error = printable.Text(shown.Reason), printable.Text(shown.Error)
			one.Cases = append(one.Cases, shown)
		}
		page.Sections = append(page.Sections, one)
	}
	out := bufio.NewWriter(w)
	if err := reportTemplate.Execute(out, page); err != nil {
		return fmt.Errorf("conformance: %w", err)
	}
	return out.Flush()
}
