package access

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"example.com/fakeapi/internal/printable"
)

// maxTextNames is how many names of objects a row of the text has.
const maxTextNames = 3

// String returns the report as text: a table for each user and user agent, with a row for the verbs
// of the same resource, namespace and names. Rows of denied requests come first and begin with an
// exclamation mark. FIRST is the number of the first request in the timeline, or of the first that
// was denied. REASON is that of the latest decision, such as the binding that allowed it.
// Characters that are not printable are escaped.
func (r Report) String() string {
	var b strings.Builder
	for rest := r.Accesses; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].User == rest[0].User && rest[n].UserAgent == rest[0].UserAgent {
			n++
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		writeTable(&b, rest[:n])
		rest = rest[n:]
	}
	if r.Dropped > 0 {
		fmt.Fprintf(&b, "\n%d requests are not in this report, because its size is limited.\n", r.Dropped)
	}
	return b.String()
}

// writeTable writes the accesses of a user and a user agent.
func writeTable(b *strings.Builder, accesses []Access) {
	fmt.Fprintf(b, "user %s", printable.Line(accesses[0].User))
	if agent := accesses[0].UserAgent; agent != "" {
		fmt.Fprintf(b, ", user agent %s", printable.Line(agent))
	}
	b.WriteByte('\n')
	header := "  RESOURCE\tNAMESPACE\tNAMES\tVERBS\tALLOWED\tDENIED\tFIRST"
	withReason := slices.ContainsFunc(accesses, func(a Access) bool { return a.Reason != "" })
	if withReason {
		header += "\tREASON"
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, header) // a strings.Builder has no errors
	denied, allowed := rowsOf(accesses)
	for _, r := range slices.Concat(denied, allowed) {
		line := r.line()
		if withReason {
			line += "\t" + printable.Line(cmp.Or(r.reason, "-"))
		}
		_, _ = fmt.Fprintln(w, line)
	}
	_ = w.Flush()
}

// row is a row of a table: accesses that differ only in their verbs and numbers.
type row struct {
	rowKey
	verbs           []string
	allowed, denied uint64
	first           uint64
}

// rowKey has what the accesses of a row have in common.
type rowKey struct {
	isDenied                         bool
	target, namespace, names, reason string
}

// rowsOf returns the rows of a table: those of accesses that were denied, and the others.
func rowsOf(accesses []Access) (denied, allowed []*row) {
	known := map[rowKey]*row{}
	for i := range accesses {
		a := &accesses[i]
		key := rowKey{a.Denied > 0, a.target(), a.Namespace, a.namesText(), a.Reason}
		r := known[key]
		if r == nil {
			r = &row{rowKey: key}
			known[key] = r
			if key.isDenied {
				denied = append(denied, r)
			} else {
				allowed = append(allowed, r)
			}
		}
		r.add(a)
	}
	return denied, allowed
}

// add adds an access.
func (r *row) add(a *Access) {
	verb := a.Verb
	if len(a.Grants) > 0 {
		verb = fmt.Sprintf("%s (%d rules)", verb, len(a.Grants))
	}
	r.verbs = append(r.verbs, verb)
	r.allowed, r.denied = r.allowed+a.Allowed, r.denied+a.Denied
	first := a.First
	if r.isDenied {
		first = a.FirstDenied
	}
	if r.first == 0 || first != 0 && first < r.first {
		r.first = first
	}
}

// line returns the cells of the row without the reason, separated by tabs.
func (r *row) line() string {
	slices.SortStableFunc(r.verbs, compareVerbs)
	mark, number := " ", "-"
	if r.isDenied {
		mark = "!"
	}
	if r.first > 0 {
		number = fmt.Sprintf("#%d", r.first)
	}
	return fmt.Sprintf("%s %s\t%s\t%s\t%s\t%d\t%d\t%s", mark, printable.Line(r.target), printable.Line(cmp.Or(r.namespace, "-")),
		printable.Line(r.names), printable.Line(strings.Join(r.verbs, ",")), r.allowed, r.denied, number)
}

// target returns the resource, as in "deployments.apps/status", or the path.
func (a *Access) target() string {
	if a.Resource == "" {
		return a.Path
	}
	text := a.Resource
	if a.APIGroup != "" {
		text += "." + a.APIGroup
	}
	if a.Subresource != "" {
		text += "/" + a.Subresource
	}
	return text
}

// namesText returns the names, or their number if there are many. "-" is no name.
func (a *Access) namesText() string {
	switch {
	case a.MoreNames:
		return fmt.Sprintf("over %d names", len(a.Names))
	case len(a.Names) > maxTextNames:
		return fmt.Sprintf("%d names", len(a.Names))
	case len(a.Names) == 0:
		return "-"
	}
	names := make([]string, len(a.Names))
	for i, name := range a.Names {
		names[i] = cmp.Or(name, "-")
	}
	return strings.Join(names, ",")
}

// verbOrder has the verbs in the order of the text.
func verbOrder() []string {
	return []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
}

// compareVerbs orders the verbs of the API as in verbOrder, and others after them.
func compareVerbs(a, b string) int {
	position := func(verb string) int {
		if i := slices.Index(verbOrder(), verb); i >= 0 {
			return i
		}
		return len(verbOrder())
	}
	return cmp.Or(cmp.Compare(position(a), position(b)), cmp.Compare(a, b))
}
