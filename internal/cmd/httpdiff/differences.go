package httpdiff

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Difference is a difference between the left side (a recording or a server) and the right side.
type Difference struct {
	// At is the location: "code", "header NAME", or a path in the body such as
	// "body.metadata.name". It is "" for the whole exchange.
	At string `json:"at,omitempty"`
	// Left and Right are the values as JSON or text, truncated to fit a line. "" means that the
	// value is missing.
	Left  string `json:"left,omitempty"`
	Right string `json:"right,omitempty"`
	// Note describes the difference if Left and Right do not.
	Note string `json:"note,omitempty"`
}

// String returns the difference as one line.
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

// join joins two non-empty texts with a colon.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ": " + b
}

// Differences is a list of differences, in the order in which they were found.
type Differences []Difference

// Lines returns one line for each difference.
func (d Differences) Lines() []string {
	lines := make([]string, 0, len(d))
	for _, one := range d {
		lines = append(lines, one.String())
	}
	return lines
}

// Add adds a difference between two values.
func (d *Differences) Add(at string, left, right any) {
	*d = append(*d, Difference{At: at, Left: Short(left), Right: Short(right)})
}

// Addf adds a difference with a note.
func (d *Differences) Addf(at, format string, args ...any) {
	*d = append(*d, Difference{At: at, Note: fmt.Sprintf(format, args...)})
}

// missing and unexpected add values that are only on the left or only on the right.
func (d *Differences) missing(at string, left any) {
	*d = append(*d, Difference{At: at, Left: Short(left)})
}

func (d *Differences) unexpected(at string, right any) {
	*d = append(*d, Difference{At: at, Right: Short(right)})
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// jsonText encodes a value that was decoded from JSON. It returns "" for other values.
func jsonText(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// Short returns a value as JSON, truncated to fit a line of a report.
func Short(v any) string {
	const longest = 300
	text := jsonText(v)
	if len(text) > longest {
		text = text[:longest] + "…"
	}
	return text
}
