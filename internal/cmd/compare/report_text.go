package compare

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"example.com/fakeapi/conformance"
	"example.com/fakeapi/internal/printable"
)

// WriteText writes the report as text: the differences by rule and case, the cases that only one
// side ran, and a summary. Control characters in it are escaped.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, one := range r.Cases {
		switch one.Verdict {
		case Different:
			one.writeText(&b)
		case LeftOnly:
			fmt.Fprintf(&b, "LEFT ONLY  %s  the right skips it: %s\n", one.heading(), indented(one.Right.Reason))
		case RightOnly:
			fmt.Fprintf(&b, "RIGHT ONLY %s  the left skips it: %s\n", one.heading(), indented(one.Left.Reason))
		}
	}
	for _, side := range []Endpoint{r.Left, r.Right} {
		for _, left := range side.Leftovers {
			fmt.Fprintf(&b, "LEFT BEHIND on %s: %s\n", side.Name, indented(left))
		}
	}
	if err := r.writeCounts(&b); err != nil {
		return err
	}
	_, err := io.WriteString(w, printable.Text(b.String()))
	return err
}

// heading returns the heading of the case.
func (c Case) heading() string {
	if c.Level == "" {
		return c.ID + "  " + c.Title
	}
	return fmt.Sprintf("%s [%s] %s", c.ID, c.Level, c.Title)
}

// maxDifferences is the number of differences printed per exchange.
const maxDifferences = 12

func (c Case) writeText(b *strings.Builder) {
	fmt.Fprintf(b, "DIFFERENT  %s\n", c.heading())
	if c.Error != "" {
		fmt.Fprintf(b, "  not played to its end: %s\n", indented(c.Error))
	}
	for _, one := range c.Differing {
		later := ""
		if one.Later {
			later = ", maybe only a consequence"
		}
		fmt.Fprintf(b, "  exchange %d%s: %s\n", one.Number, later, printable.Line(one.Request))
		for i, d := range one.Differences {
			if i == maxDifferences {
				fmt.Fprintf(b, "    and %d more differences\n", len(one.Differences)-maxDifferences)
				break
			}
			fmt.Fprintf(b, "    %s\n", printable.Line(strings.Trim(d.At+": "+d.Note, ": ")))
			if d.Left+d.Right != "" {
				fmt.Fprintf(b, "      left:  %s\n      right: %s\n", printable.Line(orNone(d.Left)), printable.Line(orNone(d.Right)))
			}
		}
	}
	if c.Left.Outcome != c.Right.Outcome {
		fmt.Fprintf(b, "  the case %s on the left and %s on the right: %s\n", c.Left.Outcome, c.Right.Outcome, indented(strings.TrimSpace(c.Left.Reason+"\n"+c.Right.Reason)))
	}
}

func orNone(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// indented indents all lines of text but the first.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

// writeCounts writes a table of the verdicts by group.
func (r *Report) writeCounts(b *strings.Builder) error {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprint(w, "GROUP") // Flush returns the error
	for _, v := range Verdicts() {
		_, _ = fmt.Fprintf(w, "\t%s", strings.ToUpper(string(v)))
	}
	_, _ = fmt.Fprintln(w, "\tABOUT")
	for _, group := range r.groups() {
		_, _ = fmt.Fprint(w, group.Cases[0].Group())
		for _, v := range Verdicts() {
			_, _ = fmt.Fprintf(w, "\t%d", group.Count(v))
		}
		_, _ = fmt.Fprintf(w, "\t%s\n", conformance.GroupTitle(group.Cases[0].Group()))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(b, "left %s, right %s:", r.Left.title(), r.Right.title())
	for i, v := range Verdicts() {
		separator := ","
		if i == 0 {
			separator = ""
		}
		fmt.Fprintf(b, "%s %d %s", separator, r.Count(v), v)
	}
	b.WriteString("\n")
	return nil
}

func (e Endpoint) title() string {
	if e.Server == "" {
		return e.Name
	}
	return e.Name + " (" + printable.Word(e.Server) + ")"
}

// groups splits the report by the group of the cases, in the order of their first case.
func (r *Report) groups() []*Report {
	var all []*Report
	by := map[string]*Report{}
	for _, one := range r.Cases {
		g := by[one.Group()]
		if g == nil {
			g = &Report{}
			by[one.Group()] = g
			all = append(all, g)
		}
		g.Cases = append(g.Cases, one)
	}
	return all
}
