package builtintypes

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// symbols has the values of the symbols of a case: $ns, $id, $user, and those with a #NAME that
// were seen.
type symbols map[string]any

// resolve returns a copy of a body with the values of symbols. It returns an error for a symbol
// with a #NAME that was not seen.
func (s symbols) resolve(value any) (any, error) {
	switch v := value.(type) {
	case object:
		out := make(object, len(v))
		for key, field := range v {
			resolved, err := s.resolve(field)
			if err != nil {
				return nil, err
			}
			out[s.expand(key)] = resolved
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			resolved, err := s.resolve(element)
			if err != nil {
				return nil, err
			}
			out[i] = resolved
		}
		return out, nil
	case string:
		if known, ok := s[v]; ok {
			return known, nil
		}
		if isNamed(v) {
			return nil, fmt.Errorf("%s has no value", v)
		}
		return s.expand(v), nil
	}
	return value, nil
}

// isNamed reports whether a text is a symbol with a #NAME.
func isNamed(text string) bool {
	return strings.HasPrefix(text, "$") && !strings.HasPrefix(text, "$re:") && strings.Contains(text, "#")
}

// expand replaces $ns, $id and $repeat(c,n) in a text.
func (s symbols) expand(text string) string {
	for _, name := range []string{"$ns", "$id"} {
		if strings.Contains(text, name) {
			text = strings.ReplaceAll(text, name, s[name].(string))
		}
	}
	return repeated.ReplaceAllStringFunc(text, func(symbol string) string {
		parts := repeated.FindStringSubmatch(symbol)
		n, err := strconv.Atoi(parts[2])
		if err != nil {
			panic(err)
		}
		return strings.Repeat(parts[1], n)
	})
}

var repeated = regexp.MustCompile(`\$repeat\((.),(\d{1,7})\)`)

// compare returns how an object differs from an expectation.
func (s symbols) compare(want expectation, got object) (differences []string) {
	for _, key := range slices.Sorted(maps.Keys(want.Stored)) {
		differences = append(differences, s.compareValue(key, want.Stored[key], got[key], want.Exact && key == "spec")...)
	}
	for _, path := range want.Absent {
		if value := lookup(got, segments(path)); value != nil {
			differences = append(differences, fmt.Sprintf("%v is %s, want none", path, text(value)))
		}
	}
	return differences
}

// compareValue compares the value at a path. If exact is set, objects have no other fields.
func (s symbols) compareValue(path string, want, got any, exact bool) []string {
	switch want := want.(type) {
	case object:
		got, ok := got.(object)
		if !ok {
			return []string{path + " is not an object"}
		}
		return s.compareObject(path, want, got, exact)
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			return []string{fmt.Sprintf("%s is %s, want %d elements", path, text(got), len(want))}
		}
		var differences []string
		for i := range want {
			differences = append(differences, s.compareValue(fmt.Sprintf("%s.%d", path, i), want[i], got[i], exact)...)
		}
		return differences
	}
	if !s.equal(want, got) {
		return []string{fmt.Sprintf("%s is %s, want %s", path, text(got), text(want))}
	}
	return nil
}

func (s symbols) compareObject(path string, want, got object, exact bool) (differences []string) {
	known := make(map[string]bool, len(want))
	for _, key := range slices.Sorted(maps.Keys(want)) {
		name := s.expand(key)
		known[name] = true
		differences = append(differences, s.compareValue(path+"."+name, want[key], got[name], exact)...)
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if exact && !known[name] && got[name] != nil {
			differences = append(differences, fmt.Sprintf("%s.%s is %s, want none", path, name, text(got[name])))
		}
	}
	return differences
}

// equal compares a value that is not an object or a list.
func (s symbols) equal(want, got any) bool {
	switch want := want.(type) {
	case json.Number:
		number, ok := got.(json.Number)
		return ok && rational(want).Cmp(rational(number)) == 0
	case string:
		if !strings.HasPrefix(want, "$") {
			return got == s.expand(want)
		}
		return s.matches(want, got)
	}
	return want == got
}

func rational(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		panic("not a number: " + n.String())
	}
	return r
}

// matches reports whether a value is one that a symbol stands for. A symbol with a #NAME gets its
// value from the first match.
func (s symbols) matches(symbol string, got any) bool {
	if known, ok := s[symbol]; ok {
		return reflect.DeepEqual(known, got)
	}
	if expression, ok := strings.CutPrefix(symbol, "$re:"); ok {
		value, isText := got.(string)
		return isText && regexp.MustCompile(`^(?:`+s.expand(expression)+`)$`).MatchString(value)
	}
	kind, _, named := strings.Cut(symbol, "#")
	is, ok := kinds[kind]
	if !ok {
		return got == s.expand(symbol) // $ns or $id with more text
	}
	if !is(got) {
		return false
	}
	if named {
		s[symbol] = got
	}
	return true
}

// kinds has the symbols that stand for any value of a kind.
var kinds = map[string]func(any) bool{
	"$any": func(v any) bool { return v != nil },
	"$ip4": func(v any) bool {
		value, _ := v.(string)
		address, err := netip.ParseAddr(value)
		return err == nil && netip.MustParsePrefix("10.96.0.0/12").Contains(address)
	},
	"$port": func(v any) bool {
		number, _ := v.(json.Number)
		port, err := strconv.Atoi(number.String())
		return err == nil && port >= 30000 && port <= 32767
	},
	"$uid": func(v any) bool {
		value, _ := v.(string)
		return uuid.Validate(value) == nil
	},
	"$time": func(v any) bool {
		value, _ := v.(string)
		_, err := time.Parse("2006-01-02T15:04:05.999999999Z", value)
		return err == nil
	},
}

// segments returns the parts of a path of absent.
func segments(path any) (parts []string) {
	list, ok := path.([]any)
	if !ok {
		return strings.Split(path.(string), ".")
	}
	for _, part := range list {
		parts = append(parts, fmt.Sprint(part))
	}
	return parts
}

// lookup returns the value at a path, nil if there is none.
func lookup(value any, path []string) any {
	for _, part := range path {
		switch parent := value.(type) {
		case object:
			value = parent[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(parent) {
				return nil
			}
			value = parent[i]
		default:
			return nil
		}
	}
	return value
}

// text returns a value as JSON, shortened.
func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	if len(data) > 200 {
		return string(data[:200]) + "..."
	}
	return string(data)
}
