package compare

import (
	"fmt"
	"io"
	"strings"

	"example.com/fakeapi/conformance"
	"example.com/fakeapi/internal/printable"
)

// WriteMarkdown writes the report as Markdown: a table of the groups, then the differences and the
// cases that only one side ran.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Comparison\n\nLeft: %s. Right: %s.\n\n| group |", code(r.Left.title()), code(r.Right.title()))
	for _, v := range Verdicts() {
		fmt.Fprintf(&b, " %s |", v)
	}
	b.WriteString(" about |\n|---|" + strings.Repeat("---:|", len(Verdicts())) + "---|\n")
	for _, group := range append(r.groups(), r) {
		name, title := "all", ""
		if group != r {
			name = group.Cases[0].Group()
			title = conformance.GroupTitle(name)
		}
		fmt.Fprintf(&b, "| %s |", name)
		for _, v := range Verdicts() {
			fmt.Fprintf(&b, " %d |", group.Count(v))
		}
		fmt.Fprintf(&b, " %s |\n", title)
	}
	for _, one := range r.Cases {
		one.writeMarkdown(&b)
	}
	for _, side := range []Endpoint{r.Left, r.Right} {
		for _, left := range side.Leftovers {
			fmt.Fprintf(&b, "\nLeft behind on %s: %s\n", code(side.Name), code(left))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c Case) writeMarkdown(b *strings.Builder) {
	switch c.Verdict {
	case Same, Neither:
		return
	case LeftOnly:
		fmt.Fprintf(b, "\n## %s\n\nOn the left only: %s\n", c.heading(), code(c.Right.Reason))
		return
	case RightOnly:
		fmt.Fprintf(b, "\n## %s\n\nOn the right only: %s\n", c.heading(), code(c.Left.Reason))
		return
	}
	fmt.Fprintf(b, "\n## %s\n", c.heading())
	if c.Error != "" {
		fmt.Fprintf(b, "\nNot played to its end: %s\n", code(c.Error))
	}
	for _, one := range c.Differing {
		later := ""
		if one.Later {
			later = ", maybe only a consequence"
		}
		fmt.Fprintf(b, "\nExchange %d%s: %s\n\n| at | left | right |\n|---|---|---|\n", one.Number, later, code(one.Request))
		for i, d := range one.Differences {
			if i == maxDifferences {
				fmt.Fprintf(b, "| and %d more | | |\n", len(one.Differences)-maxDifferences)
				break
			}
			fmt.Fprintf(b, "| %s | %s | %s |\n", code(strings.Trim(d.At+": "+d.Note, ": ")), code(orNone(d.Left)), code(orNone(d.Right)))
		}
	}
}

// code formats text as a code span that is valid in a table cell, with escapes for control
// characters.
func code(text string) string {
	text = printable.Line(strings.Join(strings.Fields(text), " "))
	return "`" + strings.NewReplacer("`", "'", "|", "\\|").Replace(text) + "`"
}
