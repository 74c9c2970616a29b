package conformance

import (
	"fmt"
	"io"
	"strings"
	"time"

	"example.com/fakeapi/internal/printable"
)

// WriteMarkdown writes the report as Markdown: a table of outcomes by group and level, the
// failures, the reasons of skipped cases, and the leftovers. Passed cases are only counted. It
// returns errors of w.
func (r Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Conformance\n\nServer %s, run %s, %s, %s: %d passed, %d failed, %d skipped.\n", plainText(r.server()), plainText(r.RunID),
		r.Started.UTC().Format(time.RFC3339), r.Duration.Round(time.Second), r.Count(Passed), r.Count(Failed), r.Count(Skipped))
	b.WriteString("\n| group | level | passed | failed | skipped |\n|---|---|---:|---:|---:|\n")
	for _, t := range r.Tallies() {
		fmt.Fprintf(&b, "| %s %s | %s | %d | %d | %d |\n", t.Group, GroupTitle(t.Group), t.Level, t.Passed, t.Failed, t.Skipped)
	}
	r.markdownFailures(&b)
	if r.Count(Skipped) > 0 {
		b.WriteString("\n## Skipped\n\n| case | level | reason |\n|---|---|---|\n")
	}
	for _, one := range r.Results {
		if one.Outcome == Skipped {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", one.Case.ID, one.Case.Level, plainText(one.Reason))
		}
	}
	r.markdownLeftovers(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Report) markdownFailures(b *strings.Builder) {
	if r.Count(Failed) > 0 {
		b.WriteString("\n## Failed\n")
	}
	for _, one := range r.Results {
		if one.Outcome == Failed {
			fmt.Fprintf(b, "\n### %s, %s: %s\n\n%s\n\nWhy: %s. Source: %s.\n", one.Case.ID, one.Case.Level, plainText(one.Case.Title),
				fenced(one.Err.Error()), plainText(one.Case.Why), plainText(one.Case.Source))
		}
	}
}

func (r Report) markdownLeftovers(b *strings.Builder) {
	left := r.allLeftovers()
	if len(left) > 0 {
		b.WriteString("\n## Left behind\n")
	}
	for _, one := range left {
		fmt.Fprintf(b, "\n%s\n", fenced(one))
	}
}

// server returns the version of the server for the report. It is quoted unless it is one word.
func (r Report) server() string {
	if r.Server == "" {
		return "of no version"
	}
	return printable.Word(r.Server)
}

// allLeftovers returns the leftovers of the cases and of the run.
func (r Report) allLeftovers() (all []string) {
	for _, one := range r.Results {
		if err := leftovers(one.Case.ID, one.Leftovers); err != nil {
			all = append(all, err.Error())
		}
	}
	if err := leftovers("the run", r.Leftovers); err != nil {
		all = append(all, err.Error())
	}
	return all
}

// plainText escapes text for Markdown, in one line. Control characters become escapes.
func plainText(s string) string {
	var b strings.Builder
	for _, r := range printable.Line(strings.Join(strings.Fields(s), " ")) {
		if strings.ContainsRune("\\`*_{}[]<>()#+!|~&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// fenced returns text as a code block, with a fence that the text does not contain.
func fenced(s string) string {
	s = printable.Text(s)
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "text\n" + s + "\n" + fence
}
