package policy

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/admission"
)

// maxChangedValue is the number of bytes of a value that a change has.
const maxChangedValue = 200

// changes returns the changes from one object to another, nil if an object cannot be compared.
func changes(before, after runtime.Object) []admission.Change {
	from, err := runtime.DefaultUnstructuredConverter.ToUnstructured(before)
	if err != nil {
		return nil
	}
	to, err := runtime.DefaultUnstructuredConverter.ToUnstructured(after)
	if err != nil {
		return nil
	}
	c := comparison{}
	c.compareObjects("", from, to)
	return c.changes
}

// comparison collects the changes between two values.
type comparison struct{ changes []admission.Change }

func (c *comparison) add(op, path string, value any) {
	change := admission.Change{Op: op, Path: path}
	if op != "remove" {
		change.Value = beginning(value)
	}
	c.changes = append(c.changes, change)
}

func (c *comparison) compare(path string, before, after any) {
	switch from := before.(type) {
	case map[string]any:
		if to, ok := after.(map[string]any); ok {
			c.compareObjects(path, from, to)
			return
		}
	case []any:
		if to, ok := after.([]any); ok {
			c.compareLists(path, from, to)
			return
		}
	}
	if !reflect.DeepEqual(before, after) {
		c.add("replace", path, after)
	}
}

func (c *comparison) compareObjects(path string, before, after map[string]any) {
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if _, ok := before[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		from, wasThere := before[name]
		to, isThere := after[name]
		at := path + "/" + escapePointer.Replace(name)
		switch {
		case !isThere:
			c.add("remove", at, nil)
		case !wasThere:
			c.add("add", at, to)
		default:
			c.compare(at, from, to)
		}
	}
}

// compareLists compares lists. Items at their beginnings and ends that are equal are the same, so
// that one that was inserted or removed is one change.
func (c *comparison) compareLists(path string, before, after []any) {
	first := 0
	for first < min(len(before), len(after)) && reflect.DeepEqual(before[first], after[first]) {
		first++
	}
	for len(before) > first && len(after) > first && reflect.DeepEqual(before[len(before)-1], after[len(after)-1]) {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	at := func(i int) string { return path + "/" + strconv.Itoa(i) }
	both := min(len(before), len(after))
	for i := first; i < both; i++ {
		c.compare(at(i), before[i], after[i])
	}
	for i := both; i < len(after); i++ {
		c.add("add", at(i), after[i])
	}
	for i := len(before) - 1; i >= both; i-- {
		c.add("remove", at(i), nil)
	}
}

// escapePointer escapes a name for a JSON pointer (RFC 6901).
var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// beginning returns the JSON of a value, or its beginning.
func beginning(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	if len(text) <= maxChangedValue {
		return string(text)
	}
	end := maxChangedValue
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return string(text[:end]) + "..."
}
