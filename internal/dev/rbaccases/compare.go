package rbaccases

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// response is the response to a request. body is nil for a watch.
type response struct {
	code int
	body []byte
}

// compare returns how a response differs from what a request wants, or "".
func (r *request) compare(got response) string {
	var body any
	if len(got.body) > 0 {
		if err := json.Unmarshal(got.body, &body); err != nil && got.code == r.Code && r.comparesBody() {
			return fmt.Sprintf("the response is no JSON: %q", got.body)
		}
	}
	if got.code != r.Code {
		return fmt.Sprintf("code %d, want %d: %s", got.code, r.Code, text(body))
	}
	if want := r.wantedReason(got); want != "" && lookup(body, "reason") != want {
		return fmt.Sprintf("reason %v, want %s", lookup(body, "reason"), want)
	}
	if message, _ := lookup(body, "message").(string); r.Message != "" && !matches(r.Message, message) {
		return fmt.Sprintf("message %q, want %q", message, r.Message)
	}
	var differences []string
	if r.Details != nil {
		differences = append(differences, compareValue("details", r.Details, lookup(body, "details"))...)
	}
	for _, key := range slices.Sorted(maps.Keys(r.Answer)) {
		differences = append(differences, compareValue(key, r.Answer[key], lookup(body, key))...)
	}
	differences = append(differences, r.compareElements(body)...)
	for _, path := range r.Absent {
		if value := lookup(body, path); value != nil {
			differences = append(differences, fmt.Sprintf("%s is %s, want none", path, text(value)))
		}
	}
	return strings.Join(differences, "; ")
}

func (r *request) comparesBody() bool {
	return r.Message != "" || r.Reason != "" || r.Details != nil || r.Answer != nil || r.Has != nil || r.HasNot != nil || r.Absent != nil
}

// wantedReason returns the reason of the Status. That of a 403 is Forbidden unless the request says
// otherwise. The response to a HEAD has none.
func (r *request) wantedReason(got response) string {
	if r.Reason == "" && r.Code == 403 && len(got.body) > 0 {
		return "Forbidden"
	}
	return r.Reason
}

// compareElements compares the lists of has and hasNot.
func (r *request) compareElements(body any) (differences []string) {
	for _, path := range slices.Sorted(maps.Keys(r.Has)) {
		for _, element := range r.Has[path] {
			if !contains(lookup(body, path), element) {
				differences = append(differences, fmt.Sprintf("%s lacks %s: %s", path, text(element), text(lookup(body, path))))
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(r.HasNot)) {
		for _, element := range r.HasNot[path] {
			if contains(lookup(body, path), element) {
				differences = append(differences, fmt.Sprintf("%s has %s", path, text(element)))
			}
		}
	}
	return differences
}

// compareValue compares the value at a path. Objects may have other fields, lists may not have
// other elements.
func compareValue(path string, want, got any) (differences []string) {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s is %s, want an object", path, text(got))}
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			differences = append(differences, compareValue(path+"."+key, want[key], object[key])...)
		}
		return differences
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return []string{fmt.Sprintf("%s is %s, want %s", path, text(got), text(want))}
		}
		for i := range want {
			differences = append(differences, compareValue(fmt.Sprintf("%s.%d", path, i), want[i], list[i])...)
		}
		return differences
	case string:
		if value, ok := got.(string); ok && matches(want, value) {
			return nil
		}
	default:
		if reflect.DeepEqual(want, got) {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s is %s, want %s", path, text(got), text(want))}
}

// matches reports whether a text is equal to want, or matches $re:REGEXP as a whole.
func matches(want, got string) bool {
	expression, ok := strings.CutPrefix(want, "$re:")
	if !ok {
		return want == got
	}
	return regexp.MustCompile(`(?s)\A(?:` + expression + `)\z`).MatchString(got)
}

// contains reports whether a list has an element.
func contains(list, element any) bool {
	values, _ := list.([]any)
	return slices.ContainsFunc(values, func(value any) bool { return reflect.DeepEqual(value, element) })
}

// lookup returns the value at a path with dots, nil if there is none.
func lookup(value any, path string) any {
	for part := range strings.SplitSeq(path, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[part]
	}
	return value
}

// text returns a value as JSON, shortened.
func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	if len(data) > 800 {
		return string(data[:800]) + "..."
	}
	return string(data)
}
