package perturb

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// maxLearned limits how often the normalizer learns from the same two runs.
const maxLearned = 20

// learn changes the normalizer so that the states of two undisturbed runs are equal. It returns an
// error if it finds no rule for a difference.
func (n *normalizer) learn(a, b *changeLog) error {
	for range maxLearned {
		x, y := a.normalized(), b.normalized()
		if x.equal(y) {
			return nil
		}
		if !n.learnNames(x, y) && !n.learnFields(x, y) {
			return fmt.Errorf("perturb: two undisturbed runs have different results; make the workload "+
				"deterministic, wait longer (Pause, Settle), or add to Ignore:\n%s", diffStates(x, y, "one run", "another run"))
		}
	}
	return fmt.Errorf("perturb: undisturbed runs have too many different results:\n%s", diffStates(a.normalized(), b.normalized(), "one run", "another run"))
}

// learnNames adds a prefix for objects with a name that only one of two runs has.
func (n *normalizer) learnNames(x, y normalState) bool {
	learned := false
	for _, key := range sortedKeys(x) {
		if y[key] != nil || len(x[key]) != 1 {
			continue
		}
		for _, other := range sortedKeys(y) {
			if x[other] != nil || other.resource != key.resource || other.namespace != key.namespace {
				continue
			}
			prefix := commonPrefix(key.name, other.name)
			if cut := strings.LastIndexAny(prefix, "-."); cut > 0 {
				prefix = prefix[:cut+1]
			} else {
				continue
			}
			collection := key.resource + " " + key.namespace
			if !slices.Contains(n.prefixes[collection], prefix) {
				n.prefixes[collection] = append(n.prefixes[collection], prefix)
				learned = true
			}
			break
		}
	}
	return learned
}

func commonPrefix(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return a[:i]
}

// learnFields ignores the fields that differ, or the order of lists.
func (n *normalizer) learnFields(x, y normalState) bool {
	learned := false
	for key, texts := range x {
		others := y[key]
		for i := range min(len(texts), len(others)) {
			if texts[i] == others[i] {
				continue
			}
			for _, d := range diffTexts(texts[i], others[i]) {
				learned = n.learnField(key.resource, d) || learned
			}
		}
	}
	return learned
}

func (n *normalizer) learnField(resource string, d difference) bool {
	path := resource + ":" + genericPath(d.path.String())
	known := n.fields
	if d.reordered {
		known = n.unordered
	}
	if known[path] {
		return false
	}
	known[path] = true
	return true
}

// difference is a difference between two JSON values.
type difference struct {
	path fieldPath
	// want and saw are the values, nil for none.
	want, saw any
	// reordered is true if both are lists with the same elements.
	reordered bool
}

// genericPath returns a path with "[]" for all indexes.
func genericPath(path string) string {
	var b strings.Builder
	inIndex := false
	for _, r := range path {
		if inIndex && r >= '0' && r <= '9' {
			continue
		}
		inIndex = r == '['
		b.WriteRune(r)
	}
	return b.String()
}

// diffTexts returns the differences between two JSON texts.
func diffTexts(want, saw string) []difference {
	var a, b any
	if json.Unmarshal([]byte(want), &a) != nil || json.Unmarshal([]byte(saw), &b) != nil {
		return []difference{{want: want, saw: saw}}
	}
	return diffValues(nil, a, b)
}

func diffValues(path fieldPath, want, saw any) []difference {
	if jsonText(want) == jsonText(saw) {
		return nil
	}
	switch a := want.(type) {
	case map[string]any:
		b, ok := saw.(map[string]any)
		if !ok {
			break
		}
		var all []difference
		for _, name := range sortedNames(a, b) {
			all = append(all, diffValues(path.with(name), a[name], b[name])...)
		}
		return all
	case []any:
		b, ok := saw.([]any)
		if !ok {
			break
		}
		if sameElements(a, b) {
			return []difference{{path, want, saw, true}}
		}
		if len(a) != len(b) {
			break
		}
		var all []difference
		for i := range a {
			all = append(all, diffValues(path.with(i), a[i], b[i])...)
		}
		return all
	}
	return []difference{{path: path, want: want, saw: saw}}
}

func sameElements(a, b []any) bool {
	x, y := make([]string, len(a)), make([]string, len(b))
	for i := range a {
		x[i] = jsonText(a[i])
	}
	for i := range b {
		y[i] = jsonText(b[i])
	}
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func sortedNames(maps ...map[string]any) []string {
	var all []string
	for _, m := range maps {
		for name := range m {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// sortedKeys returns the keys of all maps in the order of their texts, each once.
func sortedKeys[M ~map[objectKey]V, V any](states ...M) []objectKey {
	var all []objectKey
	for _, m := range states {
		for key := range m {
			all = append(all, key)
		}
	}
	slices.SortFunc(all, func(a, b objectKey) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(all)
}

// maxDiffLines limits the lines of a diff.
const maxDiffLines = 40

// diffStates returns the differences between two states as lines.
func diffStates(want, saw normalState, wantName, sawName string) string {
	var lines []string
	for _, key := range sortedKeys(want, saw) {
		a, b := want[key], saw[key]
		switch {
		case slices.Equal(a, b):
		case len(a) != len(b):
			lines = append(lines, fmt.Sprintf("%s: %s in %s, %s in %s", key, objectCount(len(a)), wantName, objectCount(len(b)), sawName))
		default:
			for i := range a {
				for _, d := range diffTexts(a[i], b[i]) {
					lines = append(lines, fmt.Sprintf("%s: %s: %s in %s, %s in %s", key, d.path, shortJSON(d.want), wantName, shortJSON(d.saw), sawName))
				}
			}
		}
	}
	if len(lines) > maxDiffLines {
		lines = append(lines[:maxDiffLines], "...")
	}
	return strings.Join(lines, "\n")
}

func objectCount(n int) string {
	switch n {
	case 0:
		return "none"
	case 1:
		return "one"
	}
	return fmt.Sprintf("%d", n)
}

// shortJSON returns the JSON of a value, shortened.
func shortJSON(v any) string {
	if v == nil {
		return "nothing"
	}
	text := jsonText(v)
	const most = 120
	if len(text) > most {
		text = text[:most] + "..."
	}
	return text
}
