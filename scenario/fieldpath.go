package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Field is the expected value of a field of an object.
type Field struct {
	// Path is the path of the field: "spec.replicas", "spec.containers[0].image",
	// `metadata.annotations["example.com/a"]`.
	Path string
	// Value is a string, or any other value as JSON: "3", "true", `["a","b"]`, "null".
	Value string
}

// String returns "PATH=VALUE".
func (f Field) String() string { return f.Path + "=" + quote(f.Value) }

// parseField parses PATH=VALUE.
func parseField(w word) (Field, error) {
	_, rest, err := parsePath(string(w))
	if err != nil {
		return Field{}, fmt.Errorf("expected PATH=VALUE, found %s: %w", w, err)
	}
	text, ok := strings.CutPrefix(rest, "=")
	if !ok {
		return Field{}, fmt.Errorf("expected PATH=VALUE, found %s", w)
	}
	value, err := word(text).text()
	return Field{strings.TrimSuffix(string(w), rest), value}, err
}

// parsePath parses a path up to a "=" or the end. Its elements are names (string) and indices
// (int).
func parsePath(text string) (path []any, rest string, err error) {
	dot := true // a name must follow
	for text != "" && text[0] != '=' {
		var part any
		switch {
		case dot:
			part, text, err = cutName(text)
		case text[0] == '[':
			part, text, err = cutIndex(text[1:])
		case text[0] == '.':
			dot, text = true, text[1:]
			continue
		default:
			err = fmt.Errorf(`expected ".", "[" or "=" before %q`, text)
		}
		if err != nil {
			return nil, "", err
		}
		path, dot = append(path, part), false
	}
	if dot {
		return nil, "", fmt.Errorf("expected the name of a field, found %q", text)
	}
	return path, text, nil
}

func cutName(text string) (any, string, error) {
	n := strings.IndexAny(text, `.[="]`)
	if n < 0 {
		n = len(text)
	}
	if n == 0 {
		return nil, "", fmt.Errorf("expected the name of a field, found %q", text)
	}
	return text[:n], text[n:], nil
}

// cutIndex parses an index in brackets, after the opening one.
func cutIndex(text string) (part any, rest string, err error) {
	if quoted, err := strconv.QuotedPrefix(text); err == nil && quoted[0] == '"' {
		part, err = strconv.Unquote(quoted)
		if err != nil {
			return nil, "", err
		}
		text = text[len(quoted):]
	} else {
		digits, _, _ := strings.Cut(text, "]")
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil {
			return nil, "", fmt.Errorf("expected a number or a text in double quotes between brackets, found %q", digits)
		}
		part, text = int(n), text[len(digits):]
	}
	rest, ok := strings.CutPrefix(text, "]")
	if !ok {
		return nil, "", fmt.Errorf(`expected "]", found %q`, text)
	}
	return part, rest, nil
}

// check compares the field of an object with the expected value.
func (f Field) check(object map[string]any) error {
	path, rest, err := parsePath(f.Path)
	if err != nil {
		return fmt.Errorf("path %q: %w", f.Path, err)
	}
	if rest != "" {
		return fmt.Errorf("path %q: expected the end, found %q", f.Path, rest)
	}
	var at any = object
	for _, part := range path {
		next, ok := child(at, part)
		if !ok {
			return mismatch{f.String(), "no such field"}
		}
		at = next
	}
	if saw := formatValue(at); saw != f.Value {
		return mismatch{f.String(), Field{f.Path, saw}.String()}
	}
	return nil
}

func child(value any, part any) (any, bool) {
	switch value := value.(type) {
	case map[string]any:
		name, ok := part.(string)
		if !ok {
			return nil, false
		}
		v, ok := value[name]
		return v, ok
	case []any:
		n, ok := part.(int)
		if !ok || n >= len(value) {
			return nil, false
		}
		return value[n], true
	}
	return nil, false
}

// formatValue formats a value of an object, a string as it is and any other value as JSON.
func formatValue(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprintf("%v", value)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
