package httpdiff

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Difference is one thing that is not the same on the left, what a recording or another server has, and on the right, what came.
type Difference struct {
	// At is the place: "code", "header NAME", or a path into the body, "body.metadata.name". It is "" for the whole exchange.
	At string `json:"at,omitempty"`
	// Left and Right are what is there, as JSON or text, cut to what fits a line; "" is for nothing.
	Left  string `json:"left,omitempty"`
	Right string `json:"right,omitempty"`
	// Note says what is wrong where the two sides do not tell.
	Note string `json:"note,omitempty"`
}

// String gives the difference as a line.
func (d Difference) String() string {
	text := d.Note
	switch {
	case d.Left != "" && d.Right != "":
		text = join(text, "want "+d.Left+" got "+d.Right)
	case d.Left != "":
		text = join(text, "missing, want "+d.Left)
	case d.Right != "":
		text = join(text, "unexpected "+d.Right)
	}
	return join(d.At, text)
}

// join puts a colon between two texts that are there.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ": " + b
}

// Differences is a list of them, in the order in which they were found.
type Differences []Difference

// Lines gives each as a line.
func (d Differences) Lines() []string {
	lines := make([]string, 0, len(d))
	for _, one := range d {
		lines = append(lines, one.String())
	}
	return lines
}

// Add notes that two values differ at a place.
func (d *Differences) Add(at string, left, right any) {
	*d = append(*d, Difference{At: at, Left: Short(left), Right: Short(right)})
}

// Addf notes something else about a place.
func (d *Differences) Addf(at, format string, args ...any) {
	*d = append(*d, Difference{At: at, Note: fmt.Sprintf(format, args...)})
}

// missing and unexpected note what is on one side only.
func (d *Differences) missing(at string, left any) {
	*d = append(*d, Difference{At: at, Left: Short(left)})
}

func (d *Differences) unexpected(at string, right any) {
	*d = append(*d, Difference{At: at, Right: Short(right)})
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// jsonText writes a value that came out of JSON. (Others are the callers' mistake
// and read as nothing.)
func jsonText(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// Short is a value as JSON, cut to what fits a line of a report.
func Short(v any) string {
	const longest = 300
	text := jsonText(v)
	if len(text) > longest {
		text = text[:longest] + "…"
	}
	return text
}
