package differential

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"example.com/fakeapi/internal/cmd/httpdiff"
	"example.com/fakeapi/internal/printable"
)

// Report is the result of a run.
type Report struct {
	Left  string `json:"left"`
	Right string `json:"right"`
	// Seed is the seed of the run.
	Seed uint64 `json:"seed"`
	// Steps, Sequences and Definitions are the numbers of those that were run.
	Steps       int `json:"steps"`
	Sequences   int `json:"sequences"`
	Definitions int `json:"definitions"`
	// Classes are the differences by class, those that are not listed first.
	Classes []*Class `json:"classes"`
	// Unconfirmed are the classes of differences that a second run of the sequence did not have.
	Unconfirmed []string `json:"unconfirmed,omitempty"`
}

// Class is a class of differences that probably have the same cause.
type Class struct {
	// Signature is the request and the first difference, without the parts that vary.
	Signature string `json:"signature"`
	// Count is the number of sequences with it.
	Count int `json:"count"`
	// Reason is the reason why the difference is expected, or "" if it is not listed.
	Reason string `json:"reason,omitempty"`
	// Example is the smallest sequence. It is nil for a listed difference.
	Example *Example `json:"example,omitempty"`
}

// Example is a sequence with a difference.
type Example struct {
	// Definition is the CustomResourceDefinition as JSON, or "" if no step needs it.
	Definition string `json:"definition,omitempty"`
	// Steps are the requests; the difference is in the last response or in a watch.
	Steps       []Step               `json:"steps"`
	Differences httpdiff.Differences `json:"differences"`
}

func (r *runner) report() *Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	classes := slices.SortedFunc(maps.Values(r.classes), func(a, b *Class) int {
		return cmp.Or(cmp.Compare(min(1, len(a.Reason)), min(1, len(b.Reason))), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Signature, b.Signature))
	})
	return &Report{
		Left: r.Left.Name, Right: r.Right.Name, Seed: r.Seed, Steps: r.steps, Sequences: r.sequences, Definitions: r.rounds,
		Classes: classes, Unconfirmed: slices.Sorted(slices.Values(r.unconfirmed)),
	}
}

// Unlisted returns the classes that are not listed.
func (r *Report) Unlisted() []*Class {
	var all []*Class
	for _, class := range r.Classes {
		if class.Reason == "" {
			all = append(all, class)
		}
	}
	return all
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}

// WriteText writes the classes with their smallest sequences, and a summary.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, class := range r.Classes {
		if class.Reason != "" {
			continue
		}
		fmt.Fprintf(&b, "DIFFERENT  %s\n", class.Signature)
		if class.Example != nil {
			class.Example.writeText(&b)
		}
	}
	for _, class := range r.Classes {
		if class.Reason != "" {
			fmt.Fprintf(&b, "LISTED  %d times  %s\n  %s\n", class.Count, class.Signature, class.Reason)
		}
	}
	unlisted := len(r.Unlisted())
	fmt.Fprintf(&b, "left %s, right %s, seed %d: %d steps in %d sequences with %d definitions: %d classes of differences, %d listed ones, %d not confirmed\n",
		r.Left, r.Right, r.Seed, r.Steps, r.Sequences, r.Definitions, unlisted, len(r.Classes)-unlisted, len(r.Unconfirmed))
	_, err := io.WriteString(w, printable.Text(b.String()))
	return err
}

// WriteMarkdown writes the classes with their smallest sequences as Markdown.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Comparison by random requests\n\nLeft: %s. Right: %s. Seed %d: %d steps in %d sequences with %d definitions.\n",
		cell(r.Left), cell(r.Right), r.Seed, r.Steps, r.Sequences, r.Definitions)
	for _, class := range r.Unlisted() {
		fmt.Fprintf(&b, "\n## %d times\n\n````\n%s\n", class.Count, class.Signature)
		if class.Example != nil {
			class.Example.writeText(&b)
		}
		b.WriteString("````\n")
	}
	b.WriteString("\n## Listed\n\n| times | difference | reason |\n|---:|---|---|\n")
	for _, class := range r.Classes {
		if class.Reason != "" {
			fmt.Fprintf(&b, "| %d | %s | %s |\n", class.Count, cell(class.Signature), cell(class.Reason))
		}
	}
	_, err := io.WriteString(w, printable.Text(b.String()))
	return err
}

// cell formats text as a code span in a cell of a table.
func cell(text string) string {
	return "`" + strings.NewReplacer("`", "'", "|", "\\|", "\n", " ").Replace(text) + "`"
}

// writeText writes the requests and the differences.
func (e *Example) writeText(b *strings.Builder) {
	if e.Definition != "" {
		fmt.Fprintf(b, "  definition: %s\n", e.Definition)
	}
	for i, s := range e.Steps {
		fmt.Fprintf(b, "  %d. %s\n", i+1, strings.ReplaceAll(s.String(), "\n", "\n     "))
	}
	for _, d := range e.Differences[:min(len(e.Differences), maxDifferences)] {
		fmt.Fprintf(b, "    %s\n      left:  %s\n      right: %s\n", strings.Trim(d.At+": "+d.Note, ": "), cmp.Or(d.Left, "nothing"), cmp.Or(d.Right, "nothing"))
	}
}

// maxDifferences is the number of differences that are printed of a sequence.
const maxDifferences = 8
