package differential

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
)

// values makes random values.
type values struct {
	*rand.Rand
	// invalid is the number of values in a thousand that do not conform to the schema.
	invalid int
}

// pick returns one of the items.
func pick[T any](r *rand.Rand, items ...T) T { return items[r.IntN(len(items))] }

// value returns a value for a schema.
func (g *values) value(s object) any {
	if g.IntN(1000) < g.invalid {
		return g.anyValue(2)
	}
	if fixed, ok := s["fixed"]; ok {
		return fixed
	}
	if s["nullable"] == true && g.IntN(4) == 0 {
		return nil
	}
	if s["x-kubernetes-int-or-string"] == true {
		return pick[any](g.Rand, number("1"), "5%", number("2.0"), "a")
	}
	if items, _ := s["enum"].([]any); len(items) > 0 {
		return pick(g.Rand, items...)
	}
	switch s["type"] {
	case "string":
		if format, _ := s["format"].(string); format != "" && g.IntN(4) > 0 {
			return pick(g.Rand, formatted(format)...)
		}
		return pick(g.Rand, "a", "b", "ab", "", "abc")
	case "integer":
		return number(pick(g.Rand, "0", "1", "2", "4", "8", "12", "2.0", "1e1", "-0"))
	case "number":
		return number(pick(g.Rand, "0.5", "1", "1.5", "2.0", "1e3", "-0.0", "3", "1.25"))
	case "boolean":
		return g.IntN(2) == 0
	case "array":
		items := []any{}
		for range g.IntN(3) {
			items = append(items, g.value(schemaOf(s["items"])))
		}
		return items
	}
	return g.object(s)
}

// formatted returns strings of a format, and some that are nearly.
func formatted(format string) []string {
	switch format {
	case "date":
		return []string{"2024-02-29", "2023-02-29", "2024-2-9", "2024-02-29T00:00:00Z"}
	case "date-time":
		return []string{"2024-02-29T01:02:03Z", "2024-02-29T01:02:03.5+01:00", "2024-02-29t01:02:03z", "2024-02-29 01:02:03", "2024-02-29"}
	case "duration":
		return []string{"1h30m", "1.5h", "22 ns", "3 days", "1w", "-1s", "1", "P1D"}
	case "byte":
		return []string{"YQ==", "YQ", "Y-_=", "a b"}
	case "uuid":
		return []string{"123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000", "123e4567-e89b-12d3-a456"}
	case "ipv4":
		return []string{"1.2.3.4", "01.2.3.4", "::1", "1.2.3"}
	case "cidr":
		return []string{"1.2.3.0/24", "1.2.3.4/24", "::/0", "1.2.3.4"}
	case "email":
		return []string{"a@example.com", "a@b", "A <a@example.com>", "@example.com"}
	case "hostname":
		return []string{"example.com", "a_b.com", "-a.com", "1.2.3.4"}
	case "uri":
		return []string{"http://example.com/a?b", "a/b", "/a", "http://[::1", "urn:a:b"}
	case "mac":
		return []string{"01:23:45:67:89:ab", "01-23-45-67-89-AB", "0123.4567.89ab", "01:23:45"}
	}
	return []string{"a-b", "a.b", "A", "-a", "a b"}
}

// object returns an object for a schema.
func (g *values) object(s object) any {
	o := object{}
	if s["x-kubernetes-embedded-resource"] == true {
		maps.Copy(o, object{"apiVersion": "v1", "kind": "Thing", "metadata": object{"name": "a"}})
	}
	properties := schemaOf(s["properties"])
	for _, name := range sortedKeys(properties) {
		required, _ := s["required"].([]any)
		if g.IntN(2) == 0 || slices.Contains(required, any(name)) || name == "k" {
			o[name] = g.value(schemaOf(properties[name]))
		}
	}
	if items, ok := s["additionalProperties"].(object); ok {
		for range g.IntN(3) {
			o[pick(g.Rand, "a", "b", "c")] = g.value(items)
		}
	}
	if s["x-kubernetes-preserve-unknown-fields"] == true || g.IntN(1000) < g.invalid {
		for range g.IntN(3) {
			o[pick(g.Rand, "x", "y", "z")] = g.anyValue(2)
		}
	}
	return o
}

// anyValue returns a value without a schema.
func (g *values) anyValue(depth int) any {
	switch g.IntN(9) {
	case 0:
		return nil
	case 1:
		return pick(g.Rand, "", "a", "abc", "1", "true")
	case 2:
		return number(pick(g.Rand, "0", "1", "-1", "7", "2147483648", "9007199254740993", "9223372036854775807"))
	case 3:
		return number(pick(g.Rand, "2.0", "1e3", "-0.0", "1.5", "1e21", "0.1e1", "100000000000000000000", "1E-7", "9223372036854775808"))
	case 4:
		return g.IntN(2) == 0
	case 5:
		return []any{}
	case 6:
		return object{}
	}
	if depth == 0 {
		return "a"
	}
	if g.IntN(2) == 0 {
		return []any{g.anyValue(depth - 1), g.anyValue(depth - 1)}
	}
	return object{pick(g.Rand, "x", "y"): g.anyValue(depth - 1), pick(g.Rand, "a", "x"): g.anyValue(depth - 1)}
}

// number returns a number that is written as this text.
func number(text string) json.RawMessage { return json.RawMessage(text) }

// schemaOf returns v as a schema. One that is missing is empty.
func schemaOf(v any) object {
	s, _ := v.(object)
	return s
}

// jsonText encodes a value of this package. Keys are sorted.
func jsonText(v any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "null" // no value of this package
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// parse decodes JSON and keeps the text of numbers.
func parse(text string) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var v any
	err := decoder.Decode(&v)
	return v, err
}

// parseObject decodes an object. A text that is none results in nil.
func parseObject(text string) object {
	v, _ := parse(text)
	o, _ := v.(object)
	return o
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
