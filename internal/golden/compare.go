package golden

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// differences are lines that say what of an answer is not as recorded.
type differences []string

func (d *differences) add(at, format string, args ...any) {
	*d = append(*d, at+": "+fmt.Sprintf(format, args...))
}

// compare walks through a recorded value and one that came, both as decode gives
// them.
func (s *symbols) compare(at string, want, got any, d *differences) {
	switch want := want.(type) {
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			s.compareObjects(at, want, got, d)
			return
		}
	case []any:
		if got, ok := got.([]any); ok {
			s.compareArrays(at, want, got, d)
			return
		}
	case string:
		if got, ok := got.(string); ok {
			if different := s.match(want, got); different != "" {
				d.add(at, "%s", different)
			}
			return
		}
	default: // json.Number, bool, nil
		if want == got {
			return
		}
	}
	d.add(at, "%s", wantGot(want, got))
}

func (s *symbols) compareObjects(at string, want, got map[string]any, d *differences) {
	met := map[string]bool{}
	for _, k := range sortedKeys(want) {
		key := s.key(k, got)
		met[key] = true
		if value, ok := got[key]; ok {
			s.compare(at+"."+k, want[k], value, d)
		} else {
			d.add(at+"."+k, "missing, want %s", short(want[k]))
		}
	}
	for _, k := range sortedKeys(got) {
		if !met[k] {
			d.add(at+"."+k, "unexpected %s", short(got[k]))
		}
	}
}

// key is the key that stands for a recorded one, which may have symbols in it.
func (s *symbols) key(recorded string, got map[string]any) string {
	if _, same := got[recorded]; same || !symbolText.MatchString(recorded) {
		return recorded
	}
	for _, k := range sortedKeys(got) {
		if s.match(recorded, k) == "" {
			return k
		}
	}
	return recorded
}

func (s *symbols) compareArrays(at string, want, got []any, d *differences) {
	if len(want) != len(got) {
		d.add(at, "%d items for %d: %s", len(got), len(want), wantGot(want, got))
	}
	for i := range min(len(want), len(got)) {
		s.compare(fmt.Sprintf("%s[%d]", at, i), want[i], got[i], d)
	}
}

// comparedHeaders are those that say something about an API server.
var comparedHeaders = []string{"Allow", "Content-Encoding", "Content-Type", "Location", "Retry-After", "Warning"}

// compareHeaders looks at comparedHeaders, and at the others for their symbols.
func (s *symbols) compareHeaders(want map[string][]string, got http.Header, d *differences) {
	for _, name := range comparedHeaders {
		if values := got.Values(name); len(want[name]) == 0 && len(values) > 0 {
			d.add("header "+name, "unexpected %q", values)
		}
	}
	for _, name := range sortedKeys(want) {
		different := s.match(strings.Join(want[name], " | "), strings.Join(got.Values(name), " | "))
		if different != "" && slices.Contains(comparedHeaders, name) {
			d.add("header "+name, "%s", different)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func wantGot(want, got any) string {
	return fmt.Sprintf("want %s got %s", short(want), short(got))
}

// inJSON writes a value that came out of JSON. (Others are the callers' mistake
// and read as nothing.)
func inJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// short is a value as JSON, cut to what fits a line of a report.
func short(v any) string {
	const longest = 300
	text := inJSON(v)
	if len(text) > longest {
		text = text[:longest] + "…"
	}
	return text
}
